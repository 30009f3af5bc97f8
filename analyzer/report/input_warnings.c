/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/report/input_warnings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/each.h"
#include "analyzer/report/tails_away.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"
#include "trace/format.h"

#define LINE_BYTES 2048u
#define CHILDREN_LOOKED_AT 4096u

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
		at = append(line, at, _(" (version %u; this program reads version %d)"), d->version,
			    SP_FORMAT_VERSION);
	if (d->places > 1)
		at = append(line, at,
			    sp_translate_plural(", and %u more place", ", and %u more places",
						d->places - 1),
			    d->places - 1);
	if (d->bytes)
		at = append(line, at, _("; %llu bytes skipped"), (unsigned long long)d->bytes);
	return at;
}

/* No byte of it is ours: it holds no frame, or has no room for the head of one. */
static bool is_foreign(const struct sp_file *file)
{
	const struct sp_file_damage *d = &file->damage;
	bool is_short = d->what == SP_DAMAGE_CUT && file->size_bytes < sizeof(struct sp_frame);

	return (d->what == SP_DAMAGE_FOREIGN || is_short) && d->bytes == file->size_bytes &&
	       !file->headers && !file->windows && !file->blocks && !file->runs &&
	       !file->call_count;
}

/* A file of which nothing can be used; NULL: it has something of a trace, or was not read. */
static const char *why_useless(const struct sp_file *file)
{
	if (file->error)
		return NULL;
	if (!file->size_bytes)
		return N_("is empty, as a copy that was cut off or a full disk leaves a file; copy "
			  "or "
			  "record it again");
	return is_foreign(file) ? N_("is no trace of stageprof; give the run's directory, such as "
				     "run.zst")
				: NULL;
}

static int say_error(char *line, int at, const struct sp_file *file)
{
	at = append(line, at, "%s",
		    file->error == -EINVAL ? _("not a regular file")
					   : sp_translate_errno(-file->error));
	if (file->error == -ENOENT)
		at = append(line, at, "%s",
			    _("; `stageprof doctor -- COMMAND` shows why a command leaves no run"));
	return at;
}

static int say_repeated(char *line, int at, const struct sp_file *file)
{
	return append(line, at,
		      sp_translate_plural("%u thread of it is in another input, too, and counts "
					  "once",
					  "%u threads of it are in another input, too, and count "
					  "once",
					  file->repeated),
		      file->repeated);
}

/* Returns `at` where no slot is torn or missing. */
static int say_lacks(char *line, int at, const struct sp_file *file, const struct saved *saved)
{
	if (saved->torn && !file->error)
		return append(line, at,
			      sp_translate_plural("%llu slot cut off by a kill, or damaged",
						  "%llu slots cut off by a kill, or damaged",
						  saved->torn),
			      (unsigned long long)saved->torn);
	return saved->missing ? append(line, at, "%s", _("parts are missing")) : at;
}

static void say_saved(char *line, int at, const struct saved *saved)
{
	at = append(line, at,
		    sp_translate_plural("; %llu event saved", "; %llu events saved", saved->events),
		    (unsigned long long)saved->events);
	if (saved->missing)
		append(line, at,
		       sp_translate_plural(", %llu slot missing", ", %llu slots missing",
					   saved->missing),
		       (unsigned long long)saved->missing);
}

/* Returns false where nothing is wrong with the file. */
static bool make_line(char *line, const struct sp_file *file, const struct saved *saved)
{
	const char *useless = why_useless(file);
	bool is_damaged = file->damage.places || file->truncated;
	int at, end;

	sp_text_escape(line, LINE_BYTES / 2, file->path, strlen(file->path));
	at = append(line, (int)strlen(line), "%s", _(": "));
	if (file->error) {
		at = say_error(line, at, file);
		if (!saved->streams)
			return true;
		at = append(line, at, "%s", _("; "));
	}
	if (useless) {
		append(line, at, "%s", _(useless));
		return true;
	}
	if (!is_damaged && file->repeated && !file->error)
		return say_repeated(line, at, file) > 0;
	end = is_damaged ? say_damage(line, at, file) : say_lacks(line, at, file, saved);
	if (end == at && !file->error)
		return false;
	say_saved(line, end, saved);
	return true;
}

static void say_tails_away(const struct sp_report *report, void (*say)(const char *line))
{
	uint32_t n = report->totals.tails_away;
	char line[LINE_BYTES], host[LINE_BYTES / 2];

	if (!n)
		return;
	sp_tails_away_host(report, host, sizeof(host));
	if (sp_tails_were_here(report))
		snprintf(line, sizeof(line),
			 sp_translate_plural("the last events of %u thread are neither in its file "
					     "nor in this "
					     "machine's memory: the file was cut, or the machine "
					     "restarted since",
					     "the last events of %u threads are neither in their "
					     "files nor in "
					     "this machine's memory: the files were cut, or the "
					     "machine "
					     "restarted since",
					     n),
			 n);
	else
		snprintf(line, sizeof(line),
			 sp_translate_plural("the last events of %u thread are not here, and "
					     "threads "
					     "without a file are missing; a report on %s brings "
					     "them into "
					     "the run, while the memory there has them",
					     "the last events of %u threads are not here, and "
					     "threads "
					     "without a file are missing; a report on %s brings "
					     "them into "
					     "the run, while the memory there has them",
					     n),
			 n, *host ? host : _("several hosts"));
	say(line);
}

/* By its start: the pid of a parent that ended is not known to the child. */
static bool has_main_thread(const struct sp_index *index, uint64_t start_ns)
{
	for (uint32_t i = 0; i < index->stream_count; i++) {
		const struct sp_stream *s = index->streams[i];
		const struct sp_process_image *image = &index->images[s->image];

		if (s->tid == image->pid && image->start_ns == start_ns)
			return true;
	}
	return false;
}

/* A copy of a run may lack files. A main thread without a call of its own has none either. */
static void say_missing_parents(const struct sp_report *report, void (*say)(const char *line))
{
	const struct sp_index *index = &report->run.index;
	uint32_t children = 0;
	char line[LINE_BYTES];

	for (uint32_t i = 0; i < index->image_count && i < CHILDREN_LOOKED_AT; i++) {
		uint64_t parent_ns = index->images[i].parent_start_ns;

		children += parent_ns && !has_main_thread(index, parent_ns);
	}
	if (!children)
		return;
	snprintf(line, sizeof(line),
		 sp_translate_plural("the main thread that forked %u process of the run is not "
				     "here: it made no call that is recorded, or its file is "
				     "missing",
				     "main threads that forked %u processes of the run are not "
				     "here: they made no call that is recorded, or files are "
				     "missing",
				     children),
		 children);
	say(line);
}

static bool has_ranks(const struct sp_report *report)
{
	const struct sp_index *index = &report->run.index;

	return SP_ANY(i, index->image_count, index->images[i].rank || index->images[i].world_size);
}

/* Nodes of a job have a run each, and their processes have ranks. */
static void say_many_runs(const struct sp_report *report, void (*say)(const char *line))
{
	const struct sp_index *index = &report->run.index;
	char line[LINE_BYTES];
	uint32_t runs = 0;

	for (uint32_t i = 0; i < index->file_count; i++)
		runs += index->files[i].runs != 0;
	if (runs < 2 || report->training.count < 2 || has_ranks(report))
		return;
	snprintf(line, sizeof(line),
		 _("%u runs without ranks are added up as one job; `stageprof-report compare RUN "
		   "RUN` compares them"),
		 runs);
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
	say_missing_parents(report, say);
	say_many_runs(report, say);
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
