/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/ranks/ranks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/jobs.h"
#include "analyzer/base/order.h"
#include "analyzer/base/select.h"
#include "analyzer/ranks/rank_choice.h"
#include "analyzer/ranks/rank_heat.h"
#include "analyzer/ranks/rank_order.h"
#include "analyzer/ranks/rank_places.h"
#include "analyzer/training/training.h"

struct rank_comparison {
	const struct sp_training *training;
	struct sp_ranks *ranks;
	uint32_t *at; /* indices into ranks->list of those compared */
	struct sp_rank_table table;
	int lateness;		      /* enum sp_rank_value */
	struct sp_rank_order *orders; /* of the lateness, by step */
	struct sp_rank_order *phase_orders;
	int64_t **values; /* by worker: two times as many as steps */
};

static const struct sp_step_series *series_of(const struct rank_comparison *c, uint32_t k)
{
	return &c->training->trainers[c->ranks->list[c->at[k]].trainer].series;
}

/* The number of a rank, then the order of trainers; ranks without a number come last. */
static uint64_t place_of(const struct sp_training *training, const struct sp_rank *rank)
{
	uint64_t number = sp_trainer_image(training, rank->trainer)->rank;

	return number ? number : UINT64_MAX;
}

SP_ORDER_IN(compare_places, struct sp_rank, struct sp_training,
	    SP_COMPARE(place_of(in, x), place_of(in, y)) ?: SP_UP(trainer))

static void list_ranks(struct sp_ranks *ranks, const struct sp_training *training)
{
	for (uint32_t t = 0; t < training->count; t++)
		ranks->list[ranks->count++] = (struct sp_rank){.trainer = t};
	qsort_r(ranks->list, ranks->count, sizeof(*ranks->list), compare_places, (void *)training);
}

static int choose_compared(struct rank_comparison *c)
{
	struct sp_ranks *ranks = c->ranks;
	int r = sp_ranks_choose(ranks, c->training);

	for (uint32_t i = 0; r == 0 && i < ranks->count; i++) {
		if (!ranks->list[i].is_compared)
			continue;
		c->at[ranks->compared] = i;
		c->table.series[ranks->compared++] =
			&c->training->trainers[ranks->list[i].trainer].series;
	}
	c->table.count = ranks->compared;
	return r;
}

/* How many ranks have a step. */
struct presence {
	uint32_t number, ranks, with_collective;
};

/* The steps of the first rank: only they can be of all ranks. */
static int list_steps(const struct sp_step_series *series, struct presence *ret)
{
	int64_t numbers[SP_SERIES_STEPS];
	uint32_t n = 0;

	for (uint32_t b = 0; b < series->block_count; b++) {
		if (sp_series_column(series, b, SP_SERIES_NUMBER, numbers) < 0)
			return -EBADMSG;
		for (uint32_t i = 0; i < series->blocks[b].steps; i++)
			ret[n++].number =
				series->blocks[b].number * SP_SERIES_STEPS + (uint32_t)numbers[i];
	}
	return 0;
}

static int count_steps(const struct sp_step_series *series, struct presence *list, uint32_t n)
{
	int64_t numbers[SP_SERIES_STEPS], stays[SP_SERIES_STEPS];
	uint32_t at = 0;

	for (uint32_t b = 0; b < series->block_count; b++) {
		if (sp_series_column(series, b, SP_SERIES_NUMBER, numbers) < 0 ||
		    sp_series_column(series, b, SP_SERIES_STAY, stays) < 0)
			return -EBADMSG;
		for (uint32_t i = 0; i < series->blocks[b].steps; i++) {
			uint32_t number =
				series->blocks[b].number * SP_SERIES_STEPS + (uint32_t)numbers[i];

			while (at < n && list[at].number < number)
				at++;
			if (at == n || list[at].number != number)
				continue;
			list[at].ranks++;
			list[at].with_collective += stays[i] >= 0;
		}
	}
	return 0;
}

/* Steps of the same number are taken together. Those with a collective show more, where most have
 * one. */
static void keep_steps(struct rank_comparison *c, const struct presence *list, uint32_t count)
{
	struct sp_ranks *ranks = c->ranks;
	uint32_t n = 0, with = 0;

	for (uint32_t i = 0; i < count; i++) {
		n += list[i].ranks == ranks->compared;
		with += list[i].with_collective == ranks->compared;
	}
	ranks->by_collectives = with && with >= n / 2;
	for (uint32_t i = 0; i < count; i++)
		if ((ranks->by_collectives ? list[i].with_collective : list[i].ranks) ==
		    ranks->compared)
			ranks->steps[ranks->step_count++] = list[i].number;
}

