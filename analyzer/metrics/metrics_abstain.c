/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics_abstain.h"

#include <stdio.h>

#include "analyzer/hang/hang.h"
#include "analyzer/hang/hang_text.h"
#include "analyzer/metadata/run_frameworks.h"
#include "analyzer/metrics/metrics_job.h"
#include "analyzer/report/report.h"
#include "analyzer/text/translate.h"
#include "analyzer/totals/process_end.h"

#define WAITS_SHORT 0.05 /* of the training time: less is no cost */

#define LOST_BEARABLE 0.1 /* of the events */
#define FILES_BEARABLE 0.25

static bool is_selected(const struct sp_report *report)
{
	const struct sp_selection *s = &report->run.selection;

	return s->pid || s->tid || sp_run_is_cut(&report->run);
}

static bool has_steps(const struct sp_report *report)
{
	for (uint32_t t = 0; t < report->training.count; t++)
		if (report->training.trainers[t].steps.count)
			return true;
	return false;
}

/* Files that could not be read, end early, or are damaged. */
static uint32_t bad_files(const struct sp_index *index)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < index->file_count; i++)
		n += index->files[i].error || index->files[i].truncated ||
		     index->files[i].damage.places;
	return n;
}

/* The process that began first has ended: what still runs trains nothing that is not known. */
static bool has_first_ended(const struct sp_report *report)
{
	const struct sp_index *index = &report->run.index;

	return index->image_count && index->images[sp_process_first(&report->run)].ending;
}

/* A helper of a framework whose steps are not recorded (a worker of joblib) may outlive it. */
static bool is_over_unseen(const struct sp_report *report)
{
	struct sp_frameworks frameworks;
	char unseen[SP_METRIC_TEXT_BYTES / 2];

	sp_frameworks_read(&report->run.metadata, &frameworks);
	return has_first_ended(report) &&
	       sp_frameworks_unseen_text(&frameworks, unseen, sizeof(unseen)) > 0;
}

void sp_metrics_cannot_tell(struct sp_metrics *e, const struct sp_report *report, uint64_t steps)
{
	double lost = (double)(report->totals.lost + report->totals.missing);
	double all = lost + (double)report->totals.events;
	uint32_t bad = bad_files(&report->run.index), files = report->run.index.file_count;
	uint32_t living =
		steps || e->has_loader_calls || has_steps(report) || is_over_unseen(report)
			? 0
			: sp_process_living(&report->run, &report->totals);
	struct sp_hang_link suspect;
	char text[SP_METRIC_TEXT_BYTES];

	if (sp_hang_suspect(report, &suspect)) {
		sp_hang_suspect_text(report, &suspect, text, sizeof(text));
		sp_metrics_set_text(e, SP_METRIC_cannot_tell, text);
	} else if (living) {
		snprintf(text, sizeof(text),
			 _("there is no training yet, and process %u still runs"), living);
		sp_metrics_set_text(e, SP_METRIC_cannot_tell, text);
	}
	if (is_selected(report) && !report->totals.events) {
		sp_metrics_set_text(e, SP_METRIC_cannot_tell,
				    _("no events lie in the part asked for"));
	} else if (is_selected(report) && !steps && has_steps(report)) {
		sp_metrics_set_text(e, SP_METRIC_cannot_tell,
				    _("no steps lie in the part asked for"));
	} else if (lost >= LOST_BEARABLE * all && lost > 0) {
		snprintf(text, sizeof(text), _("%.0f%% of the events are lost"), 100 * lost / all);
		sp_metrics_set_text(e, SP_METRIC_cannot_tell, text);
	} else if (bad && bad >= FILES_BEARABLE * files) {
		snprintf(text, sizeof(text),
			 sp_translate_plural("%u of %u file of the run is damaged, cut or "
					     "unreadable",
					     "%u of %u files of the run are damaged, cut or "
					     "unreadable",
					     files),
			 bad, files);
		sp_metrics_set_text(e, SP_METRIC_cannot_tell, text);
	}
}

