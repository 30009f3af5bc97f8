/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The selected steps and pauses of trainers, and the sums over them.
 */
#ifndef STAGEPROF_ANALYZER_TRAINING_ACCOUNT_H
#define STAGEPROF_ANALYZER_TRAINING_ACCOUNT_H

#include "analyzer/training/trainer_digest.h"

/* A trainer of a digest whose steps are not listed: its series and its account have them. */
static inline bool sp_trainer_is_folded(const struct sp_trainer *trainer)
{
	return trainer->is_digested && !trainer->steps.steps;
}

/*
 * The steps of a trainer in the order of time, whether they are listed or not. Steps that are
 * not listed have only what `columns` says; durations have four digits, and all are selected.
 */
struct sp_step_cursor {
	const struct sp_training *training; /* its selected steps; NULL: all */
	const struct sp_trainer *trainer;
	uint64_t columns; /* mask of 1 << enum sp_series_column */
	uint32_t next;	  /* in the list, or in `room` */
	uint32_t filled, block;
	struct sp_step room[SP_SERIES_STEPS];
};

void sp_step_cursor_init(struct sp_step_cursor *cursor, const struct sp_training *training,
			 const struct sp_trainer *trainer, uint64_t columns);

/* Returns a step that is valid until the next call, or NULL at the end. */
const struct sp_step *sp_step_cursor_next(struct sp_step_cursor *cursor);

/* Where a trainer's steps lie. */
struct sp_step_span {
	int64_t first_start_ns, last_end_ns;
	uint64_t in_steps_ns, first_wait_ns; /* of all steps; for the first one's batch */
};

/* The trainer has steps. */
struct sp_step_span sp_trainer_span(const struct sp_trainer *trainer);

/* True where step i of this trainer is asked for. */
bool sp_step_is_selected(const struct sp_training *training, const struct sp_trainer *trainer,
			 uint32_t i);

/* True where all that the pause lies between is asked for. */
bool sp_pause_is_selected(const struct sp_training *training, const struct sp_trainer *trainer,
			  const struct sp_pause *pause);

/* From the first selected step's start to the last one's end, pauses between them included, with
 * what is known of the pauses before the first step and after the last one. */
struct sp_account sp_trainer_account(const struct sp_training *training,
				     const struct sp_trainer *trainer);

/* The same of all trainers, added up. */
struct sp_account sp_training_account(const struct sp_training *training);

/* The part of that account before the first step and after the last one: validation, evaluation,
 * environments and checkpoints. */
struct sp_account sp_training_ends(const struct sp_training *training);

/* Nanoseconds of validation there that no validation between steps is like: all of it where there
 * is none between steps, else what is longer than their mean. */
uint64_t sp_training_lone_validation(const struct sp_training *training);

#endif