static int choose_steps(struct rank_comparison *c)
{
	uint32_t n = c->table.count ? series_of(c, 0)->steps : 0;
	struct presence *list = calloc(n + 1u, sizeof(*list));
	int r = list ? 0 : -ENOMEM;

	c->ranks->steps = calloc(n + 1u, sizeof(*c->ranks->steps));
	if (!c->ranks->steps)
		r = -ENOMEM;
	if (r == 0 && n)
		r = list_steps(series_of(c, 0), list);
	for (uint32_t k = 0; r == 0 && k < c->ranks->compared; k++)
		r = count_steps(series_of(c, k), list, n);
	if (r == 0)
		keep_steps(c, list, n);
	free(list);
	c->table.steps = c->ranks->steps;
	c->table.step_count = c->ranks->step_count;
	c->lateness = c->ranks->by_collectives ? SP_RANK_LATENESS : SP_RANK_OUTSIDE_BACKWARD;
	return r;
}

/* All hosts leave a collective at once: the median difference of their clocks then is what one is
 * ahead. */
static int refine_clocks(struct rank_comparison *c)
{
	const struct sp_rank *first = &c->ranks->list[c->at[0]];
	int64_t *own = c->values[0], *others = own + c->table.step_count;
	int r = 0;

	if (c->ranks->by_collectives)
		r = sp_rank_series(&c->table, 0, SP_SERIES_LEFT, others);
	for (uint32_t k = 1; r == 0 && c->ranks->by_collectives && k < c->ranks->compared; k++) {
		struct sp_rank *rank = &c->ranks->list[c->at[k]];

		if (sp_trainer_image(c->training, rank->trainer)->host ==
		    sp_trainer_image(c->training, first->trainer)->host)
			continue;
		r = sp_rank_series(&c->table, k, SP_SERIES_LEFT, own);
		for (uint32_t i = 0; r == 0 && i < c->table.step_count; i++)
			own[i] = (int64_t)((uint64_t)own[i] - (uint64_t)others[i]);
		rank->clock_ahead_ns = sp_select_percentile(own, c->table.step_count, 50);
	}
	return r;
}

static int measure_rank(void *context, unsigned worker, uint32_t k)
{
	struct rank_comparison *c = context;
	struct sp_rank *rank = &c->ranks->list[c->at[k]];
	uint32_t n = c->table.step_count;
	int64_t *values = c->values[worker];
	int r = sp_rank_series(&c->table, k, SP_SERIES_WALL, values);

	rank->wall_p50_ns = (uint64_t)sp_select_percentile(values, n, 50);
	if (r == 0)
		r = sp_rank_series(&c->table, k, SP_SERIES_PHASE + SP_ACCOUNT_loader_wait, values);
	rank->loader_p50_ns = (uint64_t)sp_select_percentile(values, n, 50);
	return r;
}

/* Replaces each value of a rank by how far it is above the median of the others. */
static void take_excess(const struct rank_comparison *c, const struct sp_rank_order *orders,
			int64_t *values)
{
	for (uint32_t i = 0; i < c->table.step_count; i++)
		values[i] -= sp_rank_median_of_others(&orders[i], c->table.count, values[i]);
}

/* How many values of the stretch are above 0. */
static uint32_t count_late(const int64_t *values, uint32_t from, uint32_t to)
{
	uint32_t late = 0;

	for (uint32_t i = from; i < to; i++)
		late += values[i] > 0;
	return late;
}

/*
 * The stretch in which a rank is late beyond half of the limit, most of all: the greatest sum of
 * neighbours, where one long step counts as little as it may.
 */
static void find_stretch(struct sp_rank *rank, const int64_t *values, uint32_t n)
{
	int64_t limit = (int64_t)(SP_STRAGGLER_SHARE * (double)rank->wall_p50_ns);
	int64_t sum = 0, greatest = 0;
	uint32_t from = 0;

	for (uint32_t i = 0; i < n; i++) {
		int64_t x = values[i] > 2 * limit ? 2 * limit : values[i];

		sum += (x < -limit ? -limit : x) - limit / 2;
		if (sum <= 0) {
			sum = 0;
			from = i + 1;
		} else if (sum > greatest) {
			greatest = sum;
			rank->late_from = from;
			rank->late_to = i + 1;
		}
	}
}

