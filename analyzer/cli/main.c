/* SPDX-License-Identifier: Apache-2.0 */
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

#include "analyzer/reader/index_read.h"
#include "analyzer/report/digest_make.h"
#include "analyzer/report/input_warnings.h"
#include "analyzer/cli/explain.h"
#include "analyzer/cli/export_run.h"
#include "analyzer/cli/follow.h"
#include "analyzer/text/language.h"
#include "analyzer/cli/options.h"
#include "analyzer/print/output_file.h"
#include "analyzer/base/progress.h"
#include "analyzer/report/report.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"
#include "analyzer/text/version.h"
#include "trace/format.h"
#include "analyzer/text/error.h"
#include "analyzer/training/training_account.h"

#define NAMES_MAX 100000u
#define COMPLAINTS_MAX 10u

static void say(const char *line)
{
	fprintf(stderr, "stageprof-report: %s\n", line);
}

/* value, why: may be NULL, see sp_report_error_line(). */
static void print_error(enum sp_report_error error, const char *value, const char *why)
{
	char line[4096];

	sp_report_error_line(line, sizeof(line), error, value, why);
	say(line);
}

static void say_damage(const char *line)
{
	fprintf(stderr, "stageprof-report: %s [%s]\n", line,
		sp_report_error(SP_REPORT_ERROR_damaged)->code);
}

static void add_inputs(struct sp_report *report, char **paths, uint32_t count)
{
	for (; count; paths++, count--) {
		uint32_t before = report->run.index.file_count;
		int r = sp_index_add(&report->run.index, *paths);

		if (r < 0)
			print_error(SP_REPORT_ERROR_unreadable, *paths, sp_translate_errno(-r));
		else if (report->run.index.file_count == before)
			print_error(SP_REPORT_ERROR_no_trace, *paths, NULL);
	}
}

/* True where steps were asked for, or a verdict on a part of the run, and the run has steps, but
 * not those. */
static bool is_without_steps(const struct sp_report *report, bool has_verdict)
{
	bool any = false;

	if (sp_step_selection_is_all(&report->training.selection) &&
	    !(has_verdict && sp_run_is_cut(&report->run)))
		return false;
	for (uint32_t t = 0; t < report->training.count; t++) {
		const struct sp_trainer *trainer = &report->training.trainers[t];

		if (!trainer->steps.steps) /* a selection of ranks gave them up */
			return false;
		any |= trainer->steps.count != 0;
		for (uint32_t i = 0; i < trainer->steps.count; i++)
			if (sp_step_is_selected(&report->training, trainer, i))
				return false;
	}
	return any;
}

static bool is_empty_selection(const struct sp_report *report, bool has_verdict)
{
	const struct sp_selection *s = &report->run.selection;

	return is_without_steps(report, has_verdict) ||
	       (!report->totals.events && (s->pid || s->tid || sp_run_is_cut(&report->run)));
}

/* A line has said which file, and why. */
static bool has_unreadable(const struct sp_index *index, bool is_damage_counted)
{
	for (uint32_t i = 0; i < index->file_count; i++)
		if (index->files[i].error || (is_damage_counted && index->files[i].damage.places))
			return true;
	return false;
}

/* An empty report needs a reason, or the user would think that the program did nothing. */
static void explain_no_events(const struct sp_report *report, const char *path, bool has_verdict)
{
	const struct sp_selection *s = &report->run.selection;

	if (is_without_steps(report, has_verdict) && report->totals.events)
		print_error(SP_REPORT_ERROR_unselected, path, NULL);
	if (report->totals.events || !sp_run_has_trace(&report->run))
		return;
	if (s->pid || s->tid || sp_run_is_cut(&report->run))
		print_error(SP_REPORT_ERROR_unselected, path, NULL);
	else if (report->totals.lost || report->totals.missing || report->totals.holes)
		print_error(SP_REPORT_ERROR_all_lost, path, NULL);
	else if (!has_unreadable(&report->run.index, true))
		print_error(SP_REPORT_ERROR_no_events, path, NULL);
}

/* A report of an old program on a new trace may lack something, and says so once. */
static void explain_newer(const struct sp_index *index)
{
	const struct sp_file *file = sp_index_newest_writer(index);
	char version[16], why[256];

	if (file && file->newest_writer > sp_version_number()) {
		sp_version_of_number(version, file->newest_writer);
		snprintf(why, sizeof(why), _("stageprof %s wrote it, and this program is %s"),
			 version, sp_version_text());
	} else {
		file = sp_index_newest_format(index);
		if (!file)
			return;
		snprintf(why, sizeof(why),
			 _("it has format %u, and this program reads formats %d to %d"),
			 file->damage.version, SP_FORMAT_VERSION_READ, SP_FORMAT_VERSION);
	}
	print_error(SP_REPORT_ERROR_newer, file->path, why);
}

