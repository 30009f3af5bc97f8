/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics_account.h"

#include <stdio.h>

#include "analyzer/metrics/metrics_cpu.h"
#include "analyzer/report/report.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"
#include "analyzer/training/step_stats.h"
#include "analyzer/training/training_account.h"

#define OWN_INPUT_LEAST 0.05
#define OPTIMIZER_MOST 0.5  /* of the training time: the model is not the part to change */
#define IDLE_LEAST 0.1	    /* of the training time: less may be the error of both counts */
#define UNMARKED_SHOWN 0.01 /* of the training time: below it one share says it */

void sp_metrics_phase(struct sp_metrics *e, enum sp_metric_id metric,
		      const struct sp_training_time *t, const struct sp_report *report,
		      enum sp_account_phase phase)
{
	if (sp_training_source(&report->training, phase) != SP_FROM_NOTHING)
		sp_metrics_ratio(e, metric, (double)t->account.ns[phase], t->total);
}

/* Mapped memory and computing have no hook, so little visible input does not prove little input. */
static void set_own_input(struct sp_metrics *e, const struct sp_training_time *t, double wait_ns)
{
	if (wait_ns < OWN_INPUT_LEAST * t->total) {
		e->unfed_seen = wait_ns / t->total;
		return;
	}
	sp_metrics_ratio(e, SP_METRIC_loader_wait_share, wait_ns, t->total);
	sp_metrics_ratio(e, SP_METRIC_unfed_wait_share, wait_ns, t->total);
	sp_metrics_ratio(e, SP_METRIC_awaited_share, t->sum[SP_STEP_SUM_awaited], t->total);
	sp_metrics_ratio(e, SP_METRIC_own_input_share, t->sum[SP_STEP_SUM_own_input], t->total);
}

/* Costs paid once a run, and costs paid once an epoch. */
static void set_starts(struct sp_metrics *e, const struct sp_training_time *t)
{
	double restarts_ns = t->first_ns - t->run_start_ns - t->run_end_ns;
	uint32_t others = t->firsts - t->run_starts;

	if (others) {
		sp_metrics_ratio(e, SP_METRIC_first_batch_ns, restarts_ns, others);
		sp_metrics_ratio(e, SP_METRIC_restart_share, restarts_ns, t->total);
	}
	sp_metrics_ratio(e, SP_METRIC_run_start_ns, t->run_start_ns, t->run_starts);
	sp_metrics_ratio(e, SP_METRIC_run_start_share, t->run_start_ns + t->run_end_ns,
			 t->first_ns);
}

static void set_single_batches(struct sp_metrics *e, const struct sp_training *training)
{
	uint32_t trained = 0, single = 0;

	for (uint32_t i = 0; i < training->count; i++) {
		trained += training->trainers[i].steps.trained_passes;
		single += training->trainers[i].steps.single_passes;
	}
	sp_metrics_ratio(e, SP_METRIC_single_batch_share, single, trained);
}

/* A first batch's wait counts only as a first batch, so no time counts twice. */
static void set_loader(struct sp_metrics *e, const struct sp_training_time *t,
		       const struct sp_report *report)
{
	double wait = (double)t->account.ns[SP_ACCOUNT_loader_wait];
	double first = t->first_ns - t->loader_start_ns;

	if (sp_training_source(&report->training, SP_ACCOUNT_loader_wait) == SP_FROM_NOTHING)
		return;
	if (sp_training_is_unfed(&report->training)) {
		set_own_input(e, t, wait);
		return;
	}
	first = first < wait ? first : wait;
	sp_metrics_ratio(e, SP_METRIC_first_batch_share, t->first_ns, t->total);
	set_starts(e, t);
	set_single_batches(e, &report->training);
	sp_metrics_ratio(e, SP_METRIC_input_wait_share, wait, t->total);
	sp_metrics_ratio(e, SP_METRIC_first_wait_share, first, t->total);
	sp_metrics_ratio(e, SP_METRIC_loader_start_share, t->loader_start_ns, t->total);
	sp_metrics_ratio(e, SP_METRIC_loader_wait_share, wait - first, t->total);
}

