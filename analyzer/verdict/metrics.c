/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/verdict/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/text/text.h"
#include "analyzer/verdict/metrics_cpu.h"
#include "analyzer/verdict/metrics_device.h"
#include "analyzer/verdict/metrics_epochs.h"
#include "analyzer/verdict/metrics_input.h"
#include "analyzer/verdict/metrics_job.h"
#include "analyzer/metadata/gpu_kinds.h"
#include "analyzer/metadata/run_frameworks.h"
#include "analyzer/verdict/metrics_stepless.h"
#include "analyzer/metadata/source_lines.h"
#include "analyzer/reader/clock_convert.h"
#include "analyzer/ranks/ranks.h"
#include "analyzer/report/report.h"
#include "analyzer/training/step_stats.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"
#include "analyzer/totals/process_end.h"
#include "analyzer/training/training_account.h"
#include "analyzer/verdict/hang_text.h"

#define OWN_INPUT_LEAST 0.05
#define WAITS_SHORT 0.05 /* of the training time: less is no cost */
#define RARE_MOST 0.2	 /* of the steps */
/* As analyzer/verdict/advice.def has it of rare_forward and long_forward. */
#define FORWARD_LONG 1
#define FORWARD_RARE 0.1
#define OPTIMIZER_MOST 0.5   /* of the training time: the model is not the part to change */
#define IDLE_LEAST 0.1	     /* of the training time: less may be the error of both counts */
#define UNMARKED_SHOWN 0.01  /* of the training time: below it one share says it */
#define RARE_LEAST_NS 100000 /* beyond twice the median, which may be 0 */

/* The account of all trainers, and the starts of epochs in it. */
struct training_time {
	struct sp_account account;
	double total;
	double first_ns;	/* waits for first batches, and for the end and start of loaders */
	double loader_start_ns; /* the share of first_ns that is no input wait */
	double run_start_ns;	/* the share of first_ns that is runs' first batches */
	double run_end_ns;	/* the share of first_ns that is the end of runs' last loaders */
	uint32_t firsts, run_starts; /* epochs begun; runs among them */
	uint32_t epochs;	     /* most of any trainer */
	double awaited_ns, own_input_ns, write_ns, fsync_ns, clip_ns, allocating_ns; /* sp_step */
	double message_ns, lock_ns, cleared_ns, between_ns;
	double load_ns, end_load_ns; /* end: before the first step and after the last one */
	uint64_t steps;
};

/* The time by which an epoch's start exceeds another batch. */
static void add_first(struct training_time *t, const struct sp_step *step, uint64_t usual_ns,
		      bool is_run)
{
	uint64_t ns = step->account.ns[SP_ACCOUNT_loader_wait];

	double more = ns > usual_ns ? (double)(ns - usual_ns) : 0;

	t->first_ns += more;
	t->firsts++;
	if (is_run) {
		t->run_start_ns += more;
		t->run_starts++;
	}
}

/* A loader begins before the first step, and its workers end after the last one. */
static void add_end(struct training_time *t, const struct sp_report *report,
		    const struct sp_trainer *trainer, const struct sp_pause *p)
{
	double ns = (double)p->account.ns[SP_ACCOUNT_loader_wait];

	if (!sp_pause_is_selected(&report->training, trainer, p))
		return;
	t->first_ns += ns;
	*(p->step ? &t->run_end_ns : &t->run_start_ns) += ns;
}

static void add_restarts(struct training_time *t, const struct sp_report *report,
			 const struct sp_trainer *trainer)
{
	const struct sp_steps *s = &trainer->steps;

	for (uint32_t i = 0; i < s->pause_count; i++) {
		const struct sp_pause *p = &s->pauses[i];

		if (!p->step || p->step >= s->count)
			add_end(t, report, trainer, p);
		if (!p->is_restart || !p->step || p->step >= s->count ||
		    !sp_step_is_selected(&report->training, trainer, p->step - 1) ||
		    !sp_step_is_selected(&report->training, trainer, p->step))
			continue;
		t->first_ns += (double)p->account.ns[SP_ACCOUNT_loader_wait];
		if (p->forked_before || p->forked_after)
			t->loader_start_ns += (double)p->account.ns[SP_ACCOUNT_other];
	}
}