/* Values are of all steps; afterwards their order is lost. */
static void judge_stretch(struct sp_rank *rank, int64_t *values, uint32_t n)
{
	uint32_t length, late;

	find_stretch(rank, values, n);
	length = rank->late_to - rank->late_from;
	late = count_late(values, rank->late_from, rank->late_to);
	if (rank->is_straggler && 3 * (uint64_t)length < 2 * (uint64_t)n) {
		rank->late_from = 0;
		rank->late_to = n;
	} else if (!rank->is_straggler &&
		   (length < SP_RANKS_STEPS_MIN || length < SP_STRETCH_SHARE * n ||
		    late < SP_STRETCH_LATE_SHARE * length)) {
		return;
	}
	length = rank->late_to - rank->late_from;
	rank->late_p50_ns = sp_select_percentile(values + rank->late_from, length, 50);
	rank->is_straggler |=
		(double)rank->late_p50_ns >= SP_STRAGGLER_SHARE * (double)rank->wall_p50_ns;
}

/* How late the rank is in the steps in which it is latest; their order is lost. */
static void find_late_steps(struct sp_rank *rank, int64_t *values, uint32_t n)
{
	uint32_t late = 0;

	if (n < SP_RANKS_STEPS_MIN)
		return;
	rank->late_least_ns = sp_select(values, n, n - SP_RANKS_STEPS_MIN) / 2;
	for (uint32_t i = 0; i < n; i++)
		if (values[i] >= rank->late_least_ns)
			values[late++] = values[i];
	rank->late_steps = late;
	rank->late_steps_p50_ns = sp_select_percentile(values, late, 50);
}

/* Values are of all steps. */
static void keep_lateness(const struct rank_comparison *c, const struct sp_rank *rank,
			  const int64_t *values)
{
	uint32_t n = c->table.step_count;
	float *ret;

	if (!c->ranks->lateness)
		return;
	ret = c->ranks->lateness + (size_t)(rank - c->ranks->list) * SP_HEAT_COLUMNS;
	for (uint32_t column = 0; column < sp_heat_columns(n); column++) {
		uint32_t from = sp_heat_from(column, n), to = sp_heat_from(column + 1, n);
		double sum = 0;

		for (uint32_t i = from; i < to; i++)
			sum += (double)values[i];
		ret[column] = (float)(sum / (to - from));
	}
}

static int judge_rank(void *context, unsigned worker, uint32_t k)
{
	struct rank_comparison *c = context;
	struct sp_rank *rank = &c->ranks->list[c->at[k]];
	uint32_t n = c->table.step_count, late;
	int64_t *values = c->values[worker], *copy = values + n;
	int r = sp_rank_series(&c->table, k, c->lateness, values);

	if (r < 0)
		return r;
	rank->last_in = 0;
	for (uint32_t i = 0; i < n; i++) {
		copy[i] = c->orders[i].greatest - values[i];
		rank->last_in += c->orders[i].last == k;
	}
	rank->wait_p50_ns = (uint64_t)sp_select_percentile(copy, n, 50);
	take_excess(c, c->orders, values);
	keep_lateness(c, rank, values);
	late = count_late(values, 0, n);
	memcpy(copy, values, n * sizeof(*copy));
	rank->behind_p50_ns = sp_select_percentile(copy, n, 50);
	rank->is_straggler =
		n >= SP_RANKS_STEPS_MIN && 3 * (uint64_t)late >= 2 * (uint64_t)n &&
		(double)rank->behind_p50_ns >= SP_STRAGGLER_SHARE * (double)rank->wall_p50_ns;
	memcpy(copy, values, n * sizeof(*copy));
	find_late_steps(rank, copy, n);
	judge_stretch(rank, values, n);
	return 0;
}

/* The rank with the greatest delay in its late steps, and that of the next one. */
static struct sp_rank *find_latest(const struct rank_comparison *c, int64_t *ret_next_ns)
{
	struct sp_rank *latest = NULL;

	*ret_next_ns = 0;
	for (uint32_t k = 0; k < c->table.count; k++) {
		struct sp_rank *rank = &c->ranks->list[c->at[k]], *less = rank;

		if (!latest || rank->late_steps_p50_ns > latest->late_steps_p50_ns) {
			less = latest;
			latest = rank;
		}
		if (less && less->late_steps_p50_ns > *ret_next_ns)
			*ret_next_ns = less->late_steps_p50_ns;
	}
	return latest;
}

