/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compared ranks and steps as a picture: a cell is the time of a rank (or of several) in a
 * stretch of steps, for the lateness, the whole step and each phase. Memory and bytes do not grow
 * with ranks and steps, because there are SP_HEAT_ROWS rows and SP_HEAT_COLUMNS columns at most.
 */
#ifndef STAGEPROF_ANALYZER_RANK_HEAT_H
#define STAGEPROF_ANALYZER_RANK_HEAT_H

#include <stdint.h>

#include "analyzer/ranks/rank.h"

#define SP_HEAT_ROWS 160u
#define SP_HEAT_COLUMNS 128u
#define SP_HEAT_MEASURES (SP_ACCOUNT_PHASES + 2)

/* Rows in the order of ranks, of hosts, and of lateness, the latest first. */
enum sp_heat_order { SP_HEAT_BY_RANK, SP_HEAT_BY_HOST, SP_HEAT_BY_LATENESS, SP_HEAT_ORDERS };

/* Measures: a phase is SP_HEAT_PHASE plus enum sp_account_phase. */
enum sp_heat_what { SP_HEAT_LATENESS, SP_HEAT_STEP, SP_HEAT_PHASE };

/* One rank or several that follow each other: indices into ranks.list. */
struct sp_heat_row {
	uint32_t first, latest; /* the first in the order; the one that is latest on the whole */
	uint32_t ranks;
};

struct sp_heat_measure {
	int what;
	float low, high; /* of all cells, ns */
	/* By order, then by row and column: ns, the mean of a rank's steps in the stretch, and the
	 * greatest of the row's ranks. */
	float *cells[SP_HEAT_ORDERS];
};

struct sp_rank_heat {
	uint32_t row_count, column_count; /* 0: there is nothing to draw */
	struct sp_heat_row rows[SP_HEAT_ORDERS][SP_HEAT_ROWS];
	uint32_t from[SP_HEAT_COLUMNS + 1]; /* of each column and beyond: into ranks.steps */
	struct sp_heat_measure measures[SP_HEAT_MEASURES];
	uint32_t measure_count;
};

struct sp_training;

/* sp_ranks_read() had keeps_lateness. Returns 0, -ENOMEM or -EBADMSG; call
 * sp_rank_heat_finish() in any case. */
int sp_rank_heat_make(struct sp_rank_heat *heat, const struct sp_ranks *ranks,
		      const struct sp_training *training);
void sp_rank_heat_finish(struct sp_rank_heat *heat);

/* The column of a compared step of so many; columns are those of all ranks. */
static inline uint32_t sp_heat_columns(uint32_t steps)
{
	return steps < SP_HEAT_COLUMNS ? steps : SP_HEAT_COLUMNS;
}

static inline uint32_t sp_heat_from(uint32_t column, uint32_t steps)
{
	return (uint32_t)((uint64_t)column * steps / sp_heat_columns(steps));
}

#endif
