/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics_rare.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/metrics/metrics_account.h"
#include "analyzer/report/report.h"
#include "analyzer/training/step_stats.h"
#include "analyzer/training/training_account.h"

#define RARE_MOST 0.2	     /* of the steps */
#define RARE_LEAST_NS 100000 /* beyond twice the median, which may be 0 */
#define RARE_TIMES 2u	     /* the median */
/* Ranks are never in step, so that waits for each other differ more than work does. */
#define COMMUNICATION_TIMES 4u

/* The time of a phase in the steps that exceed some times the median, beyond the median. */
struct rare {
	uint64_t steps, rare; /* rare: those steps */
	uint64_t ns, more_ns; /* ns: in all steps */
};

static struct rare find_rare(const struct sp_report *report, enum sp_account_phase phase,
			     uint64_t median_ns, uint64_t times)
{
	uint64_t usual_ns = times * median_ns + RARE_LEAST_NS;
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
	struct rare r = find_rare(report, phase, median_ns, RARE_TIMES);

	if (is_rare(&r))
		sp_metrics_ratio(e, metric, (double)r.more_ns, (double)sp_account_total(&account));
}

/* The loop's own code in steps that save, beyond the other steps: what goes with a save, such as
 * waiting until its file is on the disk. */
static void set_beside_saves(struct sp_metrics *e, const struct sp_report *report,
			     const struct sp_account *account, uint64_t median_ns)
{
	uint64_t more_ns = 0;

	for (uint32_t t = 0; t < report->training.count; t++) {
		const struct sp_trainer *trainer = &report->training.trainers[t];

		for (uint32_t i = 0; i < trainer->steps.count; i++) {
			const struct sp_step *step = &trainer->steps.steps[i];
			uint64_t ns = step->account.ns[SP_ACCOUNT_other];

			if (sp_step_is_selected(&report->training, trainer, i) &&
			    step->account.ns[SP_ACCOUNT_checkpoint] > step->sum[SP_STEP_SUM_load])
				more_ns += ns > median_ns ? ns - median_ns : 0;
		}
	}
	sp_metrics_ratio(e, SP_METRIC_beside_save_share, (double)more_ns,
			 (double)sp_account_total(account));
}

/* The loop's own code between epochs and in few steps, where that is most of it. */
int sp_metrics_rare_loop(struct sp_metrics *e, const struct sp_report *report)
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
	set_beside_saves(e, report, &account, loop.p50_ns);
	r = find_rare(report, SP_ACCOUNT_other, loop.p50_ns, RARE_TIMES);
	rare_ns = r.more_ns + (loop_ns > r.ns ? loop_ns - r.ns : 0);
	if (!is_rare(&r) || 2 * rare_ns < loop_ns)
		return 0;
	sp_metrics_ratio(e, SP_METRIC_rare_loop_share, (double)rare_ns,
			 (double)sp_account_total(&account));
	if (!sp_metrics_has_model_calls(&report->training))
		sp_metrics_ratio(e, SP_METRIC_hidden_loop_share, (double)rare_ns,
				 (double)sp_account_total(&account));
	return 0;
}

static int descending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y) - (x > y);
}

/* The communication of each step of one trainer, the longest first; `ns` has room for all. */
static uint32_t sort_communication(uint64_t *ns, const struct sp_report *report,
				   const struct sp_trainer *trainer)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < trainer->steps.count; i++)
		if (sp_step_is_selected(&report->training, trainer, i))
			ns[n++] = trainer->steps.steps[i].account.ns[SP_ACCOUNT_grad_sync];
	qsort(ns, n, sizeof(*ns), descending);
	return n;
}

/*
 * Adds the communication of the longest steps, beyond the median. Each trainer is on its own: a
 * rank that waits for all others in each step has no few long ones.
 */
static int add_longest(struct rare *r, const struct sp_report *report,
		       const struct sp_trainer *trainer)
{
	uint64_t *ns = malloc((trainer->steps.count + 1) * sizeof(*ns)), usual_ns;
	uint32_t n;

	if (!ns)
		return -ENOMEM;
	n = sort_communication(ns, report, trainer);
	usual_ns = n ? COMMUNICATION_TIMES * ns[n / 2] + RARE_LEAST_NS : 0;
	for (uint32_t i = 0; i < n; i++) {
		r->ns += ns[i];
		if (i < RARE_MOST * n && ns[i] > usual_ns)
			r->more_ns += ns[i] - ns[n / 2];
	}
	free(ns);
	return 0;
}

/* Gradients are exchanged in each step: collectives of few steps wait for a rank that does
 * something else, or average weights. */
int sp_metrics_rare_communication(struct sp_metrics *e, const struct sp_report *report)
{
	struct sp_account account = sp_training_account(&report->training);
	uint64_t all_ns = account.ns[SP_ACCOUNT_grad_sync];
	struct rare r = {0};
	int error = 0;

	if (!all_ns)
		return 0;
	for (uint32_t t = 0; error == 0 && t < report->training.count; t++)
		error = add_longest(&r, report, &report->training.trainers[t]);
	if (error == 0)
		sp_metrics_ratio(e, SP_METRIC_rare_communication_share,
				 (double)(r.more_ns + (all_ns > r.ns ? all_ns - r.ns : 0)),
				 (double)all_ns);
	return error;
}

/* In the steps of a kind, the time that later steps may have, too. */
static int own_time(const struct sp_training *training, enum sp_step_kind kind,
		    struct sp_step_stats *ret)
{
	static const enum sp_account_phase others[] = {
		SP_ACCOUNT_loader_wait, SP_ACCOUNT_compile,    SP_ACCOUNT_checkpoint,
		SP_ACCOUNT_evaluation,	SP_ACCOUNT_validation,
	};
	int r = sp_step_stats(training, SP_STEP_WALL, 1u << kind, ret);

	for (size_t i = 0; r == 0 && i < sizeof(others) / sizeof(*others); i++) {
		struct sp_step_stats part;

		r = sp_step_stats(training, others[i], 1u << kind, &part);
		if (r == 0)
			ret->total_ns -= part.total_ns;
	}
	return r;
}

int sp_metrics_warm_up(struct sp_metrics *e, const struct sp_report *report)
{
	struct sp_account account = sp_training_account(&report->training);
	struct sp_step_stats first, steady;
	int r = own_time(&report->training, SP_STEP_WARMUP, &first);
	double more_ns;

	if (r == 0)
		r = own_time(&report->training, SP_STEP_STEADY, &steady);
	if (r < 0 || !first.count || !steady.count)
		return r;
	more_ns = (double)first.total_ns -
		  (double)steady.total_ns / (double)steady.count * (double)first.count;
	if (more_ns > 0)
		sp_metrics_ratio(e, SP_METRIC_warm_up_share, more_ns,
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
int sp_metrics_forward(struct sp_metrics *e, const struct sp_report *report)
{
	struct sp_step_stats forward, backward;
	bool is_left_over = sp_metrics_is_forward_left_over(&report->training);
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
