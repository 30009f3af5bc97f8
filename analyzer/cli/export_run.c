/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cli/export_run.h"

#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/text/version.h"
#include "analyzer/text/text.h"
#include "analyzer/text/version.h"
#include "analyzer/text/translate.h"

int sp_export_run(struct sp_report *report, const struct sp_options *options,
		  const struct sp_output_file *file)
{
	struct sp_progress progress;
	struct sp_export export = {
		.report = report,
		.file = file->file,
		.path = file->part_path,
		.progress = &progress,
		.version = sp_version_text(),
	};
	int r;

	sp_progress_begin(&progress, options->quiet || !isatty(STDERR_FILENO) ? NULL : stderr,
			  report->totals.events);
	r = options->exporter->write(&export);
	sp_progress_end(&progress);
	return r;
}

/* Quotes a name as one word of a POSIX shell that is not an option. */
static void quote(char *ret, size_t ret_bytes, const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_./-+,:@%=";
	size_t used = 0;

	if (strspn(path, plain) == strlen(path)) {
		snprintf(ret, ret_bytes, "%s%s", *path == '-' ? "./" : "", path);
		return;
	}
	used += (size_t)snprintf(ret, ret_bytes, "'%s", *path == '-' ? "./" : "");
	for (; *path && used + 6 < ret_bytes; path++) {
		if (*path == '\'')
			used += (size_t)snprintf(ret + used, ret_bytes - used, "'\\''");
		else
			ret[used++] = *path;
	}
	snprintf(ret + used, ret_bytes - used, "'");
}

static uint64_t bytes_below;

static int add_bytes(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)path;
	(void)at;
	bytes_below += type == FTW_F ? (uint64_t)st->st_size : 0;
	return 0;
}

/* The size of a file, or of all files in a folder. */
static uint64_t bytes_of(const char *path)
{
	bytes_below = 0;
	return nftw(path, add_bytes, 8, FTW_PHYS) == 0 ? bytes_below : 0;
}

void sp_export_next(char ret[SP_NEXT_BYTES], const struct sp_exporter *exporter, const char *path)
{
	char quoted[SP_NEXT_BYTES / 4], name[SP_NEXT_BYTES / 3], size[SP_NUMBER_BYTES];
	const char *next = _(exporter->next), *at = strstr(next, "%s");

	quote(quoted, sizeof(quoted), path);
	sp_text_escape(name, sizeof(name), quoted, strlen(quoted));
	sp_text_bytes(size, bytes_of(path));
	snprintf(ret, SP_NEXT_BYTES, _("wrote %s (%s): %.*s%s%s"), name, size,
		 (int)(at ? at - next : (ptrdiff_t)strlen(next)), next, at ? name : "",
		 at ? at + 2 : "");
}