/* The output file is opened before hours of reading. */
static int open_output(struct sp_output_file *file, const struct sp_options *options)
{
	bool is_folder = options->needs & SP_IS_FOLDER;
	int r = is_folder ? sp_output_folder_open(file, options->output)
			  : sp_output_file_open(file, options->output, options->force);

	if (r == -EEXIST && !is_folder)
		print_error(SP_REPORT_ERROR_exists, options->output, NULL);
	else if (r < 0)
		print_error(SP_REPORT_ERROR_unwritable, options->output, sp_translate_errno(-r));
	return r;
}

/* The card of the run that `explain CODE RUN` names follows the explanation, for people. */
static bool explains_run(const struct sp_options *options)
{
	return options->explains && options->paths[0] && options->format == SP_FORMAT_TABLE;
}

static void print_unknown_code(const char *code)
{
	char meant[SP_CODES_MEANT_BYTES], why[SP_CODES_MEANT_BYTES + 128];
	bool is_like = sp_explain_meant(code, meant);

	snprintf(why, sizeof(why), _("no verdict and no error has this code; most like it: %s"),
		 meant);
	print_error(SP_REPORT_ERROR_unknown_code, code, is_like ? why : NULL);
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
	char titles[SP_SORT_TITLES_BYTES] = "", why[SP_SORT_TITLES_BYTES + 128];
	struct sp_view_options rows = options->rows;
	int r;

	rows.sort_titles = titles;
	sp_out_begin(&out);
	r = options->explains
		    ? sp_explain(&out, options->explained, explains_run(options) ? report : NULL)
		    : 0;
	if (r == 0 && explains_run(options))
		sp_out_line(&out, " ");
	if (r == 0 && (!options->explains || explains_run(options)))
		r = options->view->show(report, &out, &rows);
	sp_out_end(&out); /* the file has the error of the failed write */
	if (r == -EINVAL && options->explains) {
		print_unknown_code(options->explained);
		return 2;
	}
	if (r == -EINVAL) {
		snprintf(why, sizeof(why), _("this view is sorted by one of: %s"), titles);
		print_error(SP_REPORT_ERROR_unsortable, options->rows.sort, *titles ? why : NULL);
		return 2;
	}
	if (r == 0 && options->table && !out.has_table) {
		print_error(SP_REPORT_ERROR_unknown_table, options->table, NULL);
		return 2;
	}
	if (r < 0)
		print_error(SP_REPORT_ERROR_resources, NULL, sp_translate_errno(-r));
	if (r == SP_EXIT_FAILED)
		print_error(SP_REPORT_ERROR_undecided, "--fail-if-slower", NULL);
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
		return 0; /* the file has the error of the failed write */
	print_error(SP_REPORT_ERROR_unwritable, options->output ? options->output : "stdout",
		    sp_translate_errno(-r));
	return 1;
}

static void say_next(const struct sp_options *options, const struct sp_report *report)
{
	char line[SP_NEXT_BYTES];

	if ((options->needs & SP_NEEDS_FILES) && !(report->needs & SP_NEEDS_FILES) &&
	    !options->quiet)
		say(_("files are left out: they need events, and a digest has none"));

	if (!options->exporter || options->quiet || !options->output ||
	    strcmp(options->output, "-") == 0)
		return;
	sp_export_next(line, options->exporter, options->output);
	say(line);
}

static int write_kept(const struct sp_options *options, struct sp_output_file *file)
{
	int r = sp_output_file_keep(file);

	if (r == -EEXIST)
		print_error(SP_REPORT_ERROR_came_meanwhile, options->output, NULL);
	else if (r < 0 && options->output)
		print_error(SP_REPORT_ERROR_incomplete, options->output, NULL);
	else if (r < 0)
		print_error(SP_REPORT_ERROR_cut_off, "stdout", NULL);
	return r < 0 ? 1 : 0;
}

static int write_output(struct sp_report *report, const struct sp_options *options,
			struct sp_output_file *file)
{
	int status = show(report, options, file);
	int kept;

