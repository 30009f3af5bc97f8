/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trainer as bytes of a digest: the series of its steps, its account, and how it was read.
 */
#ifndef STAGEPROF_ANALYZER_TRAINER_DIGEST_H
#define STAGEPROF_ANALYZER_TRAINER_DIGEST_H

#include "analyzer/reader/digest_fields.h"
#include "analyzer/training/trainer.h"

/* Fields of the trainer; what is read is owned by it. */
void sp_trainer_digest_fields(struct sp_digest_fields *f, struct sp_trainer *trainer);

/* Takes the bytes of a digest's thread, and frees them. Returns 1 and a trainer without a list of
 * steps, 0 where the thread is no trainer or the bytes are damaged, or -ENOMEM. */
int sp_trainer_from_digest(struct sp_trainer *ret, struct sp_digested *digested);

/* The columns of a series that a step has: all but those of its collective. */
#define SP_SERIES_STEP                                                                             \
	((UINT64_C(1) << SP_SERIES_COLUMNS) - 1 - (1u << SP_SERIES_STAY) - (1u << SP_SERIES_LEFT))

/* Reads a block's columns, a mask of 1 << enum sp_series_column, as steps from `number` on; ret has
 * SP_SERIES_STEPS, of which nothing else is set. Without SP_SERIES_START, they start at 0. Returns
 * 0, or -EBADMSG. */
int sp_series_steps(const struct sp_step_series *series, uint32_t block, uint64_t columns,
		    uint32_t number, struct sp_step *ret);

/* Makes the list of steps from the series of a digested trainer; durations have four digits.
 * Returns 0 or -ENOMEM. */
int sp_trainer_expand(struct sp_trainer *trainer);

/* A hash of the names of stages and phases:
 * their numbers in a digest are places in these tables. */
uint64_t sp_digest_schema(void);

#endif
