/*
 * stageprof-report [VIEW] [OPTIONS] RUN...
 *
 * Data on stdout, everything else on stderr. Exit status: enum sp_exit.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/complaint.h"
#include "analyzer/explain.h"
#include "analyzer/export_run.h"
#include "analyzer/follow.h"
#include "analyzer/language.h"
#include "analyzer/options.h"
#include "analyzer/output_file.h"
#include "analyzer/progress.h"
#include "analyzer/report.h"
#include "analyzer/text.h"
#include "analyzer/translate.h"
#include "analyzer/trouble.h"

#define NAMES_MAX 100000u
#define COMPLAINTS_MAX 10u

static void say(const char *line)
{
	fprintf(stderr, "stageprof-report: %s\n", line);
}

/* value, why: may be NULL, see sp_report_trouble_line(). */
static void say_trouble(enum sp_report_trouble trouble, const char *value, const char *why)
{
	char line[4096];

	sp_report_trouble_line(line, sizeof(line), trouble, value, why);
	say(line);
}

static void say_damage(const char *line)
{
	fprintf(stderr, "stageprof-report: %s [%s]\n", line, sp_report_trouble(SP_REPORT_TROUBLE_damaged)->code);
}

static void add_inputs(struct sp_report *report, char **paths, uint32_t count)
{
	for (; count; paths++, count--) {
		uint32_t before = report->index.file_count;
		int r = sp_index_add(&report->index, *paths);

		if (r < 0)
			say_trouble(SP_REPORT_TROUBLE_unreadable, *paths, sp_translate_errno(-r));
		else if (report->index.file_count == before)
			say_trouble(SP_REPORT_TROUBLE_no_trace, *paths, NULL);
	}
}

/* A report of nothing needs a reason, or it reads as if nothing had been done. */
static void explain_no_events(const struct sp_report *report, const char *path)
{
	const struct sp_selection *s = &report->selection;

	if (report->events || !sp_report_has_trace(report))
		return;
	if (s->pid || s->tid || s->from_ns != INT64_MIN || s->to_ns != INT64_MAX)
		say_trouble(SP_REPORT_TROUBLE_unselected, path, NULL);
	else if (report->lost || report->missing || report->holes)
		say_trouble(SP_REPORT_TROUBLE_all_lost, path, NULL);
	else
		say_trouble(SP_REPORT_TROUBLE_no_events, path, NULL);
}

/* Where data goes is settled before hours of reading. */
static int open_output(struct sp_output_file *file, const struct sp_options *options)
{
	int r = sp_output_file_open(file, options->output, options->force);

	if (r == -EEXIST)
		say_trouble(SP_REPORT_TROUBLE_exists, options->output, NULL);
	else if (r < 0)
		say_trouble(SP_REPORT_TROUBLE_unwritable, options->output, sp_translate_errno(-r));
	return r;
}

static int show_view(const struct sp_report *report, const struct sp_options *options, FILE *file)
{
	struct sp_out out = {
		.file = file,
		.format = options->format,
		.width = options->width,
		.width_is_asked = options->width_is_asked,
		.color = options->color,
		.table_asked = options->table,
	};
	int r;

	sp_out_begin(&out);
	r = options->explains ? sp_explain(&out, options->explained)
			      : options->view->show(report, &out, &options->rows);
	sp_out_end(&out); /* the file knows what it did not take */
	if (r == -EINVAL && options->explains) {
		say_trouble(SP_REPORT_TROUBLE_unknown_code, options->explained, NULL);
		return 2;
	}
	if (r == -EINVAL) {
		say_trouble(SP_REPORT_TROUBLE_unsortable, options->rows.sort, NULL);
		return 2;
	}
	if (r == 0 && options->table && !out.has_table) {
		say_trouble(SP_REPORT_TROUBLE_unknown_table, options->table, NULL);
		return 2;
	}
	if (r < 0)
		say_trouble(SP_REPORT_TROUBLE_resources, NULL, sp_translate_errno(-r));
	if (r == SP_EXIT_FAILED)
		say_trouble(SP_REPORT_TROUBLE_undecided, "--fail-if-slower", NULL);
	return r < 0 ? SP_EXIT_FAILED : r;
}

