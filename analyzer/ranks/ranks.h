/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ranks of a distributed job, compared: which rank is late, by how much, and in which phase.
 *
 * Ranks that take the same steps wait for each other once a step, so their steps last equally
 * long and say nothing. The lateness at the last collective of a step says it. All ranks leave
 * that collective at once, so the rank that stayed in it shortest came last, and no clock has to
 * be compared. Ranks that meet in different collectives, as the stages of a pipeline do, are
 * compared within each group alone. Where no collective is observed, the time that a step takes
 * outside backward is used instead. It has no waits for the GPU, because the GPU waits for other
 * ranks. If that names no rank and NCCL is called, backward is included: a call of NCCL returns
 * ahead of the GPU, so a rank that is late on the host in backward shows there.
 */
#ifndef STAGEPROF_ANALYZER_RANKS_H
#define STAGEPROF_ANALYZER_RANKS_H

#include "analyzer/ranks/rank.h"

struct sp_training;

/* From the series of trainers that were read. Returns 0, -ENOMEM or -EBADMSG. */
int sp_ranks_read(struct sp_ranks *ranks, const struct sp_training *training);
void sp_ranks_finish(struct sp_ranks *ranks);

#endif