	if (status != 0 && file->part_path)
		return status;
	kept = write_kept(options, file);
	if (kept == 0 && status == 0)
		say_next(options, report);
	return kept ? kept : status;
}
static uint32_t paths_count(const struct sp_options *options)
{
	uint32_t n = 0;

	while (options->paths[n])
		n++;
	return n;
}

/* Each pass reads most threads of a run that trains; a report of another run is done before the bar
 * is. */
static void begin_progress(struct sp_report *report)
{
	uint64_t slots = 0;

	for (uint32_t i = 0; i < report->run.index.stream_count; i++)
		slots += report->run.index.streams[i]->limit;
	sp_progress_begin(report->run.index.progress, stderr,
			  sp_report_passes(report->needs) * slots);
}

/* A folder of runs is no run, and of several runs each has to be there. */
static bool refuse_paths(char **paths)
{
	bool is_one_of_several = paths[0] && paths[1];
	char runs[SP_RUN_LIST_BYTES], why[SP_RUN_LIST_BYTES + 64];

	for (; *paths; paths++) {
		if (is_one_of_several && access(*paths, F_OK) < 0) {
			print_error(SP_REPORT_ERROR_unreadable, *paths, sp_translate_errno(errno));
			return true;
		}
		if (sp_runs_in(*paths, runs)) {
			snprintf(why, sizeof(why), _("holds runs: %s"), runs);
			print_error(SP_REPORT_ERROR_folder, *paths, why);
			return true;
		}
	}
	return false;
}

static bool needs_events(const struct sp_options *options)
{
	const struct sp_selection *s = &options->selection;

	return !(options->needs & SP_TAKES_DIGESTS) || options->by == SP_NAMING_EXTENSION ||
	       s->from_ns != INT64_MIN || s->to_ns != INT64_MAX ||
	       !sp_step_selection_is_all(&options->steps);
}

/* A file of no function would look like a run without work. */
static bool lacks_samples(const struct sp_report *report, const struct sp_options *options)
{
	return options->exporter && options->needs & SP_NEEDS_SAMPLES && !report->samples.sum_count;
}

static int read_report(struct sp_report *report, const struct sp_options *options, char **paths,
		       uint32_t count, bool warns)
{
	int r;

	add_inputs(report, paths, count);
	r = sp_report_scan(report);
	if (r == 0 && sp_index_has_digested(&report->run.index) && needs_events(options)) {
		print_error(SP_REPORT_ERROR_needs_events, count ? paths[0] : NULL, NULL);
		return SP_EXIT_FAILED;
	}
	if (sp_index_has_digested(&report->run.index))
		report->needs &=
			options->exporter ? ~(unsigned)SP_NEEDS_FILES : SP_NEEDS_OF_DIGESTS;
	if (r == 0 && report->run.index.progress)
		begin_progress(report);
	if (r == 0)
		r = sp_report_read(report);
	if (r == 0 && (warns || !sp_run_has_trace(&report->run)))
		r = sp_input_warnings(report, options->verbose ? UINT32_MAX : COMPLAINTS_MAX,
				      say_damage);
	if (r < 0) {
		print_error(SP_REPORT_ERROR_resources, count ? paths[0] : NULL,
			    sp_translate_errno(-r));
		return 1;
	}
	if (lacks_samples(report, options)) {
		print_error(SP_REPORT_ERROR_needs_samples, count ? paths[0] : NULL, NULL);
		return SP_EXIT_FAILED;
	}
	if (count && warns) {
		explain_newer(&report->run.index);
		explain_no_events(report, paths[0], options->needs & SP_HAS_VERDICT);
	}
	if (!report->run.index.stream_count && has_unreadable(&report->run.index, false))
		return SP_EXIT_FAILED;
	return sp_run_has_trace(&report->run) ? 0 : 1;
}

static struct sp_report report_asked(const struct sp_options *options)
{
	unsigned needs = options->needs;
	struct sp_report report = {
		.run.names_max = NAMES_MAX,
		.run.selection = options->selection,
		.run.jobs = options->jobs,
		.run.naming = needs & SP_NEEDS_NAMES ? SP_NAMING_PATH : SP_NAMING_NONE,
		.training.selection = options->steps,
		.wait_thresholds = options->wait_thresholds,
		.asks_workers = options->asks_workers,
		.workers_asked = options->workers_asked,
		.needs = needs & SP_NEEDS_RESULTS,
	};

	if (needs & SP_NEEDS_FILES)
		report.run.naming = options->by;
	return report;
}

