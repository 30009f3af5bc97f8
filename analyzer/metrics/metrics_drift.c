/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/metrics/metrics_drift.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/base/each.h"
#include "analyzer/base/order.h"
#include "analyzer/report/report.h"
#include "analyzer/text/translate.h"

#define LEAST_STEPS 50u
#define TIMES_MEDIAN 2u
#define BLOCKS 6u  /* by chance all of one part are above all of the other in one of 924 runs */
#define SPLITS 40u /* places where a jump may be */
#define EDGE 3u

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
	return SP_SUM(double, i, to - from, (double)sp_step_wall_ns(&steps[from + i])) /
	       (to - from);
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

/* Sums of a line through the means of blocks, and of two levels of them. */
struct fit {
	double n, x, y, xx, xy, yy;
};

static void fit_add(struct fit *f, double x, double y)
{
	*f = (struct fit){f->n + 1,	 f->x + x,	f->y + y,
			  f->xx + x * x, f->xy + x * y, f->yy + y * y};
}

static double level_left(const struct fit *f)
{
	return f->yy - f->y * f->y / f->n;
}

static double line_left(const struct fit *f)
{
	double xy = f->xy - f->x * f->y / f->n, xx = f->xx - f->x * f->x / f->n;

	return level_left(f) - xy * xy / xx;
}

/* Returns the block where a jump is, and 0 where steps grow little by little: two levels have to
 * leave less than half of the squares that a line leaves. */
static uint32_t jump_of(const double blocks_ns[SPLITS])
{
	struct fit all = {.n = 0}, before = {.n = 0};
	uint32_t jump = 0;
	double least;

	for (uint32_t b = 0; b < SPLITS; b++)
		fit_add(&all, b, blocks_ns[b]);
	least = line_left(&all) / 2;
	for (uint32_t b = 1; b < SPLITS - EDGE; b++) {
		struct fit after;
		double left;

		fit_add(&before, b - 1, blocks_ns[b - 1]);
		after = (struct fit){.n = all.n - before.n,
				     .y = all.y - before.y,
				     .yy = all.yy - before.yy};
		left = level_left(&before) + level_left(&after);
		jump = b >= EDGE && left < least ? b : jump;
		least = b >= EDGE ? fmin(least, left) : least;
	}
	return jump;
}

static uint32_t begin_of(const struct sp_steps *s, uint32_t block)
{
	uint64_t first = s->count / 10;

	return (uint32_t)(first + block * (s->count - first) / SPLITS);
}

/* The number of the step; 0: there is no jump. */
static uint32_t jumped_at(const struct sp_steps *s)
{
	double blocks_ns[SPLITS];
	uint32_t jump;

	for (uint32_t b = 0; b < SPLITS; b++)
		blocks_ns[b] = block_ns(s->steps, begin_of(s, b), begin_of(s, b + 1));
	jump = jump_of(blocks_ns);
	return jump ? sp_step_number(s, begin_of(s, jump)) : 0;
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
	drift.jump = drift.is_known ? jumped_at(s) : 0;
	drift.first_ns = drift.is_known ? first.ns / first.steps : 0;
	drift.last_ns = drift.is_known ? last.ns / last.steps : 0;
	return drift;
}

const char *sp_drift_begin_text(const struct sp_metric_sums *m, char text[SP_METRIC_TEXT_BYTES])
{
	struct sp_drift drift = sp_drift_of(m);

	if (!drift.jump)
		return drift.is_known ? _("little by little") : NULL;
	snprintf(text, SP_METRIC_TEXT_BYTES, _("from about step %u on"), drift.jump);
	return text;
}