/*
 * Time in the row `other` whose calls are known is no code of the loop's own. Clipping of gradients
 * goes with the optimizer, and allocations and frees of the device's memory with the waits for the
 * device. Code that uses gradients and clears them may go with the optimizer, too. Batches that
 * came from workers in shared memory are released by munmap.
 */
static double known_ns(const struct sp_training_time *t)
{
	return t->sum[SP_STEP_SUM_clip] + t->sum[SP_STEP_SUM_allocating] +
	       t->sum[SP_STEP_SUM_cleared] + t->sum[SP_STEP_SUM_unmap];
}

static double loop_ns(const struct sp_training_time *t)
{
	double ns = (double)t->account.ns[SP_ACCOUNT_other] - known_ns(t);

	return ns > 0 ? ns : 0;
}

/*
 * Without a backward the model's share of the rest is unknown. Beside a thread that makes batches
 * the loop's code waits for the interpreter's lock too, so its time is not its own.
 */
static void set_loop(struct sp_metrics *e, const struct sp_training_time *t,
		     const struct sp_report *report)
{
	/* Without one, the weights may be changed by hand in any of the loop's code. */
	bool has_update =
		sp_training_source(&report->training, SP_ACCOUNT_optimizer) != SP_FROM_NOTHING ||
		t->sum[SP_STEP_SUM_cleared] > 0;

	if (sp_training_source(&report->training, SP_ACCOUNT_backward) == SP_FROM_NOTHING ||
	    e->is_fed_by_thread)
		return;
	if (sp_training_source(&report->training, SP_ACCOUNT_other) == SP_FROM_NOTHING)
		return;
	sp_metrics_ratio(e, SP_METRIC_loop_share, loop_ns(t), t->total);
	if (e->is_unfed)
		sp_metrics_ratio(e, SP_METRIC_unfed_loop_share, loop_ns(t), t->total);
	sp_metrics_ratio(e, SP_METRIC_loop_ns, loop_ns(t), (double)t->steps);
	sp_metrics_ratio(e, SP_METRIC_between_share,
			 has_update ? t->sum[SP_STEP_SUM_between] : loop_ns(t), t->total);
	sp_metrics_ratio(e, SP_METRIC_own_update_share, t->sum[SP_STEP_SUM_cleared], t->total);
	sp_metrics_ratio(e, SP_METRIC_hook_share, t->sum[SP_STEP_SUM_hook], t->total);
	sp_metrics_ratio(e, SP_METRIC_write_share, t->sum[SP_STEP_SUM_write], t->total);
	sp_metrics_ratio(e, SP_METRIC_fsync_share, t->sum[SP_STEP_SUM_fsync], t->total);
	sp_metrics_ratio(e, SP_METRIC_message_share, t->sum[SP_STEP_SUM_message], t->total);
	sp_metrics_ratio(e, SP_METRIC_loop_others_share, t->sum[SP_STEP_SUM_loop_wait], t->total);
	sp_metrics_ratio(e, SP_METRIC_log_code_share, t->sum[SP_STEP_SUM_log_code], t->total);
}

bool sp_metrics_is_forward_left_over(const struct sp_training *training)
{
	for (uint32_t i = 0; i < training->count; i++)
		if (training->trainers[i].steps.is_forward_left_over)
			return true;
	return false;
}

bool sp_metrics_has_model_calls(const struct sp_training *training)
{
	for (uint32_t i = 0; i < training->count; i++)
		if (training->trainers[i].steps.has_forward)
			return true;
	return false;
}

/*
 * Between a model's call and its backward there may be more than the loss: an environment, data
 * made by hand. A forward that is left over without a loader may have batches in it.
 */
static void set_unexplained(struct sp_metrics *e, const struct sp_training_time *t,
			    const struct sp_report *report)
{
	const uint64_t *ns = t->account.ns;
	bool is_unseen = sp_training_is_unfed(&report->training) &&
			 !sp_metrics_has_model_calls(&report->training);

	sp_metrics_ratio(e, SP_METRIC_other_share,
			 loop_ns(t) + t->sum[SP_STEP_SUM_cleared] +
				 (double)(ns[SP_ACCOUNT_loss] +
					  (is_unseen ? ns[SP_ACCOUNT_forward] : 0)),
			 t->total);
}

