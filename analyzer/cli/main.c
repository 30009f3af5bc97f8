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

#include "analyzer/cli/command_line.h"
#include "analyzer/cli/digest_runs.h"
#include "analyzer/cli/explain.h"
#include "analyzer/cli/export_run.h"
#include "analyzer/cli/follow.h"
#include "analyzer/text/language.h"
#include "analyzer/cli/report_output.h"
#include "analyzer/cli/asked_report.h"
#include "analyzer/cli/say.h"
#include "analyzer/print/output_file.h"
#include "analyzer/base/progress.h"
#include "analyzer/report/report.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"
#include "analyzer/text/error.h"

/* The short summary of the run that `explain CODE RUN` names
 * follows the explanation, for people. */
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
	sp_say_error(SP_REPORT_ERROR_unknown_code, code, is_like ? why : NULL);
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
	r = options->explains ? sp_explain(&out, options->explained,
					   explains_run(options) ? report : NULL, options->verbose)
			      : 0;
	if (r == 0 && explains_run(options))
		sp_out_line(&out, " ");
	if (r == 0 && (!options->explains || explains_run(options)))
		r = options->view->show(report, &out, &rows);
	sp_out_end(&out); /* the file has the error of the failed write */
	if (r == -EINVAL && options->explains) {
		print_unknown_code(options->explained);
		return SP_EXIT_USAGE;
	}
	if (r == -EINVAL) {
		snprintf(why, sizeof(why), _("this view is sorted by one of: %s"), titles);
		sp_say_error(SP_REPORT_ERROR_unsortable, options->rows.sort, *titles ? why : NULL);
		return SP_EXIT_USAGE;
	}
	if (r == 0 && options->table && !out.has_table) {
		sp_say_error(SP_REPORT_ERROR_unknown_table, options->table, NULL);
		return SP_EXIT_USAGE;
	}
	if (r < 0)
		sp_say_error(SP_REPORT_ERROR_resources, NULL, sp_translate_errno(-r));
	if (r == SP_EXIT_FAILED)
		sp_say_error(SP_REPORT_ERROR_undecided, "--fail-if-slower", NULL);
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
	sp_say_error(SP_REPORT_ERROR_unwritable, options->output ? options->output : "stdout",
		     sp_translate_errno(-r));
	return SP_EXIT_FAILED;
}

static void say_next(const struct sp_options *options, const struct sp_report *report)
{
	char line[SP_NEXT_BYTES];

	if ((options->needs & SP_NEEDS_FILES) && !(report->needs & SP_NEEDS_FILES) &&
	    !options->quiet)
		sp_say(_("files are left out: they need events, and a digest has none"));

	if (!options->exporter || options->quiet || !options->output ||
	    strcmp(options->output, "-") == 0)
		return;
	sp_export_next(line, options->exporter, options->output);
	sp_say(line);
}

static int write_output(struct sp_report *report, const struct sp_options *options,
			struct sp_output_file *file)
{
	int status = show(report, options, file);
	int kept;

	if (status != 0 && file->part_path)
		return status;
	kept = sp_report_output_keep(options, file);
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

/* A folder of runs is no run, and of several runs each has to be there. */
static bool refuse_paths(char **paths)
{
	bool is_one_of_several = paths[0] && paths[1];
	char runs[SP_RUN_LIST_BYTES], why[SP_RUN_LIST_BYTES + 64];

	for (; *paths; paths++) {
		if (is_one_of_several && access(*paths, F_OK) < 0) {
			sp_say_error(SP_REPORT_ERROR_unreadable, *paths, sp_translate_errno(errno));
			return true;
		}
		if (sp_runs_in(*paths, runs)) {
			snprintf(why, sizeof(why), _("holds runs: %s"), runs);
			sp_say_error(SP_REPORT_ERROR_folder, *paths, why);
			return true;
		}
	}
	return false;
}

/* The short summary does without an earlier run that cannot be read. Returns an exit status. */
static int read_earlier(struct sp_report *report, const struct sp_options *options)
{
	char *path = (char *)options->against;

	*report = sp_asked_report(options);
	return sp_asked_report_read(report, options, &path, 1, false);
}

static int run(struct sp_report *reports, uint32_t count, const struct sp_options *options)
{
	struct sp_output_file file;
	struct sp_progress progress;
	bool has_verdict = options->needs & SP_HAS_VERDICT;
	int status = 0, earlier = 0;

	if (sp_report_output_open(&file, options) < 0)
		return SP_EXIT_FAILED;
	sp_progress_begin(&progress, NULL, 0);
	if ((options->needs & SP_IS_DOCUMENT) && !options->quiet && isatty(STDERR_FILENO))
		reports[0].run.index.progress = &progress;
	for (uint32_t i = 0;
	     status == 0 && i < count && (!options->explains || explains_run(options)); i++)
		status = sp_asked_report_read(&reports[i], options, options->paths + i,
					      count > 1 ? 1 : paths_count(options), true);
	if (status == 0 && options->against)
		earlier = read_earlier(&reports[1], options);
	if (status == 0)
		status = write_output(&reports[0], options, &file);
	if (status == 0 && !options->explains && sp_asked_report_is_empty(&reports[0], has_verdict))
		status = SP_EXIT_FAILED;
	sp_progress_end(&progress);
	sp_output_file_drop(&file);
	return status ? status : earlier;
}

static int refresh(void *context, FILE *to, bool is_last, struct sp_follow_state *ret)
{
	const struct sp_options *options = context;
	struct sp_report report = sp_asked_report(options);
	int status = sp_asked_report_read(&report, options, options->paths, paths_count(options),
					  is_last);

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
	sp_text_units_in_ascii(choice.is_ascii && options->format == SP_FORMAT_TABLE);
	if (choice.unknown) {
		sp_text_escape(name, sizeof(name), choice.unknown, strlen(choice.unknown));
		snprintf(line, sizeof(line), _("STAGEPROF_LANG: unknown language %s; known: %s"),
			 name, sp_language_names());
		sp_say(line);
	}
	if (choice.locale) {
		sp_text_escape(name, sizeof(name), choice.locale, strlen(choice.locale));
		snprintf(line, sizeof(line),
			 "in English, because the characters of the locale %s are not UTF-8", name);
		sp_say(line);
	}
}

static void say_newest(const char *run)
{
	char name[SP_RUN_NAME_BYTES], line[2 * SP_RUN_NAME_BYTES];

	sp_text_escape(name, sizeof(name), run, strlen(run));
	snprintf(line, sizeof(line), _("reading %s, the newest run here"), name);
	sp_say(line);
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
		status = sp_digest_runs(&options);
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
		reports[i] = sp_asked_report(&options);
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