static void add_loads(struct training_time *t, const struct sp_report *report,
		      const struct sp_trainer *trainer)
{
	const struct sp_steps *s = &trainer->steps;

	for (uint32_t i = 0; i < s->pause_count; i++) {
		const struct sp_pause *p = &s->pauses[i];

		if (!sp_pause_is_selected(&report->training, trainer, p))
			continue;
		t->load_ns += (double)p->load_ns;
		if (!p->step || p->step == s->count)
			t->end_load_ns += (double)p->load_ns;
	}
}

static void add_trainer(struct training_time *t, const struct sp_report *report,
			const struct sp_trainer *trainer, uint64_t usual_wait_ns)
{
	const struct sp_steps *s = &trainer->steps;
	struct sp_account account = sp_trainer_account(&report->training, trainer);
	uint32_t epochs = 0;

	sp_account_merge(&t->account, &account);
	/* Where most iterators give one batch, the usual wait is one for a first batch. */
	if (s->trained_passes && 2 * s->single_passes >= s->trained_passes)
		usual_wait_ns = 0;
	for (uint32_t i = 0; i < s->count; i++) {
		if (!sp_step_is_selected(&report->training, trainer, i))
			continue;
		t->steps++;
		t->awaited_ns += (double)s->steps[i].awaited_ns;
		t->own_input_ns += (double)s->steps[i].own_input_ns;
		t->write_ns += (double)s->steps[i].write_ns;
		t->fsync_ns += (double)s->steps[i].fsync_ns;
		t->clip_ns += (double)s->steps[i].clip_ns;
		t->allocating_ns += (double)s->steps[i].allocating_ns;
		t->message_ns += (double)s->steps[i].message_ns;
		t->load_ns += (double)s->steps[i].load_ns;
		t->cleared_ns += (double)s->steps[i].cleared_ns;
		t->between_ns += (double)s->steps[i].between_ns;
		t->lock_ns += (double)s->steps[i].lock_ns;
		if (i != s->epochs[s->steps[i].epoch].first_step)
			continue;
		add_first(t, &s->steps[i], usual_wait_ns, i == 0);
		epochs++;
	}
	add_restarts(t, report, trainer);
	add_loads(t, report, trainer);
	t->epochs = epochs > t->epochs ? epochs : t->epochs;
}

static int read_time(struct training_time *t, struct sp_metrics *e, const struct sp_report *report)
{
	struct sp_step_mean mean = sp_step_mean(&report->training);
	struct sp_step_stats wait, wall;
	int r = sp_step_stats(&report->training, SP_ACCOUNT_loader_wait, 1u << SP_STEP_STEADY,
			      &wait);

	if (r == 0)
		r = sp_step_stats(&report->training, SP_STEP_WALL, 1u << SP_STEP_STEADY, &wall);
	if (r == 0 && wall.count == 0)
		r = sp_step_stats(&report->training, SP_STEP_WALL, SP_STEP_KINDS_ALL, &wall);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < report->training.count; i++)
		add_trainer(t, report, &report->training.trainers[i], wait.p50_ns);
	t->first_ns += t->loader_start_ns;
	t->total = (double)sp_account_total(&t->account);
	if (wall.count) {
		sp_metrics_set(e, SP_METRIC_step_ns, (double)wall.p50_ns);
		sp_metrics_ratio(e, SP_METRIC_step_mean_ns, (double)mean.total_ns,
				 (double)mean.count);
	}
	sp_metrics_ratio(e, SP_METRIC_wait_mean_ns, (double)wait.total_ns, (double)wait.count);
	return 0;
}

static void set_phase(struct sp_metrics *e, enum sp_metric_id metric, const struct training_time *t,
		      const struct sp_report *report, enum sp_account_phase phase)
{
	if (sp_training_source(&report->training, phase) != SP_FROM_NOTHING)
		sp_metrics_ratio(e, metric, (double)t->account.ns[phase], t->total);
}

/* Mapped memory and computing have no hook, so little visible input does not prove little input. */
static void set_own_input(struct sp_metrics *e, const struct training_time *t, double wait_ns)
{
	if (wait_ns < OWN_INPUT_LEAST * t->total)
		return;
	sp_metrics_ratio(e, SP_METRIC_loader_wait_share, wait_ns, t->total);
	sp_metrics_ratio(e, SP_METRIC_unfed_wait_share, wait_ns, t->total);
	sp_metrics_ratio(e, SP_METRIC_awaited_share, t->awaited_ns, t->total);
	sp_metrics_ratio(e, SP_METRIC_own_input_share, t->own_input_ns, t->total);
}

