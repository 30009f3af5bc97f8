/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Training threads and their steps.
 */
#ifndef STAGEPROF_ANALYZER_TRAINING_H
#define STAGEPROF_ANALYZER_TRAINING_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/metadata/run.h"
#include "analyzer/training/gpu_time.h"
#include "analyzer/training/step.h"
#include "analyzer/training/step_fold.h"

/* A thread that steps: an optimizer, or what stands for it (step.h). */
struct sp_trainer {
	uint32_t stream; /* its first, index into index.streams */
	struct sp_steps steps;
	struct sp_gpu_time gpu; /* parallel to its steps */
	struct sp_fold fold;	/* of the selected steps, where ranks are compared */
};

/* The steps that are asked for. */
struct sp_step_selection {
	uint32_t from, to; /* numbers of steps; to is not in it */
	int64_t warmup;	   /* steps left out in front; below 0: none */
	int64_t epoch;	   /* below 0: all */
};

static inline bool sp_step_selection_is_all(const struct sp_step_selection *s)
{
	return !s->from && s->to == UINT32_MAX && s->warmup <= 0 && s->epoch < 0;
}

struct sp_training {
	/* Set by the caller. */
	const struct sp_run *run; /* borrowed */
	struct sp_step_selection selection;
	bool keeps_steps; /* else a trainer has the number of its steps, and no list of them */
	bool folds_steps;

	struct sp_trainer *trainers; /* in the order of streams */
	uint32_t count;
};

/* Reads the threads of all selected processes that may train. Returns 0 or -ENOMEM. */
int sp_training_read(struct sp_training *training);
void sp_training_finish(struct sp_training *training);

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

/* The part of that account before the first step and after the last one: validation, evaluation
 * and checkpoints. */
struct sp_account sp_training_ends(const struct sp_training *training);

/* The trainer with the most steps; NULL: there is no trainer. */
const struct sp_trainer *sp_training_main(const struct sp_training *training);

/* True where training was seen, and no loader that fed a step of it. */
bool sp_training_is_unfed(const struct sp_training *training);

/* True where another thread of a training process reads its loader ahead. */
bool sp_training_is_fed_by_thread(const struct sp_training *training);

/* The first trainer of this process; NULL: none. */
const struct sp_trainer *sp_training_of(const struct sp_training *training, uint32_t image);

#endif
