/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cli/digest_runs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/cli/report_output.h"
#include "analyzer/cli/asked_report.h"
#include "analyzer/cli/say.h"
#include "analyzer/hang/hang.h"
#include "analyzer/report/digest_make.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"

/* Damage of a digest that is merged; the text is that of any other input. */
static void say_digest_damage(const char *path, const struct sp_file *file)
{
	char name[2048], line[4096];

	if (!file->damage.places)
		return;
	sp_text_escape(name, sizeof(name), path, strlen(path));
	snprintf(line, sizeof(line), _("%s: %s at offset %llu; %llu bytes skipped"), name,
		 sp_damage_text(file->damage.what), (unsigned long long)file->damage.at,
		 (unsigned long long)file->damage.bytes);
	sp_say_damage(line);
}

/* One RUN at a time is in memory. */
static int digest_one(struct sp_digest_set *set, const struct sp_options *options, char **path)
{
	static struct sp_report report; /* too large for a stack */
	struct sp_file file;
	int r = sp_digest_set_add_file(set, *path, &file), status = 0;

	if (r == 1)
		say_digest_damage(*path, &file);
	if (r == 0) {
		report = sp_asked_report(options);
		report.is_for_digest = true;
		status = sp_asked_report_read(&report, options, path, 1, true);
		if (status == 0)
			r = sp_digest_set_add(set, &report);
		sp_report_finish(&report);
	}
	if (r < 0)
		sp_say_error(SP_REPORT_ERROR_resources, *path, sp_translate_errno(-r));
	return r < 0 ? SP_EXIT_FAILED : status;
}

int sp_digest_runs(const struct sp_options *options)
{
	struct sp_digest_set set = {.write_tail = sp_hang_tail_write};
	struct sp_output_file file;
	int status = 0, r;
	char line[128];

	if (sp_report_output_open(&file, options) < 0)
		return SP_EXIT_FAILED;
	for (char **path = options->paths; *path; path++)
		status |= digest_one(&set, options, path);
	r = set.count ? sp_digest_set_write(&set, file.file) : -ENODATA;
	if (r == 0 && set.repeated && !options->quiet) {
		snprintf(line, sizeof(line),
			 _("%u processes are in several inputs; the one that goes furthest is "
			   "kept"),
			 set.repeated);
		sp_say(line);
	}
	sp_digest_set_finish(&set);
	if (r == 0 || ferror(file.file)) /* keep names the failed write */
		status |= sp_report_output_keep(options, &file);
	sp_output_file_drop(&file);
	return r < 0 ? SP_EXIT_FAILED : status;
}
