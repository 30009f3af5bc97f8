/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/ranks/rank_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/jobs.h"
#include "analyzer/base/select.h"

static int subtract_column(const struct sp_step_series *series, uint32_t block,
			   enum sp_series_column column, int64_t *from)
{
	int64_t values[SP_SERIES_STEPS];
	int r = sp_series_column(series, block, column, values);

	for (uint32_t i = 0; r == 0 && i < series->blocks[block].steps; i++)
		from[i] -= values[i];
	return r;
}

static int host_time_of(const struct sp_step_series *series, uint32_t block, int64_t *ret)
{
	int r = sp_series_column(series, block, SP_SERIES_WALL, ret);

	if (r == 0)
		r = subtract_column(series, block, SP_SERIES_PHASE + SP_ACCOUNT_grad_sync, ret);
	if (r == 0)
		r = subtract_column(series, block, SP_SERIES_PHASE + SP_ACCOUNT_sync_wait, ret);
	return r;
}

static int values_of(const struct sp_step_series *series, uint32_t block, int value, int64_t *ret)
{
	int r;

	if (value == SP_RANK_LATENESS) {
		memset(ret, 0, SP_SERIES_STEPS * sizeof(*ret));
		return subtract_column(series, block, SP_SERIES_STAY, ret);
	}
	if (value < SP_SERIES_COLUMNS)
		return sp_series_column(series, block, (enum sp_series_column)value, ret);
	r = host_time_of(series, block, ret);
	if (r == 0 && value == SP_RANK_OUTSIDE_BACKWARD)
		r = subtract_column(series, block, SP_SERIES_PHASE + SP_ACCOUNT_backward, ret);
	return r;
}

/* The block of this number; series->block_count where there is none. */
static uint32_t find_block(const struct sp_step_series *series, uint32_t number)
{
	uint32_t low = 0, high = series->block_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (series->blocks[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < series->block_count && series->blocks[low].number == number
		       ? low
		       : series->block_count;
}

/* One past the last step that lies in the block of step `from`. */
static uint32_t end_of_block(const struct sp_rank_table *t, uint32_t from)
{
	uint32_t i = from;

	while (i < t->step_count &&
	       t->steps[i] / SP_SERIES_STEPS == t->steps[from] / SP_SERIES_STEPS)
		i++;
	return i;
}

/* Steps [from, to), which lie in one block; each value goes to ret[i * stride]. */
static int stretch_of(const struct sp_rank_table *t, uint32_t rank, int value, uint32_t from,
		      uint32_t to, int64_t *ret, size_t stride)
{
	const struct sp_step_series *series = t->series[rank];
	uint32_t block = find_block(series, t->steps[from] / SP_SERIES_STEPS), at = 0;
	int64_t numbers[SP_SERIES_STEPS], values[SP_SERIES_STEPS];

	if (block == series->block_count ||
	    sp_series_column(series, block, SP_SERIES_NUMBER, numbers) < 0 ||
	    values_of(series, block, value, values) < 0)
		return -EBADMSG;
	for (uint32_t i = from; i < to; i++) {
		while (at < series->blocks[block].steps &&
		       numbers[at] < t->steps[i] % SP_SERIES_STEPS)
			at++;
		if (at == series->blocks[block].steps)
			return -EBADMSG;
		ret[(i - from) * stride] = values[at];
	}
	return 0;
}

int sp_rank_series(const struct sp_rank_table *t, uint32_t rank, int value, int64_t *ret)
{
	int r = 0;

	for (uint32_t from = 0, to; r == 0 && from < t->step_count; from = to) {
		to = end_of_block(t, from);
		r = stretch_of(t, rank, value, from, to, ret + from, 1);
	}
	return r;
}

struct ordering {
	const struct sp_rank_table *table;
	int value;
	struct sp_rank_order *orders;
	uint32_t *begins;  /* of blocks, by step */
	int64_t **squares; /* by worker: the ranks of each step of a block */
};

static struct sp_rank_order order_of(int64_t *row, uint32_t n)
{
	uint32_t low = (n - 2) / 2;
	struct sp_rank_order order = {.greatest = row[0]};

	for (uint32_t k = 1; k < n; k++)
		if (row[k] >= order.greatest) {
			order.greatest = row[k];
			order.last = k;
		}
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t at = low + i;

		order.around[i] = at >= n  ? order.greatest
				  : i == 0 ? sp_select(row, n, at)
					   : sp_select(row + at, n - at, 0);
	}
	return order;
}

static int order_block(void *context, unsigned worker, uint32_t i)
{
	struct ordering *o = context;
	const struct sp_rank_table *t = o->table;
	uint32_t from = o->begins[i], to = o->begins[i + 1];
	int64_t **square = &o->squares[worker];
	int r = 0;

	if (!*square)
		*square = malloc((size_t)t->count * SP_SERIES_STEPS * sizeof(**square));
	if (!*square)
		return -ENOMEM;
	for (uint32_t k = 0; r == 0 && k < t->count; k++)
		r = stretch_of(t, k, o->value, from, to, *square + k, t->count);
	for (uint32_t s = from; r == 0 && s < to; s++)
		o->orders[s] = order_of(*square + (size_t)(s - from) * t->count, t->count);
	return r;
}

static uint32_t list_blocks(struct ordering *o)
{
	uint32_t n = 0;

	for (uint32_t from = 0; from < o->table->step_count; from = end_of_block(o->table, from))
		o->begins[n++] = from;
	o->begins[n] = o->table->step_count;
	return n;
}

int sp_rank_orders(const struct sp_rank_table *t, int value, struct sp_rank_order *ret)
{
	struct ordering o = {.table = t, .value = value, .orders = ret};
	int r = -ENOMEM;

	o.begins = calloc(t->step_count + 1u, sizeof(*o.begins));
	o.squares = calloc(t->jobs, sizeof(*o.squares));
	if (o.begins && o.squares)
		r = sp_jobs_run(t->jobs, list_blocks(&o), order_block, &o);
	for (unsigned i = 0; o.squares && i < t->jobs; i++)
		free(o.squares[i]);
	free(o.squares);
	free(o.begins);
	return r;
}

int64_t sp_rank_median_of_others(const struct sp_rank_order *order, uint32_t ranks, int64_t value)
{
	unsigned high = (ranks - 1) / 2 - (ranks - 2) / 2;
	int64_t a = order->around[value <= order->around[0]];
	int64_t b = order->around[high + (value <= order->around[high])];

	return a + (b - a) / 2;
}