static double compute_ns(const uint64_t ns[SP_ACCOUNT_PHASES])
{
	static const enum sp_account_phase computes[] = {
		SP_ACCOUNT_forward,   SP_ACCOUNT_loss,	    SP_ACCOUNT_backward,
		SP_ACCOUNT_optimizer, SP_ACCOUNT_zero_grad, SP_ACCOUNT_sync_wait,
		SP_ACCOUNT_update,
	};
	double sum = 0;

	for (size_t i = 0; i < sizeof(computes) / sizeof(computes[0]); i++)
		sum += (double)ns[computes[i]];
	return sum;
}

/* A costly optimizer is a part of the model's share, and the part to change. */
static void add_optimizer(struct sp_metrics *e)
{
	struct sp_metric *takes = &e->of[SP_METRIC_model_takes];
	size_t used = strlen(takes->text);
	char share[SP_NUMBER_BYTES];

	if (sp_metrics_value(e, SP_METRIC_optimizer_share) < OPTIMIZER_MOST)
		return;
	sp_metric_text(e, SP_METRIC_optimizer_share, share, sizeof(share));
	/* Translators: after a share of the model; a share. */
	snprintf(takes->text + used, sizeof(takes->text) - used, _(" (its optimizer alone %s)"),
		 share);
}

/* A call that makes a whole step shows the model's work as far as something computes in it. Returns
 * the time in which nothing does, which no call explains. */
static double set_idle_calls(struct sp_metrics *e, const struct sp_training_time *t,
			     const struct sp_report *report)
{
	double idle;

	if (!t->account.ns[SP_ACCOUNT_update])
		return 0;
	sp_metrics_ratio(e, SP_METRIC_update_share, (double)t->account.ns[SP_ACCOUNT_update],
			 t->total);
	sp_metrics_idle_calls(e, report);
	idle = sp_metrics_value(e, SP_METRIC_idle_call_share);
	if (idle < IDLE_LEAST)
		return 0;
	e->of[SP_METRIC_other_share].value += idle;
	return idle * t->total;
}

/*
 * The model's least and greatest share. The loss may be other code; so may a forward that is left
 * over, and what a loop does with gradients that it clears.
 */
static void set_compute(struct sp_metrics *e, const struct sp_training_time *t,
			const struct sp_report *report)
{
	const uint64_t *ns = t->account.ns;
	double idle = set_idle_calls(e, t, report);
	double unmarked = (double)ns[SP_ACCOUNT_loss] + t->sum[SP_STEP_SUM_cleared];
	double most = compute_ns(ns) + known_ns(t);
	struct sp_metric *takes = &e->of[SP_METRIC_model_takes];
	char least_text[SP_NUMBER_BYTES], most_text[SP_NUMBER_BYTES];

	if (sp_metrics_is_forward_left_over(&report->training))
		unmarked += (double)ns[SP_ACCOUNT_forward];
	sp_metrics_ratio(e, SP_METRIC_model_share, most - unmarked - idle, t->total);
	sp_metrics_ratio(e, SP_METRIC_unmarked_share, unmarked, t->total);
	if (!report->device_calls.is_used) /* else the time of launches */
		sp_metrics_phase(e, SP_METRIC_optimizer_share, t, report, SP_ACCOUNT_optimizer);
	if (!e->of[SP_METRIC_compute_share].is_known)
		return;
	sp_metric_text(e, SP_METRIC_model_share, least_text, sizeof(least_text));
	sp_metric_text(e, SP_METRIC_compute_share, most_text, sizeof(most_text));
	takes->is_known = true;
	if (unmarked + idle < UNMARKED_SHOWN * t->total)
		snprintf(takes->text, sizeof(takes->text), "%s", least_text);
	else /* Translators: two shares, the least and the most. */
		snprintf(takes->text, sizeof(takes->text), _("%s to %s"), least_text, most_text);
	add_optimizer(e);
}

