/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Peers: the ranks that meet in the last collective of a step. All of them leave it at once, and
 * other ranks leave theirs at other instants, which differ from step to step. Ranks of a pipeline
 * stage meet so, and other stages have other work: a rank is compared with its peers.
 */
#ifndef STAGEPROF_ANALYZER_RANK_PEERS_H
#define STAGEPROF_ANALYZER_RANK_PEERS_H

#include <stdint.h>

#include "analyzer/ranks/rank_order.h"

/* Steps that are looked at, at most. */
#define SP_PEER_STEPS 32u
#define SP_PEER_STEPS_MIN 16u

/*
 * How the ranks of a job are divided: numbers lie in blocks, and of a block every stride-th number
 * is a peer. (block, stride) of 64 ranks: (8, 1): 0 to 7, 8 to 15, …; (64, 8): 0, 8, 16, …
 */
struct sp_rank_division {
	uint64_t block, stride; /* 0: the ranks are not divided */
};

/* The group of peers of a rank's number, from 0. */
static inline uint64_t sp_rank_peers_of(const struct sp_rank_division *d, uint64_t number)
{
	return d->block ? number / d->block * d->stride + number % d->stride : 0;
}

/*
 * numbers: of each rank of the table, from 0, below `world`; wall_ns: the usual length of a step.
 * A division is found only where it is sure: its groups are of one size, peers leave together
 * within 2% of a step, and different groups by four times that distance apart. Returns 0, -ENOMEM
 * or -EBADMSG.
 */
int sp_rank_peers_find(const struct sp_rank_table *table, const uint64_t *numbers, uint64_t world,
		       uint64_t wall_ns, struct sp_rank_division *ret);

#endif
