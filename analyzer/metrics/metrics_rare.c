/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics_rare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/training/training_account.h"

#define RARE_MOST 0.2	     /* of the steps */
#define RARE_LEAST_NS 100000 /* beyond twice the median, which may be 0 */
#define RARE_TIMES 2u	     /* the median */
/* Ranks are never in step, so that waits for each other differ more than work does. */
#define COMMUNICATION_TIMES 4u

/* The time of a phase in the steps that exceed some times the median, beyond the median. */
struct rare {
	uint64_t steps, rare; /* rare: those steps */
	uint64_t more_ns;
};

static uint64_t beyond(uint64_t ns, uint64_t usual_ns)
{
	return ns > usual_ns ? ns - usual_ns : 0;
}

static struct rare find_rare(const struct sp_training *training, enum sp_account_phase phase,
			     uint64_t median_ns)
{
	uint64_t usual_ns = RARE_TIMES * median_ns + RARE_LEAST_NS;
	struct rare r = {0};

	for (uint32_t k = 0; k < training->count; k++) {
		const struct sp_trainer *trainer = &training->trainers[k];

		for (uint32_t i = 0; i < trainer->steps.count; i++) {
			uint64_t ns = trainer->steps.steps[i].account.ns[phase];

			if (!sp_step_is_selected(training, trainer, i))
				continue;
			r.steps++;
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

double sp_rare_ns(const struct sp_training *training, enum sp_account_phase phase,
		  uint64_t median_ns)
{
	struct rare r = find_rare(training, phase, median_ns);

	return is_rare(&r) ? (double)r.more_ns : NAN;
}

double sp_rare_beside_saves_ns(const struct sp_training_time *t, const struct sp_training *training)
{
	uint64_t more_ns = 0;

	for (uint32_t k = 0; k < training->count; k++) {
		const struct sp_trainer *trainer = &training->trainers[k];

		for (uint32_t i = 0; i < trainer->steps.count; i++) {
			const struct sp_step *step = &trainer->steps.steps[i];

			if (sp_step_is_selected(training, trainer, i) &&
			    step->account.ns[SP_ACCOUNT_checkpoint] > step->sum[SP_STEP_SUM_load])
				more_ns +=
					beyond(step->account.ns[SP_ACCOUNT_other], t->loop.p50_ns);
		}
	}
	return (double)more_ns;
}

double sp_rare_loop_ns(const struct sp_training_time *t, const struct sp_training *training)
{
	uint64_t loop_ns = t->account.ns[SP_ACCOUNT_other], rare_ns;
	struct rare r = find_rare(training, SP_ACCOUNT_other, t->loop.p50_ns);

	rare_ns = r.more_ns + beyond(loop_ns, t->in_steps.ns[SP_ACCOUNT_other]);
	return is_rare(&r) && 2 * rare_ns >= loop_ns ? (double)rare_ns : NAN;
}

static int descending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y) - (x > y);
}

/* The communication of each step of one trainer, the longest first; `ns` has room for all. */
static uint32_t sort_communication(uint64_t *ns, const struct sp_training *training,
				   const struct sp_trainer *trainer)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < trainer->steps.count; i++)
		if (sp_step_is_selected(training, trainer, i))
			ns[n++] = trainer->steps.steps[i].account.ns[SP_ACCOUNT_grad_sync];
	qsort(ns, n, sizeof(*ns), descending);
	return n;
}

/*
 * Adds the communication of the longest steps, beyond the median. Each trainer is on its own: a
 * rank that waits for all others in each step has no few long ones.
 */
static int add_longest(uint64_t *more_ns, const struct sp_training *training,
		       const struct sp_trainer *trainer)
{
	uint64_t *ns = malloc((trainer->steps.count + 1) * sizeof(*ns)), usual_ns;
	uint32_t n;

	if (!ns)
		return -ENOMEM;
	n = sort_communication(ns, training, trainer);
	usual_ns = n ? COMMUNICATION_TIMES * ns[n / 2] + RARE_LEAST_NS : 0;
	for (uint32_t i = 0; i < n && i < RARE_MOST * n && ns[i] > usual_ns; i++)
		*more_ns += ns[i] - ns[n / 2];
	free(ns);
	return 0;
}

int sp_rare_communication_read(struct sp_training_time *t, const struct sp_training *training)
{
	uint64_t all_ns = t->account.ns[SP_ACCOUNT_grad_sync];
	int r = 0;

	if (!all_ns)
		return 0;
	t->rare_communication_ns = beyond(all_ns, t->in_steps.ns[SP_ACCOUNT_grad_sync]);
	for (uint32_t i = 0; r == 0 && i < training->count; i++)
		r = add_longest(&t->rare_communication_ns, training, &training->trainers[i]);
	return r;
}

static double add_own_time(const struct sp_training *training, enum sp_step_kind kind,
			   uint64_t *ret_steps)
{
	uint64_t ns = 0;

	*ret_steps = 0;
	for (uint32_t k = 0; k < training->count; k++) {
		const struct sp_trainer *trainer = &training->trainers[k];

		for (uint32_t i = 0; i < trainer->steps.count; i++) {
			const struct sp_step *step = &trainer->steps.steps[i];

			if (step->kind != kind || !sp_step_is_selected(training, trainer, i))
				continue;
			ns += (uint64_t)(step->end_ns - step->start_ns) -
			      sp_account_sum(&step->account, SP_IS_SELDOM);
			++*ret_steps;
		}
	}
	return (double)ns;
}

/* The time of the first steps that later steps may have, too. */
double sp_rare_warm_up_ns(const struct sp_training *training)
{
	uint64_t first, steady;
	double first_ns = add_own_time(training, SP_STEP_WARMUP, &first);
	double steady_ns = add_own_time(training, SP_STEP_STEADY, &steady);
	double more_ns = first_ns - steady_ns / (double)steady * (double)first;

	return first && steady && more_ns > 0 ? more_ns : NAN;
}
