/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics_abstain.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

#include "analyzer/hang/hang_text.h"
#include "analyzer/metadata/run_frameworks.h"
#include "analyzer/metrics/metrics_texts.h"
#include "analyzer/metrics/metrics_ways.h"
#include "analyzer/report/report.h"
#include "analyzer/text/translate.h"
#include "analyzer/totals/process_end.h"

#define WAITS_SHORT 0.05 /* of the training time: less is no cost */

#define LOST_BEARABLE 0.1 /* of the events */
#define FILES_BEARABLE 0.25

/* More may hide the greatest cost. Without a DataLoader it may all be waits for batches. */
#define APART_MOST 0.5
#define APART_UNFED 0.2

/* Writes the reason where there is one. */
typedef bool reason_fn(struct sp_metric_sums *m, char text[SP_METRIC_TEXT_BYTES]);

__attribute__((format(printf, 2, 3))) static bool say(char text[SP_METRIC_TEXT_BYTES],
						      const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(text, SP_METRIC_TEXT_BYTES, format, args);
	va_end(args);
	return true;
}

static bool unseen_steps(const struct sp_report *report, char *text)
{
	struct sp_frameworks frameworks;

	sp_frameworks_read(&report->run.metadata, &frameworks);
	return sp_frameworks_unseen_text(&frameworks, text, SP_METRIC_TEXT_BYTES / 2) > 0;
}

/* A digest has no events, so other costs may be greater than those that are known. */
static bool is_digested(struct sp_metric_sums *m, char *text)
{
	char late[SP_LATE_BYTES];

	if (!m->e->is_from_digest)
		return false;
	if (!sp_text_straggler(m, late, sizeof(late)))
		return say(text, _("a verdict needs events, and a digest has none; the account and "
				   "the "
				   "view ranks hold"));
	return say(text,
		   _("a verdict needs events, and a digest has none; the account and the view "
		     "ranks "
		     "hold, and that view names as late: %s"),
		   late);
}

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

static bool is_empty(struct sp_metric_sums *m, char *text)
{
	if (!is_selected(m->report))
		return false;
	if (!m->report->totals.events)
		return say(text, _("no events lie in the part asked for"));
	return !m->time.steps && has_steps(m->report) &&
	       say(text, _("no steps lie in the part asked for"));
}

static bool are_events_lost(struct sp_metric_sums *m, char *text)
{
	double lost = (double)(m->report->totals.lost + m->report->totals.missing);
	double all = lost + (double)m->report->totals.events;

	return lost > 0 && lost >= LOST_BEARABLE * all &&
	       say(text, _("%.0f%% of the events are lost"), 100 * lost / all);
}

static bool are_files_bad(struct sp_metric_sums *m, char *text)
{
	uint32_t bad = bad_files(&m->report->run.index), files = m->report->run.index.file_count;

	return bad && bad >= FILES_BEARABLE * files &&
	       say(text,
		   sp_translate_plural("%u of %u file of the run is damaged, cut or unreadable",
				       "%u of %u files of the run are damaged, cut or unreadable",
				       files),
		   bad, files);
}

static bool may_hang(struct sp_metric_sums *m, char *text)
{
	struct sp_hang_link suspect;

	if (!sp_hang_suspect(m->report, &suspect))
		return false;
	sp_hang_suspect_text(m->report, &suspect, text, SP_METRIC_TEXT_BYTES);
	return true;
}

/* A helper of a framework whose steps are not recorded (a worker of joblib) may outlive it. */
static bool still_runs(struct sp_metric_sums *m, char *text)
{
	const struct sp_report *report = m->report;
	uint32_t living;

	if (m->time.steps || m->e->has_loader_calls || has_steps(report) ||
	    (has_first_ended(report) && unseen_steps(report, text)))
		return false;
	living = sp_process_living(&report->run, &report->totals);
	return living &&
	       say(text, _("there is no training yet, and process %u still runs"), living);
}

/* The launcher's command, or the process that began first. */
static struct sp_process_end end_of_program(const struct sp_report *report)
{
	struct sp_command_end command = sp_command_end_of(&report->run);

	if (command.is_known)
		return command.end;
	if (!report->run.index.image_count)
		return (struct sp_process_end){.how = SP_PROCESS_UNKNOWN};
	return sp_process_end_of(&report->run, &report->totals, sp_process_first(&report->run));
}

/* A program that fails in its first step has perhaps a loader and a forward, and no step. */
static bool has_failed(const struct sp_report *report)
{
	struct sp_process_end end = end_of_program(report);

	switch (end.how) {
	case SP_PROCESS_EXITED:
		return end.status != 0;
	case SP_PROCESS_SIGNALED: /* not those by which people end a program */
		return end.status == SIGSEGV || end.status == SIGABRT || end.status == SIGBUS ||
		       end.status == SIGFPE || end.status == SIGILL;
	default:
		return end.how == SP_PROCESS_OOM;
	}
}