/* A rank that is far later in some steps than any other is, so that all lose time by it: more than
 * by what it is late in most steps. */
static void judge_now_and_then(struct rank_comparison *c)
{
	uint32_t n = c->table.step_count, late_steps;
	int64_t next_ns;
	struct sp_rank *latest = find_latest(c, &next_ns);
	bool is_only = c->ranks->by_collectives && latest->late_least_ns > 0;
	double lost_ns;

	late_steps = latest->late_steps;
	for (uint32_t k = 0; k < c->table.count; k++) {
		struct sp_rank *rank = &c->ranks->list[c->at[k]];

		is_only &= rank == latest || !rank->is_straggler;
		rank->late_steps = 0;
	}
	lost_ns = (double)late_steps * (double)latest->late_steps_p50_ns;
	is_only &= !latest->is_straggler || lost_ns > (double)latest->late_p50_ns * (double)n;
	if (!is_only || latest->late_steps_p50_ns <= SP_NOW_AND_THEN_TIMES * next_ns ||
	    lost_ns < SP_STRAGGLER_SHARE * (lost_ns + (double)n * (double)latest->wall_p50_ns))
		return;
	latest->is_straggler = true;
	latest->late_steps = late_steps;
	latest->late_from = 0;
	latest->late_to = n;
	latest->late_p50_ns = latest->late_steps_p50_ns;
}

/* The cause of a straggler is the phase in which its excess over the others is greatest; this
 * weighs one phase against those before it. */
static int weigh_phase(struct rank_comparison *c, uint32_t k, enum sp_account_phase phase)
{
	struct sp_rank *rank = &c->ranks->list[c->at[k]];
	int64_t *values = c->values[0], *late = values + c->table.step_count, ns;
	int r = sp_rank_series(&c->table, k, SP_SERIES_PHASE + phase, values);
	uint32_t n = 0;

	if (r == 0 && rank->late_steps)
		r = sp_rank_series(&c->table, k, c->lateness, late);
	if (r < 0)
		return r;
	take_excess(c, c->phase_orders, values);
	if (rank->late_steps)
		take_excess(c, c->orders, late);
	for (uint32_t i = rank->late_from; i < rank->late_to; i++)
		if (!rank->late_steps || late[i] >= rank->late_least_ns)
			values[n++] = values[i];
	ns = sp_select_percentile(values, n, 50);
	if (ns > rank->cause_p50_ns) {
		rank->cause = phase;
		rank->cause_p50_ns = ns;
	}
	return 0;
}

static int find_causes(struct rank_comparison *c)
{
	uint32_t stragglers = 0;
	int r = 0;

	for (uint32_t k = 0; k < c->table.count; k++)
		stragglers += c->ranks->list[c->at[k]].is_straggler;
	c->ranks->stragglers += stragglers;
	for (int phase = 0; stragglers && phase < SP_ACCOUNT_PHASES; phase++) {
		/* Backward holds the wait for the others, which is no cause, and so does a wait for
		 * a GPU that runs collectives. */
		if (phase == SP_ACCOUNT_backward || phase == SP_ACCOUNT_grad_sync ||
		    (phase == SP_ACCOUNT_sync_wait && !c->ranks->by_collectives))
			continue;
		r = sp_rank_orders(&c->table, SP_SERIES_PHASE + phase, c->phase_orders);
		for (uint32_t k = 0; r == 0 && k < c->table.count; k++)
			if (c->ranks->list[c->at[k]].is_straggler)
				r = weigh_phase(c, k, (enum sp_account_phase)phase);
		if (r < 0)
			return r;
	}
	return r;
}

/* Blames backward where no other phase has most of the delay. */
static void blame_backward(struct sp_rank *rank)
{
	if (!rank->is_straggler ||
	    (rank->cause_p50_ns && 2 * rank->cause_p50_ns >= rank->late_p50_ns))
		return;
	rank->cause = SP_ACCOUNT_backward;
	rank->cause_p50_ns = rank->late_p50_ns - rank->cause_p50_ns;
}

