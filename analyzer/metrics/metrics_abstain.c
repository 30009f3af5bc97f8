/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics_abstain.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

#include "analyzer/base/each.h"
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

__attribute__((format(printf, 2, 3))) static const char *say(char text[SP_METRIC_TEXT_BYTES],
							     const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(text, SP_METRIC_TEXT_BYTES, format, args);
	va_end(args);
	return text;
}

static bool unseen_steps(const struct sp_report *report, char *text)
{
	struct sp_frameworks frameworks;

	sp_frameworks_read(&report->run.metadata, &frameworks);
	return sp_frameworks_unseen_text(&frameworks, text, SP_METRIC_TEXT_BYTES / 2) > 0;
}

static bool is_selected(const struct sp_report *report)
{
	const struct sp_selection *s = &report->run.selection;

	return s->pid || s->tid || sp_run_is_cut(&report->run);
}

static bool has_steps(const struct sp_report *report)
{
	return SP_ANY(t, report->training.count, report->training.trainers[t].steps.count);
}

/* Files that could not be read, end early, or are damaged. */
static uint32_t bad_files(const struct sp_index *index)
{
	return SP_SUM(uint32_t, i, index->file_count,
		      index->files[i].error || index->files[i].truncated ||
			      index->files[i].damage.places);
}

/* The process that began first has ended: what still runs trains nothing that is not known. */
static bool has_first_ended(const struct sp_report *report)
{
	const struct sp_index *index = &report->run.index;

	return index->image_count && index->images[sp_process_first(&report->run)].ending;
}

static bool may_hang(const struct sp_report *report, char *text)
{
	struct sp_hang_link suspect;

	if (!sp_hang_suspect(report, &suspect))
		return false;
	sp_hang_suspect_text(report, &suspect, text, SP_METRIC_TEXT_BYTES);
	return true;
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
static bool do_calls_hide(const struct sp_metric_sums *m)
{
	const struct sp_training_time *t = &m->time;
	double beside_ns = fmax(fmax(NS(checkpoint), NS(compile)), NS(other));

	return m->e->hides_waits && 2 * beside_ns <= t->total;
}

static bool gives_some_steps(const struct sp_report *report)
{
	struct sp_frameworks frameworks;

	sp_frameworks_read(&report->run.metadata, &frameworks);
	return sp_frameworks_are_partial(&frameworks) || !sp_frameworks_give_steps(&frameworks);
}

static const char *share_text(const struct sp_metric_sums *m, enum sp_metric_id metric, char *text)
{
	sp_metric_text(m->e, metric, text, SP_METRIC_TEXT_BYTES);
	return text;
}

#define LOST ((double)(report->totals.lost + report->totals.missing))
#define EVENTS ((double)report->totals.events)
#define BAD_FILES bad_files(&report->run.index)
#define FILES report->run.index.file_count
#define UNSEEN unseen_steps(report, other)
#define LIVING sp_process_living(&report->run, &report->totals)
#define TRAINS m->is[SP_OF_TRAINING]
#define EVALUATES (e->has_loader_calls && e->has_forwards)
#define HAS(coverage) sp_metadata_has_coverage(&report->run.metadata, coverage)

const char *sp_text_cannot_tell(struct sp_metric_sums *m, char text[SP_METRIC_TEXT_BYTES])
{
	const struct sp_training_time *t = &m->time;
	const struct sp_report *report = m->report;
	const struct sp_metrics *e = m->e;
	char other[SP_METRIC_TEXT_BYTES];

#define SP_REASON(when, ...)                                                                       \
	if (when)                                                                                  \
		return say(text, __VA_ARGS__);
#include "analyzer/metrics/cannot_tell.def"
	return NULL;
}
