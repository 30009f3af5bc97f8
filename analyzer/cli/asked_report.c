/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cli/asked_report.h"

#include <stdio.h>

#include "analyzer/base/each.h"
#include "analyzer/base/progress.h"
#include "analyzer/cli/run_beside.h"
#include "analyzer/cli/say.h"
#include "analyzer/reader/index_read.h"
#include "analyzer/report/input_warnings.h"
#include "analyzer/text/translate.h"
#include "analyzer/text/version.h"
#include "analyzer/training/training_account.h"
#include "trace/format.h"

#define NAMES_MAX 100000u
#define COMPLAINTS_MAX 10u

struct sp_report sp_asked_report(const struct sp_options *options)
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

static void add_input(struct sp_report *report, const char *path)
{
	uint32_t before = report->run.index.file_count;
	int r = sp_index_add(&report->run.index, path);

	if (r < 0)
		sp_say_error(SP_REPORT_ERROR_unreadable, path, sp_translate_errno(-r));
	else if (report->run.index.file_count == before)
		sp_say_error(SP_REPORT_ERROR_no_trace, path, NULL);
}

/* Processes of one run may have more folders than the one that is named. */
static int add_inputs(struct sp_report *report, char **paths, uint32_t count, char **all_paths,
		      struct sp_runs_beside *beside)
{
	int r = 0;

	for (; count && r == 0; paths++, count--) {
		add_input(report, *paths);
		r = sp_runs_beside_find(beside, *paths, all_paths);
	}
	for (uint32_t i = 0; i < beside->count; i++)
		if (!beside->runs[i].is_closed)
			add_input(report, beside->runs[i].path);
	return r;
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

/* True where a file cannot be read, or where that counts is damaged or empty; it was named. */
static bool has_unreadable(const struct sp_index *index, bool is_damage_counted)
{
	return SP_ANY(i, index->file_count,
		      index->files[i].error ||
			      (is_damage_counted &&
			       (index->files[i].damage.places || !index->files[i].size_bytes)));
}

bool sp_asked_report_is_empty(const struct sp_report *report, bool has_verdict)
{
	const struct sp_selection *s = &report->run.selection;

	return is_without_steps(report, has_verdict) ||
	       (!report->totals.events && (s->pid || s->tid || sp_run_is_cut(&report->run))) ||
	       (!report->run.index.stream_count && has_unreadable(&report->run.index, true));
}

/* An empty report needs a reason, or the user would think that the program did nothing. */
static void explain_no_events(const struct sp_report *report, const char *path, bool has_verdict)
{
	const struct sp_selection *s = &report->run.selection;

	if (is_without_steps(report, has_verdict) && report->totals.events)
		sp_say_error(SP_REPORT_ERROR_unselected, path, NULL);
	if (report->totals.events || !sp_run_has_trace(&report->run))
		return;
	if (s->pid || s->tid || sp_run_is_cut(&report->run))
		sp_say_error(SP_REPORT_ERROR_unselected, path, NULL);
	else if (report->totals.lost || report->totals.missing || report->totals.holes)
		sp_say_error(SP_REPORT_ERROR_all_lost, path, NULL);
	else if (!has_unreadable(&report->run.index, true) && !report->totals.tails_away)
		sp_say_error(SP_REPORT_ERROR_no_events, path, NULL);
}

/* A report on a trace of another version may lack something, and says so once. */
static void explain_version(const struct sp_index *index)
{
	const struct sp_file *file = sp_index_newest_writer(index);
	enum sp_report_error error = SP_REPORT_ERROR_newer;
	char version[16], why[256];

	if (file && file->newest_writer > sp_version_number()) {
		sp_version_of_number(version, file->newest_writer);
		snprintf(why, sizeof(why), _("stageprof %s wrote it, and this program is %s"),
			 version, sp_version_text());
	} else {
		file = sp_index_other_format(index);
		if (!file)
			return;
		if (file->damage.version < SP_FORMAT_VERSION)
			error = SP_REPORT_ERROR_older;
		snprintf(why, sizeof(why), _("it has format %u, and this program reads format %d"),
			 file->damage.version, SP_FORMAT_VERSION);
	}
	sp_say_error(error, file->path, why);
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
	return options->exporter && options->needs & SP_NEEDS_SAMPLES &&
	       !report->samples.table.count;
}

static int read_beside(struct sp_report *report, const struct sp_options *options, char **paths,
		       uint32_t count, bool warns, struct sp_runs_beside *beside)
{
	int r = add_inputs(report, paths, count, options->paths, beside);

	if (r == 0)
		r = sp_report_scan(report);
	if (r == 0 && sp_index_has_digested(&report->run.index) && needs_events(options)) {
		sp_say_error(SP_REPORT_ERROR_needs_events, count ? paths[0] : NULL, NULL);
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
				      sp_say_damage);
	if (r < 0) {
		sp_say_error(SP_REPORT_ERROR_resources, count ? paths[0] : NULL,
			     sp_translate_errno(-r));
		return 1;
	}
	if (lacks_samples(report, options)) {
		sp_say_error(SP_REPORT_ERROR_needs_samples, count ? paths[0] : NULL, NULL);
		return SP_EXIT_FAILED;
	}
	if (count && warns) {
		explain_version(&report->run.index);
		explain_no_events(report, paths[0], options->needs & SP_HAS_VERDICT);
		sp_runs_beside_say(beside, report);
	}
	if (!report->run.index.stream_count && has_unreadable(&report->run.index, false))
		return SP_EXIT_FAILED;
	return sp_run_has_trace(&report->run) ? 0 : 1;
}

int sp_asked_report_read(struct sp_report *report, const struct sp_options *options, char **paths,
			 uint32_t count, bool warns)
{
	struct sp_runs_beside beside = {.count = 0};
	int status = read_beside(report, options, paths, count, warns, &beside);

	sp_runs_beside_finish(&beside);
	return status;
}