/* The greatest minus the least of all ranks, by step; least: room for as many. */
static int find_spread(struct rank_comparison *c, int value, int64_t *ret, int64_t *least)
{
	uint32_t n = c->table.step_count;
	int64_t *series = malloc((n + 1u) * sizeof(*series));
	int r = series ? 0 : -ENOMEM;

	for (uint32_t k = 0; r == 0 && k < c->table.count; k++) {
		int64_t ahead =
			value == SP_SERIES_START ? c->ranks->list[c->at[k]].clock_ahead_ns : 0;

		r = sp_rank_series(&c->table, k, value, series);
		for (uint32_t i = 0; r == 0 && i < n; i++) {
			int64_t x = (int64_t)((uint64_t)series[i] - (uint64_t)ahead);

			ret[i] = k == 0 || x > ret[i] ? x : ret[i];
			least[i] = k == 0 || x < least[i] ? x : least[i];
		}
	}
	for (uint32_t i = 0; i < n; i++)
		ret[i] = (int64_t)((uint64_t)ret[i] - (uint64_t)least[i]);
	free(series);
	return r;
}

static int measure_skew(struct rank_comparison *c)
{
	struct sp_ranks *ranks = c->ranks;
	uint32_t n = c->table.step_count;
	int64_t *values = c->values[0];
	int r = find_spread(c, SP_SERIES_PHASE + SP_ACCOUNT_loader_wait, values, values + n);

	ranks->loader_skew_p50_ns = (uint64_t)sp_select_percentile(values, n, 50);
	ranks->loader_skew_p95_ns = (uint64_t)sp_select_percentile(values, n, 95);
	if (r == 0)
		r = find_spread(c, SP_SERIES_START, values, values + n);
	ranks->start_skew_p50_ns = (uint64_t)sp_select_percentile(values, n, 50);
	ranks->start_skew_p95_ns = (uint64_t)sp_select_percentile(values, n, 95);
	return r;
}

static int make_room(struct rank_comparison *c)
{
	uint32_t n = c->table.step_count;

	c->orders = calloc(n + 1u, sizeof(*c->orders));
	c->phase_orders = calloc(n + 1u, sizeof(*c->phase_orders));
	c->values = calloc(c->table.jobs, sizeof(*c->values));
	if (!c->orders || !c->phase_orders || !c->values)
		return -ENOMEM;
	for (unsigned i = 0; i < c->table.jobs; i++) {
		c->values[i] = calloc(2u * n + 1u, sizeof(**c->values));
		if (!c->values[i])
			return -ENOMEM;
	}
	return 0;
}

/* The number of a compared rank, from 0; UINT64_MAX: it is not known, or beyond the world. */
static uint64_t number_of(const struct rank_comparison *c, uint32_t k, uint64_t world)
{
	const struct sp_process_image *image =
		sp_trainer_image(c->training, c->ranks->list[c->at[k]].trainer);

	return image->rank && image->rank <= world ? image->rank - 1 : UINT64_MAX;
}

static int find_peers(struct rank_comparison *c)
{
	const struct sp_rank *first = &c->ranks->list[c->at[0]];
	uint64_t world = sp_trainer_image(c->training, first->trainer)->world_size;
	uint64_t *numbers = calloc(c->table.count + 1u, sizeof(*numbers));
	bool are_known = c->ranks->by_collectives;
	int r = numbers ? 0 : -ENOMEM;

	for (uint32_t k = 0; r == 0 && k < c->table.count; k++) {
		numbers[k] = number_of(c, k, world);
		are_known &= numbers[k] != UINT64_MAX;
	}
	if (r == 0 && are_known)
		r = sp_rank_peers_find(&c->table, numbers, world, first->wall_p50_ns,
				       &c->ranks->division);
	free(numbers);
	return r;
}

static uint64_t peers_of(const struct rank_comparison *c, uint32_t i)
{
	const struct sp_process_image *process =
		sp_trainer_image(c->training, c->ranks->list[i].trainer);

	return sp_rank_peers_of(&c->ranks->division, process->rank - 1);
}

SP_ORDER_IN(compare_peers, uint32_t, struct rank_comparison,
	    SP_COMPARE(peers_of(in, *x), peers_of(in, *y)) ?: SP_COMPARE(*x, *y))

/* Peers lie together afterwards. */
static void sort_peers(struct rank_comparison *c)
{
	if (!c->ranks->division.block)
		return;
	qsort_r(c->at, c->table.count, sizeof(*c->at), compare_peers, c);
	for (uint32_t k = 0; k < c->table.count; k++)
		c->table.series[k] =
			&c->training->trainers[c->ranks->list[c->at[k]].trainer].series;
}

