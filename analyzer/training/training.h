/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The training threads of a run: reading and finding them.
 */
#ifndef STAGEPROF_ANALYZER_TRAINING_H
#define STAGEPROF_ANALYZER_TRAINING_H

#include "analyzer/training/trainer.h"

/* Reads the threads of all selected processes that may train. Returns 0 or -ENOMEM. */
int sp_training_read(struct sp_training *training);
void sp_training_finish(struct sp_training *training);

/* The trainer with the most steps; NULL: there is no trainer. */
const struct sp_trainer *sp_training_main(const struct sp_training *training);

/* True where training was seen, and no loader that fed a step of it. */
bool sp_training_is_unfed(const struct sp_training *training);

/* True where another thread of a training process reads its loader ahead. */
bool sp_training_is_fed_by_thread(const struct sp_training *training);

/* The first trainer of this process; NULL: none. */
const struct sp_trainer *sp_training_of(const struct sp_training *training, uint32_t image);

#endif
