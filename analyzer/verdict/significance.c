/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/verdict/significance.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEED UINT64_C(0x5eed0f57a9e9f0f1)
#define RESAMPLES_MAX 2000u
#define RESAMPLES_MIN 200u
#define DRAWS_MAX UINT64_C(40000000)

/* A series prepared for resampling: a resample is the number of draws of each value. */
struct series {
	uint64_t *sorted;
	uint32_t *ranks;  /* the rank of each value, in the order of time */
	uint32_t *counts; /* by rank */
	uint64_t n, block;
};

struct ranked {
	uint64_t value, at;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static void series_finish(struct series *s)
{
	free(s->sorted);
	free(s->ranks);
	free(s->counts);
}

static int series_init(struct series *s, const uint64_t *values, uint64_t n)
{
	struct ranked *order = calloc(n, sizeof(*order));

	s->n = n;
	s->block = (uint64_t)ceil(sqrt((double)n));
	s->sorted = calloc(n, sizeof(*s->sorted));
	s->ranks = calloc(n, sizeof(*s->ranks));
	s->counts = calloc(n, sizeof(*s->counts));
	if (!order || !s->sorted || !s->ranks || !s->counts) {
		free(order);
		return -ENOMEM;
	}
	for (uint64_t i = 0; i < n; i++)
		order[i] = (struct ranked){values[i], i};
	qsort(order, n, sizeof(*order), compare_ranked);
	for (uint64_t i = 0; i < n; i++) {
		s->sorted[i] = order[i].value;
		s->ranks[order[i].at] = (uint32_t)i;
	}
	free(order);
	return 0;
}

/* The value of rank ceil(n / 2), as sp_step_stats() has it. */
static double median(const struct series *s)
{
	size_t middle = (s->n - 1) / 2;

	return (double)s->sorted[middle];
}

/* splitmix64 (Steele, Lea, Flood, 2014): short, and the same everywhere. */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

static double resampled_median(const struct series *s, uint64_t *state)
{
	uint64_t left = s->n, below = 0, rank = 0;

	memset(s->counts, 0, s->n * sizeof(*s->counts));
	while (left) {
		uint64_t at = draw(state) % s->n;

		for (uint64_t i = 0; i < s->block && left; i++, left--)
			s->counts[s->ranks[(at + i) % s->n]]++;
	}
	while (below + s->counts[rank] < (s->n + 1) / 2)
		below += s->counts[rank++];
	return (double)s->sorted[rank];
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static uint64_t resamples_for(uint64_t draws)
{
	uint64_t n = DRAWS_MAX / draws;

	return n < RESAMPLES_MIN ? RESAMPLES_MIN : n > RESAMPLES_MAX ? RESAMPLES_MAX : n;
}

static int interval(const struct series *first, const struct series *second, struct sp_ratio *ret)
{
	uint64_t n = resamples_for(first->n + second->n), state = SEED;
	double *ratios = calloc(n, sizeof(*ratios));

	if (!ratios)
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++) {
		double below = resampled_median(first, &state);

		ratios[i] = resampled_median(second, &state) / (below > 0 ? below : 1);
	}
	qsort(ratios, n, sizeof(*ratios), compare_doubles);
	ret->low = ratios[n / 40];
	ret->high = ratios[n - 1 - n / 40];
	free(ratios);
	return 0;
}

int sp_ratio_of_medians(const uint64_t *first, uint64_t first_count, const uint64_t *second,
			uint64_t second_count, struct sp_ratio *ret)
{
	struct series a = {.n = 0}, b = {.n = 0};
	int r;

	if (first_count < SP_COMPARED_STEPS_MIN || second_count < SP_COMPARED_STEPS_MIN ||
	    first_count > UINT32_MAX || second_count > UINT32_MAX)
		return -EINVAL;
	r = series_init(&a, first, first_count);
	if (r == 0)
		r = series_init(&b, second, second_count);
	if (r == 0 && (median(&a) <= 0 || median(&b) <= 0))
		r = -EINVAL;
	if (r == 0) {
		ret->value = median(&b) / median(&a);
		r = interval(&a, &b, ret);
	}
	series_finish(&a);
	series_finish(&b);
	return r;
}
