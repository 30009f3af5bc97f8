/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice of the ranks that are compared: those of one job, at one time. Unrelated runs have no
 * stragglers among each other.
 */
#ifndef STAGEPROF_ANALYZER_RANK_CHOICE_H
#define STAGEPROF_ANALYZER_RANK_CHOICE_H

struct sp_ranks;
struct sp_training;

/* Sets `exclusion` and `is_compared` of all ranks of the list, which is in its order. Returns 0,
 * -ENOMEM or -EBADMSG. */
int sp_ranks_choose(struct sp_ranks *ranks, const struct sp_training *training);

#endif