static int show(struct sp_report *report, const struct sp_options *options,
		const struct sp_output_file *file)
{
	bool was_paused;
	int r;

	if (!options->exporter)
		return show_view(report, options, file->file);
	was_paused = sp_translate_pause(true);
	r = sp_export_run(report, options, file);
	sp_translate_pause(was_paused);
	if (r == 0 || ferror(file->file))
		return 0; /* likewise */
	say_trouble(SP_REPORT_TROUBLE_unwritable, options->output ? options->output : "stdout",
		    sp_translate_errno(-r));
	return 1;
}

static void say_next(const struct sp_options *options)
{
	char line[SP_NEXT_BYTES];

	if (!options->exporter || options->quiet || !options->output ||
	    strcmp(options->output, "-") == 0)
		return;
	sp_export_next(line, options->exporter, options->output);
	say(line);
}

static int write_output(struct sp_report *report, const struct sp_options *options,
			struct sp_output_file *file)
{
	int status = show(report, options, file);
	int r;

	if (status != 0 && file->part_path)
		return status;
	r = sp_output_file_keep(file);
	if (r == -EEXIST)
		say_trouble(SP_REPORT_TROUBLE_came_meanwhile, options->output, NULL);
	else if (r < 0 && options->output)
		say_trouble(SP_REPORT_TROUBLE_incomplete, options->output, NULL);
	else if (r < 0)
		say_trouble(SP_REPORT_TROUBLE_cut_off, "stdout", NULL);
	else if (status == 0)
		say_next(options);
	return r < 0 ? 1 : status;
}

static uint32_t paths_count(const struct sp_options *options)
{
	uint32_t n = 0;

	while (options->paths[n])
		n++;
	return n;
}

/* A page is made of so many readings of a run that trains; of another one it is done before the bar is. */
#define PAGE_READINGS 7u

static void begin_progress(struct sp_report *report)
{
	uint64_t slots = 0;

	for (uint32_t i = 0; i < report->index.stream_count; i++)
		slots += report->index.streams[i]->limit;
	sp_progress_begin(report->index.progress, stderr, PAGE_READINGS * slots);
}

static int read_report(struct sp_report *report, const struct sp_options *options, char **paths,
		       uint32_t count, bool complains)
{
	int r;

	add_inputs(report, paths, count);
	r = sp_report_scan(report);
	if (r == 0 && report->index.progress)
		begin_progress(report);
	if (r == 0)
		r = sp_report_fold(report);
	if (r == 0 && (complains || !sp_report_has_trace(report)))
		r = sp_complaints(report, options->verbose ? UINT32_MAX : COMPLAINTS_MAX, say_damage);
	if (r < 0) {
		say_trouble(SP_REPORT_TROUBLE_resources, count ? paths[0] : NULL, sp_translate_errno(-r));
		return 1;
	}
	if (count && complains)
		explain_no_events(report, paths[0]);
	return sp_report_has_trace(report) ? 0 : 1;
}

static int run(struct sp_report *reports, uint32_t count, const struct sp_options *options)
{
	struct sp_output_file file;
	struct sp_progress progress;
	int status = 0;

	if (open_output(&file, options) < 0)
		return 1;
	sp_progress_begin(&progress, NULL, 0);
	if ((options->needs & SP_IS_DOCUMENT) && !options->quiet && isatty(STDERR_FILENO))
		reports[0].index.progress = &progress;
	for (uint32_t i = 0; status == 0 && !options->explains && i < count; i++)
		status = read_report(&reports[i], options, options->paths + i,
				     count > 1 ? 1 : paths_count(options), true);
	if (status == 0)
		status = write_output(&reports[0], options, &file);
	sp_progress_end(&progress);
	sp_output_file_drop(&file);
	return status;
}