/* Costs paid once a run, and costs paid once an epoch. */
static void set_starts(struct sp_metrics *e, const struct training_time *t)
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
static void set_loader(struct sp_metrics *e, const struct training_time *t,
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
 * device. Code that uses gradients and clears them may go with the optimizer, too.
 */
static double known_ns(const struct training_time *t)
{
	return t->clip_ns + t->allocating_ns + t->cleared_ns;
}

static double loop_ns(const struct training_time *t)
{
	double ns = (double)t->account.ns[SP_ACCOUNT_other] - known_ns(t);

	return ns > 0 ? ns : 0;
}

/*
 * Without a backward the model's share of the rest is unknown. Beside a thread that makes batches
 * the loop's code waits for the interpreter's lock too, so its time is not its own.
 */
static void set_loop(struct sp_metrics *e, const struct training_time *t,
		     const struct sp_report *report)
{
	if (sp_training_source(&report->training, SP_ACCOUNT_backward) == SP_FROM_NOTHING ||
	    e->is_fed_by_thread)
		return;
	if (sp_training_source(&report->training, SP_ACCOUNT_other) == SP_FROM_NOTHING)
		return;
	sp_metrics_ratio(e, SP_METRIC_loop_share, loop_ns(t), t->total);
	if (e->is_unfed)
		sp_metrics_ratio(e, SP_METRIC_unfed_loop_share, loop_ns(t), t->total);
	sp_metrics_ratio(e, SP_METRIC_loop_ns, loop_ns(t), (double)t->steps);
	sp_metrics_ratio(e, SP_METRIC_between_share, t->between_ns, t->total);
	sp_metrics_ratio(e, SP_METRIC_own_update_share, t->cleared_ns, t->total);
	sp_metrics_ratio(e, SP_METRIC_write_share, t->write_ns, t->total);
	sp_metrics_ratio(e, SP_METRIC_fsync_share, t->fsync_ns, t->total);
	sp_metrics_ratio(e, SP_METRIC_message_share, t->message_ns, t->total);
}

static bool is_forward_left_over(const struct sp_training *training)
{
	for (uint32_t i = 0; i < training->count; i++)
		if (training->trainers[i].steps.is_forward_left_over)
			return true;
	return false;
}

static bool has_forward(const struct sp_training *training)
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
static void set_unexplained(struct sp_metrics *e, const struct training_time *t,
			    const struct sp_report *report)
{
	const uint64_t *ns = t->account.ns;
	bool is_unseen = sp_training_is_unfed(&report->training) && !has_forward(&report->training);

	sp_metrics_ratio(e, SP_METRIC_other_share,
			 loop_ns(t) + t->cleared_ns +
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
static double set_idle_calls(struct sp_metrics *e, const struct training_time *t,
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
static void set_compute(struct sp_metrics *e, const struct training_time *t,
			const struct sp_report *report)
{
	const uint64_t *ns = t->account.ns;
	double idle = set_idle_calls(e, t, report);
	double unmarked = (double)ns[SP_ACCOUNT_loss] + t->cleared_ns;
	double most = compute_ns(ns) + known_ns(t);
	struct sp_metric *takes = &e->of[SP_METRIC_model_takes];
	char least_text[SP_NUMBER_BYTES], most_text[SP_NUMBER_BYTES];

	if (is_forward_left_over(&report->training))
		unmarked += (double)ns[SP_ACCOUNT_forward];
	sp_metrics_ratio(e, SP_METRIC_model_share, most - unmarked - idle, t->total);
	sp_metrics_ratio(e, SP_METRIC_unmarked_share, unmarked, t->total);
	if (!report->device_calls.is_used) /* else the time of launches */
		set_phase(e, SP_METRIC_optimizer_share, t, report, SP_ACCOUNT_optimizer);
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
static void set_validation_wait(struct sp_metrics *e, const struct training_time *t,
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
static void set_phases(struct sp_metrics *e, const struct training_time *t,
		       const struct sp_report *report)
{
	struct sp_account ends = sp_training_ends(&report->training);

	sp_metrics_set(e, SP_METRIC_steps, (double)t->steps);
	set_phase(e, SP_METRIC_checkpoint_share, t, report, SP_ACCOUNT_checkpoint);
	set_phase(e, SP_METRIC_copy_share, t, report, SP_ACCOUNT_h2d_copy);
	set_phase(e, SP_METRIC_communication_share, t, report, SP_ACCOUNT_grad_sync);
	sp_metrics_ratio(e, SP_METRIC_end_checkpoint_share, (double)ends.ns[SP_ACCOUNT_checkpoint],
			 t->total);
	if (e->of[SP_METRIC_checkpoint_share].is_known)
		sp_metrics_ratio(e, SP_METRIC_loop_checkpoint_share,
				 (double)t->account.ns[SP_ACCOUNT_checkpoint] -
					 (double)ends.ns[SP_ACCOUNT_checkpoint],
				 t->total);
	sp_metrics_ratio(e, SP_METRIC_end_validation_share, (double)ends.ns[SP_ACCOUNT_validation],
			 t->total);
	sp_metrics_ratio(e, SP_METRIC_evaluation_share,
			 (double)(t->account.ns[SP_ACCOUNT_evaluation] +
				  t->account.ns[SP_ACCOUNT_environment]),
			 t->total);
	set_phase(e, SP_METRIC_compile_share, t, report, SP_ACCOUNT_compile);
	set_phase(e, SP_METRIC_bookkeeping_share, t, report, SP_ACCOUNT_bookkeeping);
	set_phase(e, SP_METRIC_validation_share, t, report, SP_ACCOUNT_validation);
	set_validation_wait(e, t, &report->training);
	set_unexplained(e, t, report);
	sp_metrics_ratio(e, SP_METRIC_compute_share, compute_ns(t->account.ns) + known_ns(t),
			 t->total);
}

/* Weights or data: no call says what a file that is loaded holds. */
static void set_loads(struct sp_metrics *e, const struct training_time *t,
		      const struct sp_report *report)
{
	struct sp_account ends = sp_training_ends(&report->training);
	double all = (double)t->account.ns[SP_ACCOUNT_checkpoint];
	double at_ends = (double)ends.ns[SP_ACCOUNT_checkpoint];

	if (!e->of[SP_METRIC_checkpoint_share].is_known)
		return;
	sp_metrics_ratio(e, SP_METRIC_save_share, all - t->load_ns, t->total);
	sp_metrics_ratio(e, SP_METRIC_load_share, t->load_ns, t->total);
	sp_metrics_ratio(e, SP_METRIC_loop_load_share, t->load_ns - t->end_load_ns, t->total);
	sp_metrics_ratio(e, SP_METRIC_loop_save_share,
			 all - t->load_ns - (at_ends - t->end_load_ns), t->total);
}

static void set_account(struct sp_metrics *e, const struct training_time *t,
			const struct sp_report *report)
{
	sp_metrics_set(e, SP_METRIC_epochs, t->epochs);
	set_phases(e, t, report);
	set_loads(e, t, report);
	set_loader(e, t, report);
	set_loop(e, t, report);
	set_compute(e, t, report);
}

/* The Python line with the longest total wait. */
static void set_line(struct sp_metrics *e, const struct sp_report *report)
{
	struct sp_metric *m = &e->of[SP_METRIC_sync_line];
	const struct sp_line *line, *longest = NULL;
	const char *tab;

	for (line = report->run.metadata.slow.lines.by_key; line; line = line->hh.next)
		if (sp_gpu_call_is_kept(line->key.kind) &&
		    (!longest || line->ticks > longest->ticks))
			longest = line;
	if (!longest)
		return;
	tab = memchr(longest->key.text, '\t', longest->text_bytes);
	sp_text_escape(m->text, sizeof(m->text), longest->key.text,
		       tab ? (size_t)(tab - longest->key.text) : longest->text_bytes);
	m->is_known = true;
}

/* The time of a phase in the steps that exceed twice the median, beyond the median. */
struct rare {
	uint64_t steps, rare; /* rare: those steps */
	uint64_t ns, more_ns; /* ns: in all steps */
};

static struct rare find_rare(const struct sp_report *report, enum sp_account_phase phase,
			     uint64_t median_ns)
{
	uint64_t usual_ns = 2 * median_ns + RARE_LEAST_NS;
	struct rare r = {0};

	for (uint32_t t = 0; t < report->training.count; t++) {
		const struct sp_trainer *trainer = &report->training.trainers[t];

		for (uint32_t i = 0; i < trainer->steps.count; i++) {
			uint64_t ns = trainer->steps.steps[i].account.ns[phase];

			if (!sp_step_is_selected(&report->training, trainer, i))
				continue;
			r.steps++;
			r.ns += ns;
			r.rare += ns > usual_ns;
			r.more_ns += ns > usual_ns ? ns - median_ns : 0;
		}
	}
	return r;
}

static bool is_rare(const struct rare *r)
{
	return (double)r->rare <= RARE_MOST * (double)r->steps;
}

static void set_rare(struct sp_metrics *e, const struct sp_report *report, enum sp_metric_id metric,
		     enum sp_account_phase phase, uint64_t median_ns)
{
	struct sp_account account = sp_training_account(&report->training);
	struct rare r = find_rare(report, phase, median_ns);

	if (is_rare(&r))
		sp_metrics_ratio(e, metric, (double)r.more_ns, (double)sp_account_total(&account));
}

/* The loop's own code between epochs and in few steps, where that is most of it. */
static int set_rare_loop(struct sp_metrics *e, const struct sp_report *report)
{
	struct sp_account account = sp_training_account(&report->training);
	uint64_t loop_ns = account.ns[SP_ACCOUNT_other], rare_ns;
	struct sp_step_stats loop;
	struct rare r;
	int error;

	if (!e->of[SP_METRIC_loop_share].is_known)
		return 0;
	error = sp_step_stats(&report->training, SP_ACCOUNT_other, 1u << SP_STEP_STEADY, &loop);
	if (error < 0)
		return error;
	r = find_rare(report, SP_ACCOUNT_other, loop.p50_ns);
	rare_ns = r.more_ns + (loop_ns > r.ns ? loop_ns - r.ns : 0);
	if (is_rare(&r) && 2 * rare_ns >= loop_ns)
		sp_metrics_ratio(e, SP_METRIC_rare_loop_share, (double)rare_ns,
				 (double)sp_account_total(&account));
	return 0;
}

/* Each step needs a batch, so waits in few steps are evaluation, a log, or many batches at once. */
static int set_rare_own_input(struct sp_metrics *e, const struct sp_report *report)
{
	struct sp_step_stats wait;
	int r;

	if (!e->of[SP_METRIC_own_input_share].is_known)
		return 0;
	r = sp_step_stats(&report->training, SP_ACCOUNT_loader_wait, 1u << SP_STEP_STEADY, &wait);
	if (r == 0)
		set_rare(e, report, SP_METRIC_rare_own_input_share, SP_ACCOUNT_loader_wait,
			 wait.p50_ns);
	return r;
}

/*
 * Without waits for a device, a model's backward takes about twice its forward. All time between a
 * batch and its backward counts as forward.
 */
static int set_forward(struct sp_metrics *e, const struct sp_report *report)
{
	struct sp_step_stats forward, backward;
	bool is_left_over = is_forward_left_over(&report->training);
	int r = sp_step_stats(&report->training, SP_ACCOUNT_forward, 1u << SP_STEP_STEADY,
			      &forward);

	if (r == 0)
		r = sp_step_stats(&report->training, SP_ACCOUNT_backward, 1u << SP_STEP_STEADY,
				  &backward);
	if (r == 0 && !is_left_over)
		return set_rare_own_input(e, report);
	if (r == 0 && !e->has_device)
		sp_metrics_ratio(e, SP_METRIC_forward_ratio, (double)forward.p50_ns,
				 (double)backward.p50_ns);
	if (r == 0 && !e->has_device && e->of[SP_METRIC_own_input_share].is_known)
		sp_metrics_ratio(e, SP_METRIC_own_forward_ratio, (double)forward.p50_ns,
				 (double)backward.p50_ns);
	if (r == 0 && forward.p50_ns)
		set_rare(e, report, SP_METRIC_rare_forward_share, SP_ACCOUNT_forward,
			 forward.p50_ns);
	return r ? r : set_rare_own_input(e, report);
}

static bool is_compiled(const struct sp_report *report)
{
	const struct sp_run *run = &report->run;

	for (uint32_t i = 0; i < report->training.count; i++)
		if (run->metadata
			    .images[run->index.streams[report->training.trainers[i].stream]->image]
			    .compiles)
			return true;
	return false;
}

/* Metrics of the model itself, where a backward shows one: the mark of compilation, and a forward
 * that holds no other work. */
static void set_model(struct sp_metrics *e, const struct sp_report *report)
{
	double share = sp_metrics_value(e, SP_METRIC_compute_share);

	if (sp_training_source(&report->training, SP_ACCOUNT_backward) == SP_FROM_NOTHING ||
	    sp_metrics_value(e, SP_METRIC_forward_ratio) >= FORWARD_LONG ||
	    sp_metrics_value(e, SP_METRIC_rare_forward_share) >= FORWARD_RARE ||
	    sp_metrics_value(e, SP_METRIC_unmarked_share) >= SP_UNMARKED_MUCH)
		return;
	sp_metrics_set(e, is_compiled(report) ? SP_METRIC_compiled_share : SP_METRIC_eager_share,
		       share);
}

static const struct sp_process_image *process_of(const struct sp_report *report,
						 const struct sp_rank *rank)
{
	uint32_t stream = report->training.trainers[rank->trainer].stream;

	return &report->run.index.images[report->run.index.streams[stream]->image];
}

static uint64_t rank_of(const struct sp_report *report, const struct sp_rank *rank)
{
	const struct sp_process_image *process = process_of(report, rank);

	return process->rank ? process->rank - 1 : rank->trainer;
}

static const struct sp_rank *latest_straggler(const struct sp_ranks *ranks)
{
	const struct sp_rank *latest = NULL;

	for (uint32_t i = 0; i < ranks->count; i++) {
		const struct sp_rank *rank = &ranks->list[i];

		if (rank->is_straggler && (!latest || rank->behind_p50_ns > latest->behind_p50_ns))
			latest = rank;
	}
	return latest;
}

/* Ranks that are late together: to mend one of them saves nothing. */
static void who_straggles(const struct sp_report *report, const struct sp_rank *rank, char *text,
			  size_t bytes)
{
	const struct sp_process_image *process = process_of(report, rank);
	const struct sp_host *host = &report->run.index.hosts[process->host];
	const char *phase = sp_account_title(rank->cause);
	char name[256];

	sp_text_escape(name, sizeof(name), host->name, strnlen(host->name, sizeof(host->name)));
	if (rank->group == SP_RANK_HOST)
		snprintf(text, bytes, _("all ranks of host %.64s, longer in %s"), name, phase);
	else if (rank->group == SP_RANK_SLOT && process->local_rank)
		snprintf(text, bytes, _("local rank %llu of every host, longer in %s"),
			 (unsigned long long)process->local_rank - 1, phase);
	else
		snprintf(text, bytes, _("rank %llu, longer in %s"),
			 (unsigned long long)rank_of(report, rank), phase);
}

/* The time by which the other ranks are earlier than the latest one. All of them would save it. */
static void set_straggler(struct sp_metrics *e, const struct sp_report *report)
{
	struct sp_metric *text = &e->of[SP_METRIC_straggler];
	const struct sp_rank *latest = latest_straggler(&report->ranks);

	if (!latest)
		return;
	who_straggles(report, latest, text->text, sizeof(text->text));
	text->is_known = true;
	sp_metrics_ratio(e, SP_METRIC_straggler_share, (double)latest->behind_p50_ns,
			 (double)latest->wall_p50_ns);
}

static bool has_loader_calls(const struct sp_report *report)
{
	for (uint32_t i = 0; i < report->run.index.image_count; i++) {
		const struct sp_process_metadata *process = &report->run.metadata.images[i];

		for (uint32_t id = 0; id < process->label_room; id++)
			if (process->label_uses[id] == SP_LABEL_LOADER)
				return true;
	}
	return false;
}

static void set_text(struct sp_metrics *e, enum sp_metric_id measure, const char *text)
{
	snprintf(e->of[measure].text, sizeof(e->of[measure].text), "%s", text);
	e->of[measure].is_known = true;
}

static void set_hang(struct sp_metrics *e, const struct sp_report *report)
{
	char chain[SP_METRIC_TEXT_BYTES];
	struct sp_hang hang;

	sp_hang_find(report, &hang);
	if (!hang.is_hung)
		return;
	sp_metrics_set(e, SP_METRIC_hang_ns, (double)hang.for_ns);
	sp_hang_text(report, &hang, chain, sizeof(chain));
	set_text(e, SP_METRIC_hang_chain, chain);
}

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
	const struct sp_process_image *first = index->image_count ? &index->images[0] : NULL;

	for (uint32_t i = 1; i < index->image_count; i++)
		if (!index->images[i].is_sampler && index->images[i].start_ns < first->start_ns)
			first = &index->images[i];
	return first && first->ending;
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

static void set_cannot_tell(struct sp_metrics *e, const struct sp_report *report, uint64_t steps)
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
		set_text(e, SP_METRIC_cannot_tell, text);
	} else if (living) {
		snprintf(text, sizeof(text),
			 _("there is no training yet, and process %u still runs"), living);
		set_text(e, SP_METRIC_cannot_tell, text);
	}
	if (is_selected(report) && !report->totals.events) {
		set_text(e, SP_METRIC_cannot_tell, _("no events lie in the part asked for"));
	} else if (is_selected(report) && !steps && has_steps(report)) {
		set_text(e, SP_METRIC_cannot_tell, _("no steps lie in the part asked for"));
	} else if (lost >= LOST_BEARABLE * all && lost > 0) {
		snprintf(text, sizeof(text), _("%.0f%% of the events are lost"), 100 * lost / all);
		set_text(e, SP_METRIC_cannot_tell, text);
	} else if (bad && bad >= FILES_BEARABLE * files) {
		snprintf(text, sizeof(text),
			 sp_translate_plural("%u of %u file of the run is damaged, cut or "
					     "unreadable",
					     "%u of %u files of the run are damaged, cut or "
					     "unreadable",
					     files),
			 bad, files);
		set_text(e, SP_METRIC_cannot_tell, text);
	}
}

/* Batches of a loop are no steps of training: what they cost is known, and what they are for is
 * not. */
static void set_loop_batches(struct sp_metrics *e, const struct training_time *t)
{
	e->of[SP_METRIC_step_ns].is_known = false;
	e->of[SP_METRIC_step_mean_ns].is_known = false;
	e->of[SP_METRIC_wait_mean_ns].is_known = false;
	sp_metrics_set(e, SP_METRIC_loop_batches, (double)t->steps);
	sp_metrics_ratio(e, SP_METRIC_loop_wait_share,
			 (double)t->account.ns[SP_ACCOUNT_loader_wait], t->total);
}

/* Most steps asked a loader for their batch in a call that was recorded. */
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
	return 2 * fed > steps;
}

/*
 * The account carries a verdict where the waits for batches are calls, and it is known of most of
 * the waiting whether the device worked meanwhile, or the waiting is too short to matter.
 */
static bool is_device_known(const struct training_time *t, const struct sp_report *report)
{
	const struct sp_device_states *s = &report->device_states;
	uint64_t known_ns = sp_device_states_lost(s) + s->busy_ns;

	return s->waits && are_steps_fed(&report->training) &&
	       (2 * known_ns >= s->wait_ns ||
		(double)t->account.ns[SP_ACCOUNT_loader_wait] < WAITS_SHORT * t->total);
}

/* Nothing that a step's call hides can cost more than a part beside the steps that takes half of
 * the time: checkpoints and compiling are calls, and the rest is in no call. */
static bool is_mostly_beside_steps(const struct training_time *t)
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
static void set_whole_steps(struct sp_metrics *e, const struct training_time *t,
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
	if (hides) {
		set_text(e, SP_METRIC_cannot_tell,
			 _("a step is one call of the framework, and no call shows how long it "
			   "waits inside for batches or the device"));
	} else if (!is_device_known(t, report) &&
		   (sp_frameworks_are_partial(&frameworks) ||
		    !sp_frameworks_give_steps(&frameworks)) &&
		   sp_frameworks_unseen_text(&frameworks, unseen, sizeof(unseen))) {
		snprintf(text, sizeof(text),
			 _("not all parts of a step of %s are recorded, so the rest may be input"),
			 unseen);
		set_text(e, SP_METRIC_cannot_tell, text);
	}
}

/* A digest has no events, so other costs may be greater than those that are known. */
static void doubt_digested(struct sp_metrics *e, const struct sp_report *report)
{
	const struct sp_rank *latest = latest_straggler(&report->ranks);
	char text[SP_METRIC_TEXT_BYTES], late[128];

	if (!latest) {
		set_text(e, SP_METRIC_cannot_tell,
			 _("a verdict needs events, and a digest has none; the account and the "
			   "view ranks hold"));
		return;
	}
	who_straggles(report, latest, late, sizeof(late));
	snprintf(text, sizeof(text),
		 _("a verdict needs events, and a digest has none; the account and the view ranks "
		   "hold, and that view names as late: %s"),
		 late);
	set_text(e, SP_METRIC_cannot_tell, text);
}

static void set_rounds(struct sp_metrics *e, const struct sp_training *training)
{
	bool has_rounds = false, has_others = false;

	for (uint32_t i = 0; i < training->count; i++) {
		const struct sp_steps *s = &training->trainers[i].steps;

		has_rounds |= s->rounds > 0;
		has_others |= s->rounds < s->optimizer_count;
		e->has_whole_calls |= s->has_whole_calls;
	}
	e->is_mixed = has_rounds && has_others;
}

/* The metrics that docs/DIGEST.md lists as those of a digest. */
static int set_digested(struct sp_metrics *e, const struct sp_report *report)
{
	const struct sp_training *training = &report->training;
	struct training_time t = {.account = sp_training_account(training)};
	struct sp_step_stats wall;
	int r;

	e->is_from_digest = true;
	doubt_digested(e, report);
	for (uint32_t i = 0; i < training->count; i++)
		t.steps += training->trainers[i].steps.count;
	if (!t.steps || sp_training_end(training) == SP_STEP_BY_BATCH)
		return 0;
	t.total = (double)sp_account_total(&t.account);
	set_phases(e, &t, report);
	if (!e->is_unfed)
		set_phase(e, SP_METRIC_input_wait_share, &t, report, SP_ACCOUNT_loader_wait);
	set_straggler(e, report);
	r = sp_step_stats(training, SP_STEP_WALL, 1u << SP_STEP_STEADY, &wall);
	if (r == 0 && wall.count)
		sp_metrics_set(e, SP_METRIC_step_ns, (double)wall.p50_ns);
	return r;
}

int sp_metrics_gather(struct sp_metrics *e, const struct sp_report *report)
{
	struct training_time time = {.total = 0};
	int r = sp_index_has_digested(&report->run.index) ? 0 : read_time(&time, e, report);
	bool is_loop = sp_training_end(&report->training) == SP_STEP_BY_BATCH;

	e->trainers = report->training.count;
	e->events_lost = report->totals.lost + report->totals.missing + report->totals.holes;
	e->events_unknown = report->totals.unknown;
	e->files_unread = sp_index_unread(&report->run.index);
	e->tails_away = report->totals.tails_away;
	e->is_unfed = sp_training_is_unfed(&report->training);
	set_rounds(e, &report->training);
	e->is_fed_by_thread = sp_training_is_fed_by_thread(&report->training) ||
			      (e->is_unfed && sp_metrics_has_busy_thread(report));
	e->is_forward_left_over = is_forward_left_over(&report->training);
	e->has_loader_calls = has_loader_calls(report);
	if (sp_index_has_digested(&report->run.index))
		return set_digested(e, report);
	if (r == 0) {
		set_cannot_tell(e, report, time.steps);
		if (!is_loop)
			set_hang(e, report);
		if (is_loop)
			set_loop_batches(e, &time);
		if (is_loop || time.steps == 0)
			sp_metrics_stepless(e, report);
	}
	if (r < 0 || time.steps == 0 || is_loop)
		return r;
	set_account(e, &time, report);
	set_whole_steps(e, &time, report);
	sp_metrics_device(e, &time.account, time.steps, report);
	/* With a device, backward waits for autograd's own threads. */
	if (!e->has_device)
		sp_metrics_ratio(e, SP_METRIC_model_lock_share, time.lock_ns, time.total);
	r = set_forward(e, report);
	if (r == 0)
		r = set_rare_loop(e, report);
	if (r < 0)
		return r;
	set_model(e, report);
	sp_metrics_job(e, report, is_compiled(report));
	set_line(e, report);
	set_straggler(e, report);
	sp_metrics_cpu(e, report);
	sp_metrics_epochs(e, report, time.total);
	sp_metrics_input(e, report);
	if (e->of[SP_METRIC_decode_work_share].is_known)
		e->of[SP_METRIC_loader_ways].is_known = false;
	return 0;
}
