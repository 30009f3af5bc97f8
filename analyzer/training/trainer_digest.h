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

/* Makes the list of steps from the series of a digested trainer; durations have four digits.
 * Returns 0 or -ENOMEM. */
int sp_trainer_expand(struct sp_trainer *trainer);

/* A hash of the names of stages and phases:
 * their numbers in a digest are places in these tables. */
uint64_t sp_digest_schema(void);

#endif
