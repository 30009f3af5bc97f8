/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The selected steps of all trainers as one list, and a shorter list that keeps the extremes.
 */
#ifndef STAGEPROF_ANALYZER_STEP_ROWS_H
#define STAGEPROF_ANALYZER_STEP_ROWS_H

#include "analyzer/training/training.h"

struct sp_step_row {
	const struct sp_trainer *trainer;
	uint32_t step;
};

struct sp_step_rows {
	struct sp_step_row *list; /* by trainer, then in the order of time */
	uint32_t count;
	uint32_t thinned; /* how many there were more */
	uint32_t folded;  /* trainers of digests whose steps are in no list: the sums have them */
};

/* Returns 0 or -ENOMEM. */
int sp_step_rows_gather(struct sp_step_rows *rows, const struct sp_training *training);

/*
 * Keeps `most` rows or fewer, all of them actual steps: the shortest and the longest of each of
 * many stretches of equally many steps.
 */
void sp_step_rows_thin(struct sp_step_rows *rows, uint32_t most);

void sp_step_rows_finish(struct sp_step_rows *rows);

static inline const struct sp_step *sp_step_of_row(const struct sp_step_row *row)
{
	return &row->trainer->steps.steps[row->step];
}

#endif
