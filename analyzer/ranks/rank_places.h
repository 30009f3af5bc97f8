/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places that stragglers have in common: a host all of whose ranks straggle, or a local rank (the
 * same slot of every host).
 */
#ifndef STAGEPROF_ANALYZER_RANK_PLACES_H
#define STAGEPROF_ANALYZER_RANK_PLACES_H

#include "analyzer/ranks/rank.h"

struct sp_training;

/* Sets `group` of each straggler whose place explains it, and leaves the others alone. Returns 0 or
 * -ENOMEM. */
int sp_rank_places_group(struct sp_ranks *ranks, const struct sp_training *training);

#endif