/* Half of the steps asked a loader for their batch in a call that was recorded. Two calls in turns
 * share a batch (a generator and its critic). */
static bool are_steps_fed(const struct sp_training *training)
{
	uint64_t steps = 0, fed = 0;

	for (uint32_t t = 0; t < training->count; t++) {
		const struct sp_steps *s = &training->trainers[t].steps;

		for (uint32_t i = 0; i < s->count; i++)
			fed += s->steps[i].has_loader ||
			       s->steps[i].account.ns[SP_ACCOUNT_loader_wait] > 0;
		steps += s->count;
	}
	return steps && 2 * fed >= steps;
}

/* JAX trains in calls that are no step: gradients outside of a compiled function, or a function
 * that was compiled ahead of its calls. */
static bool trains_beside_steps(const struct sp_report *report)
{
	return sp_metadata_has_coverage(&report->run.metadata, "jax-gradients\tbound\toutside of "
							       "compiled calls") ||
	       sp_metrics_has_label(report, "jax compiled call");
}

/*
 * The account carries a verdict where the waits for batches are calls, and it is known of most of
 * the waiting whether the device worked meanwhile, or the waiting is too short to matter.
 */
static bool is_device_known(const struct sp_training_time *t, const struct sp_report *report)
{
	const struct sp_device_states *s = &report->device_states;
	uint64_t known_ns = sp_device_states_lost(s) + s->busy_ns;

	return s->waits && are_steps_fed(&report->training) && !trains_beside_steps(report) &&
	       (2 * known_ns >= s->wait_ns ||
		(double)t->account.ns[SP_ACCOUNT_loader_wait] < WAITS_SHORT * t->total);
}

/* Nothing that a step's call hides can cost more than a part beside the steps that takes half of
 * the time: checkpoints and compiling are calls, and the rest is in no call. */
static bool is_mostly_beside_steps(const struct sp_training_time *t)
{
	static const int beside[] = {SP_ACCOUNT_checkpoint, SP_ACCOUNT_compile, SP_ACCOUNT_other};

	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++)
		if (2 * (double)t->account.ns[beside[i]] > t->total)
			return true;
	return false;
}

/*
 * A call that makes a whole step may return ahead of the device, or wait for batches inside. A
 * framework that gives only some steps does not give all parts of a step.
 */
void sp_metrics_whole_steps(struct sp_metrics *e, const struct sp_training_time *t,
			    const struct sp_report *report)
{
	uint64_t ns = t->account.ns[SP_ACCOUNT_update];
	bool hides = ns && e->has_whole_calls;
	struct sp_frameworks frameworks;
	char unseen[SP_METRIC_TEXT_BYTES / 2], text[SP_METRIC_TEXT_BYTES];

	sp_frameworks_read(&report->run.metadata, &frameworks);
	if (hides)
		e->hides_waits = !is_device_known(t, report);
	if (e->of[SP_METRIC_cannot_tell].is_known ||
	    (hides && (!e->hides_waits || is_mostly_beside_steps(t))))
		return;
	if (hides && trains_beside_steps(report)) {
		sp_metrics_set_text(e, SP_METRIC_cannot_tell,
				    _("JAX also took gradients, or called what was compiled ahead, "
				      "where no step is recorded"));
	} else if (hides) {
		sp_metrics_set_text(e, SP_METRIC_cannot_tell,
				    _("a step is one call of the framework, and no call shows how "
				      "long it "
				      "waits inside for batches or the device"));
	} else if (!is_device_known(t, report) &&
		   (sp_frameworks_are_partial(&frameworks) ||
		    !sp_frameworks_give_steps(&frameworks)) &&
		   sp_frameworks_unseen_text(&frameworks, unseen, sizeof(unseen))) {
		snprintf(text, sizeof(text),
			 _("not all parts of a step of %s are recorded, so the rest may be input"),
			 unseen);
		sp_metrics_set_text(e, SP_METRIC_cannot_tell, text);
	}
}
