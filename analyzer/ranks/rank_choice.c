/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/ranks/rank_choice.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/each.h"
#include "analyzer/base/order.h"
#include "analyzer/base/select.h"
#include "analyzer/ranks/rank.h"
#include "analyzer/training/training.h"

#define LIKE_SHARE 0.1 /* ranks of a job last equally long, within this share */

/* A rank of the list. */
struct candidate {
	struct sp_rank *rank;
	uint64_t number, world; /* as in the header */
	uint32_t steps;
	int64_t from_us, to_us; /* the begin of its first and of its last step */
	uint32_t attempt;	/* candidates whose times touch have the same */
};

struct choice {
	struct candidate *list;
	uint32_t count;
	int64_t *values; /* as many */
};

static int fill(struct candidate *c, const struct sp_training *training, struct sp_rank *rank)
{
	const struct sp_trainer *t = &training->trainers[rank->trainer];
	const struct sp_process_image *image = sp_trainer_image(training, rank->trainer);
	int64_t starts[SP_SERIES_STEPS];
	uint32_t last = t->series.block_count - 1;

	*c = (struct candidate){.rank = rank,
				.number = image->rank,
				.world = image->world_size,
				.steps = t->series.steps};
	if (t->series.block_count == 0)
		return 0;
	if (sp_series_column(&t->series, last, SP_SERIES_START, starts) < 0)
		return -EBADMSG;
	c->from_us = t->series.blocks[0].start_us;
	c->to_us = starts[t->series.blocks[last].steps - 1] / 1000;
	return 0;
}

static void exclude(struct candidate *c, enum sp_rank_exclusion why)
{
	if (c->rank->exclusion == SP_RANK_COMPARED)
		c->rank->exclusion = why;
}

static bool is_left(const struct candidate *c)
{
	return c->rank->exclusion == SP_RANK_COMPARED;
}

SP_ORDER(compare_worlds, struct candidate, SP_UP(world) ?: SP_UP(rank))

SP_ORDER(compare_starts, struct candidate, SP_UP(from_us) ?: SP_UP(rank))

SP_ORDER(compare_ranks, struct candidate, SP_UP(rank))

/* The world that most ranks say they are of is the job. */
static void choose_world(struct choice *c)
{
	uint32_t best = 0, most = 0;

	qsort(c->list, c->count, sizeof(*c->list), compare_worlds);
	for (uint32_t i = 0, from = 0; i < c->count; i++) {
		from = c->list[i].world == c->list[from].world ? from : i;
		if (i - from + 1 > most) {
			most = i - from + 1;
			best = from;
		}
	}
	for (uint32_t i = 0; i < c->count; i++)
		if (c->list[i].world != c->list[best].world)
			exclude(&c->list[i], SP_RANK_OTHER_WORLD);
}

/* Candidates whose times touch, directly or by others, are one attempt at the job. Returns the
 * attempt of most ranks. */
static uint32_t find_attempts(struct choice *c)
{
	uint32_t attempt = 0, best = 0, count = 0, most = 0;
	int64_t end_us = INT64_MIN;

	qsort(c->list, c->count, sizeof(*c->list), compare_starts);
	for (uint32_t i = 0; i < c->count; i++) {
		struct candidate *one = &c->list[i];

		if (!is_left(one))
			continue;
		if (end_us != INT64_MIN && one->from_us > end_us) {
			attempt++;
			count = 0;
		}
		end_us = one->to_us > end_us ? one->to_us : end_us;
		one->attempt = attempt;
		if (++count > most) {
			most = count;
			best = attempt;
		}
	}
	return best;
}

/* Half of the ranks of the best attempt last longer, half shorter. */
static int64_t usual_span(struct choice *c, uint32_t best)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->count; i++)
		if (is_left(&c->list[i]) && c->list[i].attempt == best)
			c->values[n++] = c->list[i].to_us - c->list[i].from_us;
	return sp_select_percentile(c->values, n, 50);
}

static bool is_of_attempt(const struct choice *c, uint64_t number, uint32_t attempt)
{
	return SP_ANY(i, c->count,
		      is_left(&c->list[i]) && c->list[i].attempt == attempt &&
			      c->list[i].number == number);
}

/*
 * Another attempt at the job is not compared with the best one. A rank that the best attempt lacks
 * may have a wrong clock: it is of the attempt if it lasts as long.
 */
static void choose_attempt(struct choice *c)
{
	uint32_t best = find_attempts(c);
	int64_t span = usual_span(c, best);

	for (uint32_t i = 0; i < c->count; i++) {
		struct candidate *one = &c->list[i];
		int64_t off = one->to_us - one->from_us - span;

		if (!is_left(one) || one->attempt == best)
			continue;
		if (!one->number || is_of_attempt(c, one->number, best) ||
		    (double)llabs(off) > LIKE_SHARE * (double)span)
			exclude(one, SP_RANK_OTHER_TIME);
	}
}

/* Keeps the trainer with the most steps where a rank has several. */
static void choose_longest(struct choice *c)
{
	qsort(c->list, c->count, sizeof(*c->list), compare_ranks); /* by number */
	for (uint32_t i = 0, best = 0; i < c->count; i++) {
		struct candidate *one = &c->list[i];

		if (!is_left(&c->list[best]) || !one->number ||
		    one->number != c->list[best].number) {
			best = i;
		} else if (i != best && is_left(one)) {
			bool is_longer = one->steps > c->list[best].steps;

			exclude(is_longer ? &c->list[best] : one, SP_RANK_SHORTER);
			best = is_longer ? i : best;
		}
	}
}

/* A rank that took few of the steps would leave few to compare. */
static void choose_steps(struct choice *c)
{
	uint32_t n = 0;
	int64_t usual;

	for (uint32_t i = 0; i < c->count; i++)
		if (is_left(&c->list[i]))
			c->values[n++] = c->list[i].steps;
	usual = sp_select_percentile(c->values, n, 50);
	for (uint32_t i = 0; n > 2 && i < c->count; i++) {
		int64_t steps = c->list[i].steps;

		if (2 * steps < usual)
			exclude(&c->list[i], SP_RANK_FEW_STEPS);
		c->list[i].rank->has_many_steps = steps > 2 * usual;
	}
}

int sp_ranks_choose(struct sp_ranks *ranks, const struct sp_training *training)
{
	struct choice c = {.list = calloc(ranks->count + 1u, sizeof(*c.list)),
			   .count = ranks->count,
			   .values = calloc(ranks->count + 1u, sizeof(*c.values))};
	int r = c.list && c.values ? 0 : -ENOMEM;

	for (uint32_t i = 0; r == 0 && i < ranks->count; i++)
		r = fill(&c.list[i], training, &ranks->list[i]);
	if (r == 0) {
		choose_world(&c);
		choose_attempt(&c);
		choose_longest(&c);
		choose_steps(&c);
	}
	for (uint32_t i = 0; r == 0 && i < ranks->count; i++)
		ranks->list[i].is_compared = ranks->list[i].exclusion == SP_RANK_COMPARED;
	free(c.list);
	free(c.values);
	return r;
}
