/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/ranks/rank_peers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analyzer/base/select.h"

#define TOGETHER_SHARE 0.02 /* of a step */
#define APART_TIMES 4
#define SPREAD_PERCENTILE 75
#define PAIRS_MAX 256u	     /* that a division is tried with */
#define WORLD_MAX (1u << 20) /* a hostile header claims any */

struct peer_search {
	const struct sp_rank_table *table;
	const uint64_t *numbers;
	uint64_t world;
	int64_t most_ns;  /* peers leave together within this */
	uint32_t steps;	  /* looked at */
	int64_t *lefts;	  /* by rank: as many instants */
	uint32_t *leader; /* by group: a rank of it; UINT32_MAX: none yet */
};

static int read_lefts(struct peer_search *s)
{
	uint32_t n = s->table->step_count;
	int64_t *values = calloc(n + 1u, sizeof(*values));
	int r = values ? 0 : -ENOMEM;

	for (uint32_t k = 0; r == 0 && k < s->table->count; k++) {
		r = sp_rank_series(s->table, k, SP_SERIES_LEFT, values);
		for (uint32_t i = 0; r == 0 && i < s->steps; i++)
			s->lefts[(size_t)k * s->steps + i] = values[(uint64_t)i * n / s->steps];
	}
	free(values);
	return r;
}

/* Wraps where hostile times are far apart. */
static int64_t difference(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* How far apart two ranks leave beyond the usual distance of their clocks, in most steps. */
static int64_t spread_of(const struct peer_search *s, uint32_t a, uint32_t b)
{
	const int64_t *x = s->lefts + (size_t)a * s->steps, *y = s->lefts + (size_t)b * s->steps;
	int64_t sorted[SP_PEER_STEPS], median;

	for (uint32_t i = 0; i < s->steps; i++)
		sorted[i] = difference(x[i], y[i]);
	median = sp_select_percentile(sorted, s->steps, 50);
	for (uint32_t i = 0; i < s->steps; i++) {
		int64_t value = difference(x[i], y[i]);
		uint64_t off = value > median ? (uint64_t)value - (uint64_t)median
					      : (uint64_t)median - (uint64_t)value;

		sorted[i] = off < INT64_MAX ? (int64_t)off : INT64_MAX;
	}
	return sp_select_percentile(sorted, s->steps, SPREAD_PERCENTILE);
}

static void find_leaders(struct peer_search *s, const struct sp_rank_division *d, uint64_t groups)
{
	for (uint64_t g = 0; g < groups; g++)
		s->leader[g] = UINT32_MAX;
	for (uint32_t k = s->table->count; k > 0; k--)
		s->leader[sp_rank_peers_of(d, s->numbers[k - 1])] = k - 1;
}

/* The greatest spread of a rank from the first of its group; -1: too great, or no pair. */
static int64_t spread_within(const struct peer_search *s, const struct sp_rank_division *d)
{
	uint32_t every = s->table->count / PAIRS_MAX + 1;
	int64_t greatest = -1;

	for (uint32_t k = 0; k < s->table->count; k += every) {
		uint32_t leader = s->leader[sp_rank_peers_of(d, s->numbers[k])];
		int64_t spread;

		/* Neighbours of the sample may all be first. */
		if (leader == k)
			continue;
		spread = spread_of(s, k, leader);
		if (spread > s->most_ns)
			return -1;
		greatest = spread > greatest ? spread : greatest;
	}
	return greatest;
}

/* True where the groups leave apart from each other, by far more than their own ranks. A group
 * without a rank in the table says nothing: its neighbours are compared with each other. */
static bool is_apart(const struct peer_search *s, uint64_t groups, int64_t within)
{
	uint64_t every = groups / PAIRS_MAX + 1, pairs = 0;
	uint32_t before = UINT32_MAX;

	for (uint64_t g = 0; g < groups; g++) {
		uint32_t leader = s->leader[g];

		if (leader == UINT32_MAX)
			continue;
		/* Instants are whole microseconds. */
		if (before != UINT32_MAX && pairs++ % every == 0 &&
		    spread_of(s, before, leader) / APART_TIMES <= within + 1000)
			return false;
		before = leader;
	}
	return pairs > 0;
}

static bool holds(struct peer_search *s, const struct sp_rank_division *d)
{
	uint64_t groups = s->world / d->block * d->stride;
	int64_t within;

	find_leaders(s, d, groups);
	within = spread_within(s, d);
	return within >= 0 && is_apart(s, groups, within);
}

/* Larger groups come first: a part of a group does not leave apart from its other part. */
static void try_all(struct peer_search *s, struct sp_rank_division *ret)
{
	for (uint64_t size = s->world / 2; size >= 2; size--) {
		if (s->world % size)
			continue;
		for (uint64_t stride = 1; stride * size <= s->world; stride++) {
			struct sp_rank_division d = {size * stride, stride};

			if (s->world % d.block == 0 && holds(s, &d)) {
				*ret = d;
				return;
			}
		}
	}
}

int sp_rank_peers_find(const struct sp_rank_table *table, const uint64_t *numbers, uint64_t world,
		       uint64_t wall_ns, struct sp_rank_division *ret)
{
	struct peer_search s = {.table = table,
				.numbers = numbers,
				.world = world,
				.most_ns = (int64_t)(TOGETHER_SHARE * (double)wall_ns)};
	int r;

	*ret = (struct sp_rank_division){.block = 0};
	if (table->count < 4 || world < 4 || world > WORLD_MAX ||
	    table->step_count < SP_PEER_STEPS_MIN)
		return 0;
	s.steps = table->step_count < SP_PEER_STEPS ? table->step_count : SP_PEER_STEPS;
	s.lefts = calloc((size_t)table->count * s.steps, sizeof(*s.lefts));
	s.leader = calloc(world, sizeof(*s.leader));
	r = s.lefts && s.leader ? read_lefts(&s) : -ENOMEM;
	if (r == 0)
		try_all(&s, ret);
	free(s.lefts);
	free(s.leader);
	return r;
}