static bool has_no_steps(struct sp_metric_sums *m, char *text)
{
	const struct sp_metrics *e = m->e;
	bool may_train = e->has_loader_calls || e->trains_unseen || e->gives_steps;
	char unseen[SP_METRIC_TEXT_BYTES / 2];

	if (m->is[SP_OF_TRAINING])
		return false;
	if (may_train && has_failed(m->report))
		return say(text, _("the program failed, and no step was recorded before. If it "
				   "made steps, name their function in STAGEPROF_FUNCTIONS"));
	if (e->has_loader_calls && e->has_forwards) /* it evaluates */
		return false;
	if (e->trains_unseen && unseen_steps(m->report, unseen))
		return say(text,
			   _("steps of %s are not recorded. Name the function that makes a step in "
			     "STAGEPROF_FUNCTIONS to time it"),
			   unseen);
	return e->has_loader_calls && say(text, _("a DataLoader gave batches, and no call that is "
						  "recorded took them. "
						  "Name the function that makes a step in "
						  "STAGEPROF_FUNCTIONS to time it"));
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
	       sp_ways_has_label(report, "jax compiled call");
}

/*
 * The account carries a verdict where the waits for batches are calls, and it is known of most of
 * the waiting whether the device worked meanwhile, or the waiting is too short to matter.
 */
static bool is_device_known(const struct sp_metric_sums *m)
{
	const struct sp_device_states *s = &m->report->device_states;
	const struct sp_training_time *t = &m->time;
	uint64_t known_ns = sp_device_states_lost(s) + s->busy_ns;

	return s->waits && are_steps_fed(&m->report->training) && !trains_beside_steps(m->report) &&
	       (2 * known_ns >= s->wait_ns || NS(loader_wait) < WAITS_SHORT * t->total);
}

static bool has_whole_calls(const struct sp_metric_sums *m)
{
	return m->time.account.ns[SP_ACCOUNT_update] && m->e->has_whole_calls;
}

bool sp_abstain_hides_waits(const struct sp_metric_sums *m)
{
	return has_whole_calls(m) && !is_device_known(m);
}

/*
 * A call that makes a whole step may return ahead of the device, or wait for batches inside. But
 * nothing that it hides can cost more than a part beside the steps that takes half of the time:
 * checkpoints and compiling are calls, and the rest is in no call.
 */
static bool do_calls_hide(struct sp_metric_sums *m, char *text)
{
	const struct sp_training_time *t = &m->time;
	double beside_ns = fmax(fmax(NS(checkpoint), NS(compile)), NS(other));

	if (!m->e->hides_waits || 2 * beside_ns > t->total)
		return false;
	if (trains_beside_steps(m->report))
		return say(text, _("JAX also took gradients, or called what was compiled ahead, "
				   "where no step is recorded"));
	return say(text, _("a step is one call of the framework, and no call shows how long it "
			   "waits inside for batches or the device"));
}

/* A framework that gives only some steps does not give all parts of a step. */
static bool are_steps_partial(struct sp_metric_sums *m, char *text)
{
	struct sp_frameworks frameworks;
	char unseen[SP_METRIC_TEXT_BYTES / 2];

	sp_frameworks_read(&m->report->run.metadata, &frameworks);
	if (!m->is[SP_OF_TRAINING] || has_whole_calls(m) || is_device_known(m) ||
	    (!sp_frameworks_are_partial(&frameworks) && sp_frameworks_give_steps(&frameworks)) ||
	    !unseen_steps(m->report, unseen))
		return false;
	return say(text, _("not all parts of a step of %s are recorded, so the rest may be input"),
		   unseen);
}

static bool takes_turns(struct sp_metric_sums *m, char *text)
{
	char share[SP_METRIC_TEXT_BYTES / 2];

	if (!KNOWN(apart_share) || V(apart_share) < (m->e->is_unfed ? APART_UNFED : APART_MOST))
		return false;
	sp_metric_text(m->e, SP_METRIC_apart_share, share, sizeof(share));
	return say(text,
		   _("%u threads of a process train in turns, and for %s of the time none of them "
		     "does: they may wait for data or for each other where no step shows it"),
		   m->time.apart_threads, share);
}

/* A round of a booster reads such data inside, on threads of the booster. */
static bool is_data_external(struct sp_metric_sums *m, char *text)
{
	return m->is[SP_OF_TRAINING] &&
	       sp_metadata_has_coverage(&m->report->run.metadata, "dataset\tbound\texternal "
								  "memory") &&
	       say(text, _("XGBoost reads data from external memory inside of a round, and no call "
			   "shows how long a round waits for it"));
}

/* The first one that holds is given. */
static reason_fn *const reasons[] = {
	is_digested,  is_empty,	     are_events_lost,	are_files_bad, may_hang,	 still_runs,
	has_no_steps, do_calls_hide, are_steps_partial, takes_turns,   is_data_external,
};

const char *sp_text_cannot_tell(struct sp_metric_sums *m, char text[SP_METRIC_TEXT_BYTES])
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i](m, text))
			return text;
	return NULL;
}
