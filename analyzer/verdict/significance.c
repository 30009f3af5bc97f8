/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/verdict/significance.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/order.h"

#define SEED UINT64_C(0x5eed0f57a9e9f0f1)
#define RESAMPLES 2000u
#define NORMAL 1.959964 /* the quantile of 97.5% */

/* A series prepared for resampling. */
struct series {
	uint64_t *sums; /* of the values before each place; twice around */
	uint64_t n, block;
};

static int series_init(struct series *s, const struct sp_step_times *times)
{
	uint64_t n = times->count, period = times->period ? times->period : 1;
	uint64_t block = (uint64_t)ceil(sqrt((double)n));

	block += (period - block % period) % period;
	s->n = n;
	s->block = block < n / 2 ? block : n / 2; /* else there is nothing to draw from */
	s->sums = calloc(2 * n + 1, sizeof(*s->sums));
	if (!s->sums)
		return -ENOMEM;
	for (uint64_t i = 0; i < 2 * n; i++)
		s->sums[i + 1] = s->sums[i] + times->ns[i % n];
	return 0;
}

/* splitmix64 (Steele, Lea, Flood, 2014): short, and the same everywhere. */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

static double mean(const struct series *s)
{
	return (double)s->sums[s->n] / (double)s->n;
}

static double resampled_mean(const struct series *s, uint64_t *state)
{
	uint64_t sum = 0, taken;

	for (uint64_t left = s->n; left; left -= taken) {
		uint64_t at = draw(state) % s->n;

		taken = left < s->block ? left : s->block;
		sum += s->sums[at + taken] - s->sums[at];
	}
	return (double)sum / (double)s->n;
}

SP_ORDER(compare_doubles, double, SP_COMPARE(*x, *y))

/* A factor for few blocks: Student's t against the normal quantile, by its expansion
 * (Abramowitz and Stegun, 26.7.5), and the mean that was fitted to them. */
static double widening(const struct series *s)
{
	const double z = NORMAL, z3 = z * z * z;
	double blocks = (double)s->n / (double)s->block, free = blocks - 1;

	return (1 + ((z3 + z) / 4 + (5 * z3 * z * z + 16 * z3 + 3 * z) / 96 / free) / free / z) *
	       sqrt(blocks / free);
}

static int interval(const struct series *first, const struct series *second, struct sp_ratio *ret)
{
	double wider = fmax(widening(first), widening(second));
	double *logs = calloc(RESAMPLES, sizeof(*logs));
	uint64_t state = SEED;

	if (!logs)
		return -ENOMEM;
	for (uint32_t i = 0; i < RESAMPLES; i++) {
		double below = fmax(resampled_mean(first, &state), 1);

		logs[i] = log(fmax(resampled_mean(second, &state), 1) / below / ret->value);
	}
	qsort(logs, RESAMPLES, sizeof(*logs), compare_doubles);
	ret->low = ret->value * exp(wider * logs[RESAMPLES / 40]);
	ret->high = ret->value * exp(wider * logs[RESAMPLES - 1 - RESAMPLES / 40]);
	free(logs);
	return 0;
}

int sp_ratio_of_means(const struct sp_step_times *first, const struct sp_step_times *second,
		      struct sp_ratio *ret)
{
	struct series a = {.n = 0}, b = {.n = 0};
	int r;

	if (first->count < SP_COMPARED_STEPS_MIN || second->count < SP_COMPARED_STEPS_MIN)
		return -EINVAL;
	r = series_init(&a, first);
	if (r == 0)
		r = series_init(&b, second);
	if (r == 0 && (mean(&a) <= 0 || mean(&b) <= 0))
		r = -EINVAL;
	if (r == 0) {
		ret->value = mean(&b) / mean(&a);
		r = interval(&a, &b, ret);
	}
	free(a.sums);
	free(b.sums);
	return r;
}
