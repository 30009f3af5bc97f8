/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics_drift.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/order.h"
#include "analyzer/report/report.h"

#define LEAST_STEPS 50u
#define TIMES_MEDIAN 2u
#define BLOCKS 6u /* by chance all of one part are above all of the other in one of 924 runs */

struct run_part {
	double steps, ns, of[SP_ACCOUNT_PHASES];
};

SP_ORDER(ascending, uint64_t, SP_COMPARE(*x, *y))

/* Returns the means of the steps in [from, to); no step: no memory. */
static struct run_part part_of(const struct sp_step *steps, uint32_t from, uint32_t to)
{
	uint64_t *walls = malloc((to - from) * sizeof(*walls)), most;
	struct run_part part = {.steps = 0};

	if (!walls)
		return part;
	for (uint32_t i = from; i < to; i++)
		walls[i - from] = sp_step_wall_ns(&steps[i]);
	qsort(walls, to - from, sizeof(*walls), ascending);
	most = TIMES_MEDIAN * walls[(to - from) / 2];
	free(walls);
	for (uint32_t i = from; i < to; i++) {
		double counts = sp_step_wall_ns(&steps[i]) <= most;

		part.steps += counts;
		part.ns += counts * (double)sp_step_wall_ns(&steps[i]);
		for (int phase = 0; phase < SP_ACCOUNT_PHASES; phase++)
			part.of[phase] += counts * (double)steps[i].account.ns[phase];
	}
	return part;
}

static double block_ns(const struct sp_step *steps, uint32_t from, uint32_t to)
{
	double ns = 0;

	for (uint32_t i = from; i < to; i++)
		ns += (double)sp_step_wall_ns(&steps[i]);
	return ns / (to - from);
}

/* True where each block of the last part takes longer than each of the first. Rare long steps, and
 * a period that is longer than a block, are in some blocks alone. */
static bool is_apart(const struct sp_step *steps, uint32_t first, uint32_t last, uint32_t count)
{
	double most_ns = 0, least_ns = INFINITY;

	for (uint32_t b = 0; b < BLOCKS; b++) {
		uint32_t from = b * count / BLOCKS, to = (b + 1) * count / BLOCKS;

		most_ns = fmax(most_ns, block_ns(steps, first + from, first + to));
		least_ns = fmin(least_ns, block_ns(steps, last + from, last + to));
	}
	return most_ns < least_ns;
}

static const struct sp_steps *longest(const struct sp_training *training)
{
	const struct sp_steps *most = NULL;

	for (uint32_t t = 0; t < training->count; t++)
		if (!most || training->trainers[t].steps.count > most->count)
			most = &training->trainers[t].steps;
	return most;
}

struct sp_drift sp_drift_of(const struct sp_metric_sums *m)
{
	const struct sp_steps *s = longest(&m->report->training);
	struct sp_drift drift = {.is_known = false};
	struct run_part first, last;
	double most = 0;

	if (!s || s->count < LEAST_STEPS)
		return drift;
	first = part_of(s->steps, s->count / 10, s->count / 10 + s->count / 5);
	last = part_of(s->steps, s->count - s->count / 5, s->count);
	drift.is_known = first.steps > 0 && last.steps > 0 && first.ns > 0 &&
			 is_apart(s->steps, s->count / 10, s->count - s->count / 5, s->count / 5);
	for (int phase = 0; drift.is_known && phase < SP_ACCOUNT_PHASES; phase++) {
		double more = last.of[phase] / last.steps - first.of[phase] / first.steps;

		drift.grown = more > most ? (enum sp_account_phase)phase : drift.grown;
		most = more > most ? more : most;
	}
	drift.first_ns = drift.is_known ? first.ns / first.steps : 0;
	drift.last_ns = drift.is_known ? last.ns / last.steps : 0;
	return drift;
}