/* The ranks of the table are peers of each other. */
static int judge_peers(struct rank_comparison *c)
{
	uint32_t n = c->table.count;
	int r = n < 2 ? 0 : sp_rank_orders(&c->table, c->lateness, c->orders);

	if (n < 2)
		return 0;
	if (r == 0)
		r = sp_jobs_run(c->table.jobs, n, judge_rank, c);
	if (r == 0) {
		judge_now_and_then(c);
		r = find_causes(c);
	}
	for (uint32_t k = 0; r == 0 && k < n; k++)
		blame_backward(&c->ranks->list[c->at[k]]);
	return r;
}

static uint64_t peers_at(const struct rank_comparison *c, uint32_t k)
{
	return sp_rank_peers_of(
		&c->ranks->division,
		sp_trainer_image(c->training, c->ranks->list[c->at[k]].trainer)->rank - 1);
}

static int judge_all_peers(struct rank_comparison *c)
{
	uint32_t count = c->table.count;
	int r = 0;

	if (!c->ranks->division.block)
		return judge_peers(c);
	for (uint32_t from = 0, to; r == 0 && from < count; from = to) {
		struct rank_comparison part = *c;

		for (to = from + 1; to < count && peers_at(c, to) == peers_at(c, from); to++)
			;
		part.at = c->at + from;
		part.table.series = c->table.series + from;
		part.table.count = to - from;
		r = judge_peers(&part);
	}
	return r;
}

/* Collectives that are called and end unseen: those of NCCL. Backward on the host has no wait for
 * them. */
static bool calls_nccl(const struct rank_comparison *c)
{
	for (uint32_t k = 0; k < c->table.count; k++) {
		const struct sp_rank *rank = &c->ranks->list[c->at[k]];

		if (c->training->trainers[rank->trainer].steps.sources[SP_ACCOUNT_grad_sync] ==
		    SP_FROM_NOTHING)
			return false;
	}
	return !c->ranks->by_collectives;
}

static int compare_ranks(struct rank_comparison *c)
{
	uint32_t n = c->ranks->compared;
	int r = choose_steps(c);

	if (r < 0 || n == 0 || c->table.step_count == 0)
		return r;
	r = make_room(c);
	if (r == 0)
		r = sp_jobs_run(c->table.jobs, n, measure_rank, c);
	if (r < 0 || n < 2)
		return r;
	if (c->ranks->keeps_lateness) {
		c->ranks->lateness = calloc((size_t)c->ranks->count * SP_HEAT_COLUMNS,
					    sizeof(*c->ranks->lateness));
		if (!c->ranks->lateness)
			return -ENOMEM;
	}
	r = find_peers(c);
	if (r == 0 && !c->ranks->division.block)
		r = refine_clocks(c);
	sort_peers(c);
	if (r == 0)
		r = judge_all_peers(c);
	if (r == 0 && !c->ranks->stragglers && calls_nccl(c)) {
		c->ranks->by_host_time = true;
		c->lateness = SP_RANK_HOST_TIME;
		r = judge_peers(c);
	}
	if (r == 0)
		r = sp_rank_places_group(c->ranks, c->training);
	return r ? r : measure_skew(c);
}

static void comparison_finish(struct rank_comparison *c)
{
	for (unsigned i = 0; c->values && i < c->table.jobs; i++)
		free(c->values[i]);
	free(c->values);
	free(c->orders);
	free(c->phase_orders);
	free(c->table.series);
	free(c->at);
}

int sp_ranks_read(struct sp_ranks *ranks, const struct sp_training *training)
{
	struct rank_comparison c = {.training = training,
				    .ranks = ranks,
				    .table.jobs = training->run->jobs ? training->run->jobs : 1};
	int r = 0;

	*ranks = (struct sp_ranks){.list = calloc(training->count + 1u, sizeof(*ranks->list)),
				   .keeps_lateness = ranks->keeps_lateness};
	c.at = calloc(training->count + 1u, sizeof(*c.at));
	c.table.series = calloc(training->count + 1u, sizeof(*c.table.series));
	if (!ranks->list || !c.at || !c.table.series)
		r = -ENOMEM;
	if (r == 0) {
		list_ranks(ranks, training);
		r = choose_compared(&c);
	}
	if (r == 0)
		r = compare_ranks(&c);
	comparison_finish(&c);
	return r;
}

void sp_ranks_finish(struct sp_ranks *ranks)
{
	free(ranks->list);
	free(ranks->steps);
	free(ranks->lateness);
	*ranks = (struct sp_ranks){.list = NULL};
}