/* A window of steps may have a part of the pauses, so no more than its validation. */
static void set_validation_wait(struct sp_metrics *e, const struct sp_training_time *t,
				const struct sp_training *training)
{
	double most = sp_metrics_value(e, SP_METRIC_validation_share), ns = 0;

	if (!e->of[SP_METRIC_validation_share].is_known || t->total <= 0)
		return;
	for (uint32_t i = 0; i < training->count; i++) {
		const struct sp_steps *s = &training->trainers[i].steps;

		for (uint32_t k = 0; k < s->pause_count; k++)
			ns += (double)s->pauses[k].validation_wait_ns;
	}
	sp_metrics_set(e, SP_METRIC_validation_wait_share,
		       ns / t->total < most ? ns / t->total : most);
}

/* The metrics that need the account alone: a digest has it, too. */
void sp_metrics_phases(struct sp_metrics *e, const struct sp_training_time *t,
		       const struct sp_report *report)
{
	struct sp_account ends = sp_training_ends(&report->training);

	sp_metrics_set(e, SP_METRIC_steps, (double)t->steps);
	sp_metrics_phase(e, SP_METRIC_checkpoint_share, t, report, SP_ACCOUNT_checkpoint);
	sp_metrics_phase(e, SP_METRIC_copy_share, t, report, SP_ACCOUNT_h2d_copy);
	sp_metrics_phase(e, SP_METRIC_communication_share, t, report, SP_ACCOUNT_grad_sync);
	sp_metrics_ratio(e, SP_METRIC_end_checkpoint_share, (double)ends.ns[SP_ACCOUNT_checkpoint],
			 t->total);
	if (e->of[SP_METRIC_checkpoint_share].is_known)
		sp_metrics_ratio(e, SP_METRIC_loop_checkpoint_share,
				 (double)t->account.ns[SP_ACCOUNT_checkpoint] -
					 (double)ends.ns[SP_ACCOUNT_checkpoint],
				 t->total);
	sp_metrics_ratio(e, SP_METRIC_end_validation_share,
			 (double)sp_training_lone_validation(&report->training), t->total);
	sp_metrics_ratio(e, SP_METRIC_evaluation_share,
			 (double)(t->account.ns[SP_ACCOUNT_evaluation] +
				  t->account.ns[SP_ACCOUNT_environment]),
			 t->total);
	sp_metrics_phase(e, SP_METRIC_compile_share, t, report, SP_ACCOUNT_compile);
	sp_metrics_phase(e, SP_METRIC_bookkeeping_share, t, report, SP_ACCOUNT_bookkeeping);
	sp_metrics_phase(e, SP_METRIC_validation_share, t, report, SP_ACCOUNT_validation);
	set_validation_wait(e, t, &report->training);
	set_unexplained(e, t, report);
	sp_metrics_ratio(e, SP_METRIC_compute_share, compute_ns(t->account.ns) + known_ns(t),
			 t->total);
}

/* Weights or data: no call says what a file that is loaded holds. */
static void set_loads(struct sp_metrics *e, const struct sp_training_time *t,
		      const struct sp_report *report)
{
	struct sp_account ends = sp_training_ends(&report->training);
	double all = (double)t->account.ns[SP_ACCOUNT_checkpoint];
	double at_ends = (double)ends.ns[SP_ACCOUNT_checkpoint];

	if (!e->of[SP_METRIC_checkpoint_share].is_known)
		return;
	sp_metrics_ratio(e, SP_METRIC_save_share, all - t->sum[SP_STEP_SUM_load], t->total);
	sp_metrics_ratio(e, SP_METRIC_load_share, t->sum[SP_STEP_SUM_load], t->total);
	sp_metrics_ratio(e, SP_METRIC_loop_load_share, t->sum[SP_STEP_SUM_load] - t->end_load_ns,
			 t->total);
	sp_metrics_ratio(e, SP_METRIC_loop_save_share,
			 all - t->sum[SP_STEP_SUM_load] - (at_ends - t->end_load_ns), t->total);
}

void sp_metrics_account(struct sp_metrics *e, const struct sp_training_time *t,
			const struct sp_report *report)
{
	sp_metrics_set(e, SP_METRIC_epochs, t->epochs);
	sp_metrics_phases(e, t, report);
	set_loads(e, t, report);
	set_loader(e, t, report);
	set_loop(e, t, report);
	set_compute(e, t, report);
}
