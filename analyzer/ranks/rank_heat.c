/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/ranks/rank_heat.h"

#include <errno.h>
#include <float.h>
#include <stdlib.h>

#include "analyzer/base/each.h"
#include "analyzer/base/order.h"
#include "analyzer/ranks/rank_order.h"
#include "analyzer/training/training.h"

struct heat_maker {
	struct sp_rank_heat *heat;
	const struct sp_ranks *ranks;
	const struct sp_training *training;
	struct sp_rank_table table;
	uint32_t *at;		       /* of the compared ranks, into ranks->list */
	uint32_t *order;	       /* places in `at` */
	uint32_t *row[SP_HEAT_ORDERS]; /* of each compared rank */
	int64_t *values;	       /* of one rank, by step */
};

static const struct sp_process_image *image_of(const struct heat_maker *m, uint32_t k)
{
	return sp_trainer_image(m->training, m->ranks->list[m->at[k]].trainer);
}

SP_ORDER_IN(compare_hosts, uint32_t, struct heat_maker,
	    SP_COMPARE(image_of(in, *x)->host, image_of(in, *y)->host) ?: SP_COMPARE(*x, *y))

/* The median over the run of a rank that is late in a part of it may be 0. */
static int64_t late_ns(const struct sp_rank *rank)
{
	return rank->is_straggler ? rank->late_p50_ns : rank->behind_p50_ns;
}

static int64_t lateness_of(const struct heat_maker *m, uint32_t k)
{
	return late_ns(&m->ranks->list[m->at[k]]);
}

static bool is_straggler(const struct heat_maker *m, uint32_t k)
{
	return m->ranks->list[m->at[k]].is_straggler;
}

SP_ORDER_IN(compare_lateness, uint32_t, struct heat_maker,
	    SP_COMPARE(is_straggler(in, *y), is_straggler(in, *x))
	    ?: SP_COMPARE(lateness_of(in, *y), lateness_of(in, *x)) ?: SP_COMPARE(*x, *y))

static void make_rows(struct heat_maker *m, enum sp_heat_order order)
{
	static int (*const compares[SP_HEAT_ORDERS])(const void *, const void *, void *) = {
		[SP_HEAT_BY_HOST] = compare_hosts,
		[SP_HEAT_BY_LATENESS] = compare_lateness,
	};
	uint32_t n = m->table.count;

	for (uint32_t i = 0; i < n; i++)
		m->order[i] = i; /* the list is in the order of ranks */
	if (compares[order])
		qsort_r(m->order, n, sizeof(*m->order), compares[order], m);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = m->order[i];
		uint32_t r = (uint32_t)((uint64_t)i * m->heat->row_count / n);
		struct sp_heat_row *row = &m->heat->rows[order][r];

		m->row[order][k] = r;
		if (!row->ranks++)
			row->first = row->latest = m->at[k];
		if (lateness_of(m, k) > late_ns(&m->ranks->list[row->latest]))
			row->latest = m->at[k];
	}
}

static void put_cell(struct heat_maker *m, struct sp_heat_measure *measure, uint32_t k,
		     uint32_t column, float value)
{
	for (int order = 0; order < SP_HEAT_ORDERS; order++) {
		size_t at = (size_t)m->row[order][k] * m->heat->column_count + column;

		if (value > measure->cells[order][at])
			measure->cells[order][at] = value;
	}
	measure->low = value < measure->low ? value : measure->low;
	measure->high = value > measure->high ? value : measure->high;
}

static float mean_of(const int64_t *values, uint32_t from, uint32_t to)
{
	double sum = 0;

	for (uint32_t i = from; i < to; i++)
		sum += (double)values[i];
	return (float)(sum / (to - from));
}

static int measure_rank(struct heat_maker *m, struct sp_heat_measure *measure, uint32_t k)
{
	const struct sp_rank *rank = &m->ranks->list[m->at[k]];
	const uint32_t *from = m->heat->from;
	int column = measure->what == SP_HEAT_STEP
			     ? (int)SP_SERIES_WALL
			     : SP_SERIES_PHASE + measure->what - SP_HEAT_PHASE;
	int r = 0;

	if (measure->what != SP_HEAT_LATENESS)
		r = sp_rank_series(&m->table, k, column, m->values);
	for (uint32_t c = 0; r == 0 && c < m->heat->column_count; c++)
		put_cell(m, measure, k, c,
			 measure->what == SP_HEAT_LATENESS
				 ? m->ranks->lateness[(size_t)(rank - m->ranks->list) *
							      SP_HEAT_COLUMNS +
						      c]
				 : mean_of(m->values, from[c], from[c + 1]));
	return r;
}