/* The card does without an earlier run that cannot be read. Returns an exit status. */
static int read_earlier(struct sp_report *report, const struct sp_options *options)
{
	char *path = (char *)options->against;

	*report = report_asked(options);
	return read_report(report, options, &path, 1, false);
}

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
	say_damage(line);
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
		report = report_asked(options);
		report.is_for_digest = true;
		status = read_report(&report, options, path, 1, true);
		if (status == 0)
			r = sp_digest_set_add(set, &report);
		sp_report_finish(&report);
	}
	if (r < 0)
		print_error(SP_REPORT_ERROR_resources, *path, sp_translate_errno(-r));
	return r < 0 ? SP_EXIT_FAILED : status;
}

/* A RUN that cannot be read costs its records alone, and the status is then not 0. */
static int digest_runs(const struct sp_options *options)
{
	struct sp_digest_set set = {.list = NULL};
	struct sp_output_file file;
	int status = 0, r;
	char line[128];

	if (open_output(&file, options) < 0)
		return SP_EXIT_FAILED;
	for (char **path = options->paths; *path; path++)
		status |= digest_one(&set, options, path);
	r = set.count ? sp_digest_set_write(&set, file.file) : -ENODATA;
	if (r == 0 && set.repeated && !options->quiet) {
		snprintf(line, sizeof(line),
			 _("%u processes are in several inputs; the one that goes furthest is "
			   "kept"),
			 set.repeated);
		say(line);
	}
	sp_digest_set_finish(&set);
	if (r == 0)
		status |= write_kept(options, &file);
	sp_output_file_drop(&file);
	return r < 0 ? SP_EXIT_FAILED : status;
}

static int run(struct sp_report *reports, uint32_t count, const struct sp_options *options)
{
	struct sp_output_file file;
	struct sp_progress progress;
	bool has_verdict = options->needs & SP_HAS_VERDICT;
	int status = 0, earlier = 0;

	if (open_output(&file, options) < 0)
		return 1;
	sp_progress_begin(&progress, NULL, 0);
	if ((options->needs & SP_IS_DOCUMENT) && !options->quiet && isatty(STDERR_FILENO))
		reports[0].run.index.progress = &progress;
	for (uint32_t i = 0;
	     status == 0 && i < count && (!options->explains || explains_run(options)); i++)
		status = read_report(&reports[i], options, options->paths + i,
				     count > 1 ? 1 : paths_count(options), true);
	if (status == 0 && options->against)
		earlier = read_earlier(&reports[1], options);
	if (status == 0)
		status = write_output(&reports[0], options, &file);
	if (status == 0 && !options->explains && is_empty_selection(&reports[0], has_verdict))
		status = SP_EXIT_FAILED;
	sp_progress_end(&progress);
	sp_output_file_drop(&file);
	return status ? status : earlier;
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
		snprintf(line, sizeof(line), _("STAGEPROF_LANG: unknown language %s; known: %s"),
			 name, sp_language_names());
		say(line);
	}
	if (choice.locale) {
		sp_text_escape(name, sizeof(name), choice.locale, strlen(choice.locale));
		snprintf(line, sizeof(line),
			 "in English, because the characters of the locale %s are not UTF-8", name);
		say(line);
	}
}

static void say_newest(const char *run)
{
	char name[SP_RUN_NAME_BYTES], line[2 * SP_RUN_NAME_BYTES];

	sp_text_escape(name, sizeof(name), run, strlen(run));
	snprintf(line, sizeof(line), _("reading %s, the newest run here"), name);
	say(line);
}

int main(int argc, char **argv)
{
	struct sp_options options;
	static struct sp_report
		reports[SP_RUNS_MAX]; /* too large for a stack: a histogram for each stage */
	uint32_t count = 1;
	int status;

	sp_options_parse(&options, argc, argv);
	use_language(&options);
	if (options.newest[0] && !options.quiet)
		say_newest(options.newest);
	if (refuse_paths(options.paths)) {
		free(options.paths);
		return SP_EXIT_FAILED;
	}
	if (options.is_digest) {
		status = digest_runs(&options);
		free(options.paths);
		return status;
	}
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
	options.rows.against = options.against;
	options.rows.run_names = (const char *const *)options.paths;
	options.rows.run_count = options.against ? 2 : count;
	status = run(reports, count, &options);
	for (uint32_t i = 0; i < options.rows.run_count; i++)
		sp_report_finish(&reports[i]);
	free(options.paths);
	return status;
}
