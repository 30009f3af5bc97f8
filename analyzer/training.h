/*
 * Who trains, in which steps; who feeds them.
 */
#ifndef STAGEPROF_ANALYZER_TRAINING_H
#define STAGEPROF_ANALYZER_TRAINING_H

#include <stdint.h>

#include "analyzer/step.h"

struct sp_report;

/* A thread that steps: an optimizer, or what stands for it (step.h). */
struct sp_trainer {
	uint32_t stream; /* its first, index into index.streams */
	struct sp_steps steps;
};

struct sp_training {
	struct sp_trainer *trainers; /* in the order of streams */
	uint32_t count;
};

/* Which steps are asked for. */
struct sp_step_selection {
	uint32_t from, to; /* numbers of steps; to is not in it */
	int64_t warmup;	   /* steps left out in front; below 0: none */
	int64_t epoch;	   /* below 0: all */
};

/* Reads the threads of all selected processes that may train. Returns 0 or -ENOMEM. */
int sp_training_read(struct sp_training *training, const struct sp_report *report);
void sp_training_finish(struct sp_training *training);

/* True where step i of this trainer is asked for. */
bool sp_step_is_selected(const struct sp_report *report, const struct sp_trainer *trainer,
			 uint32_t i);

/* From the first selected step's start to the last one's end, pauses between them included. */
struct sp_account sp_trainer_account(const struct sp_report *report,
				     const struct sp_trainer *trainer);

/* The same of all trainers, added up. */
struct sp_account sp_training_account(const struct sp_report *report);

/* The one with the most steps; NULL where nobody steps. */
const struct sp_trainer *sp_training_main(const struct sp_training *training);

/* True where training was seen, and no loader that fed a step of it. */
bool sp_training_is_unfed(const struct sp_training *training);

/* The trainer of this process, whichever is first; NULL: none. */
const struct sp_trainer *sp_training_of(const struct sp_training *training,
					const struct sp_report *report, uint32_t image);

#endif
