/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the ranks of a job step by step. Each step is ordered once for all ranks: three values
 * around its median give every rank the median of the others.
 *
 * Memory grows with ranks plus steps, not with their product, because only one block of steps is
 * decoded for all ranks at a time.
 */
#ifndef STAGEPROF_ANALYZER_RANK_ORDER_H
#define STAGEPROF_ANALYZER_RANK_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/training/step_series.h"

/* A compared value: a column of the series, or the lateness of a rank at the place where all wait.
 * Only differences of a lateness between ranks have a meaning, because its scale has no zero. */
enum sp_rank_value {
	SP_RANK_LATENESS = SP_SERIES_COLUMNS, /* by the stay in the last collective */
	SP_RANK_HOST_TIME, /* the wall time of a step without gradient sync and waits for the GPU,
			      which waits for other ranks */
	SP_RANK_OUTSIDE_BACKWARD, /* the same without backward */
};

struct sp_rank_table {
	/* Set by the caller. */
	const struct sp_step_series **series; /* by rank; all of them have all the steps */
	uint32_t count;
	const uint32_t *steps; /* numbers */
	uint32_t step_count;
	unsigned jobs;
};

/* One step over all ranks. */
struct sp_rank_order {
	int64_t around[3]; /* the values at and after the lower middle of all but one */
	int64_t greatest;
	uint32_t last; /* whose value is the greatest; of several, the last one */
};

/* One value of one rank, by step. Returns 0, or -EBADMSG. */
int sp_rank_series(const struct sp_rank_table *table, uint32_t rank, int value, int64_t *ret);

/* All steps; there are two ranks or more. Returns 0, -ENOMEM or -EBADMSG. */
int sp_rank_orders(const struct sp_rank_table *table, int value, struct sp_rank_order *ret);

/* The median of all ranks of the table but the one that has this value. */
int64_t sp_rank_median_of_others(const struct sp_rank_order *order, uint32_t ranks, int64_t value);

#endif