static enum sp_range_choice choose_ranges(unsigned needs)
{
	if (needs & SP_NEEDS_RANGES)
		return SP_RANGES_ALL;
	if (needs & SP_NEEDS_MODULES)
		return SP_RANGES_MODULES;
	return needs & SP_NEEDS_OPS ? SP_RANGES_OPS : SP_RANGES_NONE;
}

static struct sp_report report_asked(const struct sp_options *options)
{
	unsigned needs = options->needs;
	struct sp_report report = {
		.names_max = NAMES_MAX,
		.selection = options->selection,
		.jobs = options->jobs,
		.naming = needs & SP_NEEDS_NAMES ? SP_NAMING_PATH : SP_NAMING_NONE,
		.step_selection = options->steps,
		.wait_thresholds = options->wait_thresholds,
		.asks_workers = options->asks_workers,
		.workers_asked = options->workers_asked,
		.wants_steps = (needs & SP_NEEDS_STEPS) != 0,
		.wants_workers = (needs & SP_NEEDS_WORKERS) != 0,
		.wants_ranks = (needs & SP_NEEDS_RANKS) != 0,
		.wants_ranges = choose_ranges(needs),
		.wants_files = (needs & SP_NEEDS_FILES) != 0,
	};

	if (report.wants_files)
		report.naming = options->by;
	return report;
}

static int refresh(void *context, FILE *to, bool is_last, struct sp_follow_state *ret)
{
	const struct sp_options *options = context;
	struct sp_report report = report_asked(options);
	int status = read_report(&report, options, options->paths, paths_count(options), is_last);

	if (status == 0) {
		*ret = sp_follow_state_of(&report);
		status = show_view(&report, options, to);
	}
	sp_report_finish(&report);
	return status == 0 && ferror(to) ? SP_EXIT_FAILED : status;
}

static int follow(struct sp_options *options)
{
	struct sp_follow f = {
		.file = stdout,
		.interval_ns = options->interval_ns,
		.in_place = options->format == SP_FORMAT_TABLE && isatty(STDOUT_FILENO),
		.has_gaps = options->format == SP_FORMAT_TABLE,
		.refresh = refresh,
		.context = options,
	};

	return sp_follow_run(&f);
}

static void use_language(const struct sp_options *options)
{
	struct sp_language_choice choice =
		sp_language_choose(options->asks_language ? &options->language : NULL);
	char name[64], line[512];

	sp_translate_into(choice.language);
	if (choice.unknown) {
		sp_text_escape(name, sizeof(name), choice.unknown, strlen(choice.unknown));
		snprintf(line, sizeof(line), _("STAGEPROF_LANG: there is no language %s, only %s"), name,
			 sp_language_names());
		say(line);
	}
	if (choice.locale) {
		sp_text_escape(name, sizeof(name), choice.locale, strlen(choice.locale));
		snprintf(line, sizeof(line), "in English, for the characters of the locale %s are not UTF-8",
			 name);
		say(line);
	}
}

int main(int argc, char **argv)
{
	struct sp_options options;
	static struct sp_report reports[SP_RUNS_MAX]; /* too large for a stack: a histogram for each stage */
	uint32_t count = 1;
	int status;

	sp_options_parse(&options, argc, argv);
	use_language(&options);
	if (options.follows) {
		status = follow(&options);
		free(options.paths);
		return status;
	}
	if (options.needs & SP_NEEDS_RUNS)
		count = paths_count(&options);
	for (uint32_t i = 0; i < count; i++)
		reports[i] = report_asked(&options);
	options.rows.runs = reports;
	options.rows.run_names = (const char *const *)options.paths;
	options.rows.run_count = count;
	status = run(reports, count, &options);
	for (uint32_t i = 0; i < count; i++)
		sp_report_finish(&reports[i]);
	free(options.paths);
	return status;
}