static int add_measure(struct heat_maker *m, int what)
{
	struct sp_rank_heat *heat = m->heat;
	struct sp_heat_measure *measure = &heat->measures[heat->measure_count++];
	size_t cells = (size_t)heat->row_count * heat->column_count;
	int r = 0;

	*measure = (struct sp_heat_measure){.what = what, .low = FLT_MAX, .high = -FLT_MAX};
	for (int order = 0; order < SP_HEAT_ORDERS; order++) {
		measure->cells[order] = malloc(cells * sizeof(float));
		if (!measure->cells[order])
			return -ENOMEM;
		for (size_t i = 0; i < cells; i++)
			measure->cells[order][i] = -FLT_MAX;
	}
	for (uint32_t k = 0; r == 0 && k < m->table.count; k++)
		r = measure_rank(m, measure, k);
	return r;
}

/* A phase that no trainer has is not drawn. */
static bool has_phase(const struct heat_maker *m, int phase)
{
	return SP_ANY(t, m->training->count, m->training->trainers[t].account.ns[phase]);
}

static int make_measures(struct heat_maker *m)
{
	int r = m->ranks->lateness ? add_measure(m, SP_HEAT_LATENESS) : 0;

	if (r == 0)
		r = add_measure(m, SP_HEAT_STEP);
	for (int phase = 0; r == 0 && phase < SP_ACCOUNT_PHASES; phase++)
		if (phase != SP_ACCOUNT_validation && has_phase(m, phase))
			r = add_measure(m, SP_HEAT_PHASE + phase);
	return r;
}

static void list_compared(struct heat_maker *m)
{
	for (uint32_t i = 0; i < m->ranks->count; i++) {
		if (!m->ranks->list[i].is_compared)
			continue;
		m->at[m->table.count] = i;
		m->table.series[m->table.count++] =
			&m->training->trainers[m->ranks->list[i].trainer].series;
	}
}

static int make(struct heat_maker *m)
{
	struct sp_rank_heat *heat = m->heat;
	uint32_t steps = m->ranks->step_count;

	list_compared(m);
	heat->row_count = m->table.count < SP_HEAT_ROWS ? m->table.count : SP_HEAT_ROWS;
	heat->column_count = sp_heat_columns(steps);
	for (uint32_t c = 0; c <= heat->column_count; c++)
		heat->from[c] = sp_heat_from(c, steps);
	for (int order = 0; order < SP_HEAT_ORDERS; order++)
		make_rows(m, (enum sp_heat_order)order);
	return make_measures(m);
}

int sp_rank_heat_make(struct sp_rank_heat *heat, const struct sp_ranks *ranks,
		      const struct sp_training *training)
{
	struct heat_maker m = {.heat = heat, .ranks = ranks, .training = training};
	uint32_t n = ranks->compared;
	int r = 0;

	*heat = (struct sp_rank_heat){.row_count = 0};
	if (n < 2 || !ranks->step_count)
		return 0;
	m.table.steps = ranks->steps;
	m.table.step_count = ranks->step_count;
	m.table.jobs = 1;
	m.table.series = calloc(n, sizeof(*m.table.series));
	m.at = calloc(n, sizeof(*m.at));
	m.order = calloc(n, sizeof(*m.order));
	m.values = calloc(ranks->step_count, sizeof(*m.values));
	if (!m.table.series || !m.at || !m.order || !m.values)
		r = -ENOMEM;
	for (int order = 0; order < SP_HEAT_ORDERS; order++) {
		m.row[order] = calloc(n, sizeof(*m.row[order]));
		r = m.row[order] ? r : -ENOMEM;
	}
	if (r == 0)
		r = make(&m);
	for (int order = 0; order < SP_HEAT_ORDERS; order++)
		free(m.row[order]);
	free(m.table.series);
	free(m.at);
	free(m.order);
	free(m.values);
	return r;
}

void sp_rank_heat_finish(struct sp_rank_heat *heat)
{
	for (uint32_t i = 0; i < heat->measure_count; i++)
		for (int order = 0; order < SP_HEAT_ORDERS; order++)
			free(heat->measures[i].cells[order]);
	*heat = (struct sp_rank_heat){.row_count = 0};
}
