/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/report/input_warnings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/tails_away.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"

#define LINE_BYTES 2048u

/* Counted for the file in which a stream begins. */
struct saved {
	uint64_t events, missing, torn;
	uint32_t streams;
};

static struct saved *count_saved(const struct sp_report *report)
{
	struct saved *saved = calloc(report->run.index.file_count + 1u, sizeof(*saved));

	for (uint32_t i = 0; saved && i < report->run.index.stream_count; i++) {
		const struct sp_stream *s = report->run.index.streams[i];
		struct saved *of_file = &saved[s->segments->file];

		of_file->streams++;
		of_file->events += report->totals.streams[i].events;
		of_file->missing += report->totals.streams[i].missing;
		of_file->torn += report->totals.streams[i].holes + s->unfinished;
	}
	return saved;
}

static int append(char *line, int at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int append(char *line, int at, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line + at, (size_t)(LINE_BYTES - (unsigned)at), format, args);
	va_end(args);
	return at + n < (int)LINE_BYTES ? at + n : (int)LINE_BYTES - 1;
}

static int say_damage(char *line, int at, const struct sp_file *file)
{
	const struct sp_file_damage *d = &file->damage;

	if (d->places == 0 && file->truncated)
		return append(line, at, _("ends early, at offset %llu"),
			      (unsigned long long)file->size_bytes);
	at = append(line, at, _("%s at offset %llu"), sp_damage_text(d->what),
		    (unsigned long long)d->at);
	if (d->what == SP_DAMAGE_VERSION && !file->is_digest)
		at = append(line, at, _(" (version %u; this program reads versions %d to %d)"),
			    d->version, SP_FORMAT_VERSION_READ, SP_FORMAT_VERSION);
	if (d->places > 1)
		at = append(line, at,
			    sp_translate_plural(", and %u more place", ", and %u more places",
						d->places - 1),
			    d->places - 1);
	if (d->bytes)
		at = append(line, at, _("; %llu bytes skipped"), (unsigned long long)d->bytes);
	return at;
}

/* No byte of it is ours. */
static bool is_foreign(const struct sp_file *file)
{
	return file->damage.what == SP_DAMAGE_FOREIGN && file->damage.bytes == file->size_bytes &&
	       !file->headers && !file->windows && !file->blocks && !file->runs &&
	       !file->call_count;
}

static bool make_line(char *line, const struct sp_file *file, const struct saved *saved)
{
	int at;

	sp_text_escape(line, LINE_BYTES / 2, file->path, strlen(file->path));
	at = append(line, (int)strlen(line), "%s", _(": "));
	if (file->error) {
		at = append(line, at, "%s",
			    file->error == -EINVAL ? _("not a regular file")
						   : sp_translate_errno(-file->error));
		if (file->error == -ENOENT)
			append(line, at, "%s",
			       _("; `stageprof doctor -- COMMAND` shows why a command leaves no "
				 "run"));
		if (!saved->streams)
			return true;
		at = append(line, at, "%s", _("; "));
	}
	if (file->size_bytes == 0 && !file->error) {
		append(line, at, "%s", _("is empty"));
		return true;
	}
	if (is_foreign(file)) {
		append(line, at, "%s",
		       _("is no trace of stageprof; give the run's directory, such as run.zst"));
		return true;
	}
	if (file->damage.places || file->truncated)
		at = say_damage(line, at, file);
	else if (file->repeated && !file->error)
		return append(line, at,
			      sp_translate_plural("%u thread of it is in another input, too, and "
						  "counts once",
						  "%u threads of it are in another input, too, and "
						  "count once",
						  file->repeated),
			      file->repeated) > 0;
	else if (saved->torn && !file->error)
		at = append(line, at, _("%llu slots cut off by a kill, or damaged"),
			    (unsigned long long)saved->torn);
	else if (saved->missing)
		at = append(line, at, "%s", _("parts are missing"));
	else if (!file->error)
		return false;
	at = append(line, at, _("; %llu events saved"), (unsigned long long)saved->events);
	if (saved->missing)
		append(line, at, _(", %llu slots missing"), (unsigned long long)saved->missing);
	return true;
}

static void say_tails_away(const struct sp_report *report, void (*say)(const char *line))
{
	char line[LINE_BYTES], host[LINE_BYTES / 2];

	if (!report->totals.tails_away)
		return;
	sp_tails_away_host(report, host, sizeof(host));
	snprintf(line, sizeof(line),
		 sp_translate_plural("the last events of %u thread are not here, and threads "
				     "without a file are missing; a report on %s brings them into "
				     "the run, while the memory there has them",
				     "the last events of %u threads are not here, and threads "
				     "without a file are missing; a report on %s brings them into "
				     "the run, while the memory there has them",
				     report->totals.tails_away),
		 report->totals.tails_away, *host ? host : _("several hosts"));
	say(line);
}

int sp_input_warnings(const struct sp_report *report, unsigned most, void (*say)(const char *line))
{
	struct saved *saved = count_saved(report);
	char line[LINE_BYTES];
	unsigned said = 0, more = 0;

	if (!saved)
		return -ENOMEM;
	for (uint32_t i = 0; i < report->run.index.file_count; i++) {
		if (!make_line(line, &report->run.index.files[i], &saved[i]))
			continue;
		if (said++ < most)
			say(line);
		else
			more++;
	}
	if (sp_metadata_refused(&report->run.metadata)) {
		snprintf(line, sizeof(line),
			 _("%llu names found no room in the report: others stands for them"),
			 (unsigned long long)sp_metadata_refused(&report->run.metadata));
		say(line);
	}
	say_tails_away(report, say);
	if (more) {
		snprintf(line, sizeof(line),
			 sp_translate_plural("%u more file is damaged or incomplete",
					     "%u more files are damaged or incomplete", more),
			 more);
		say(line);
	}
	free(saved);
	return 0;
}
