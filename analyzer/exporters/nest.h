/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts the records of a thread into lanes, in which any two records are nested or disjoint, as
 * timelines draw them, and into an order in which a record comes before records that it contains
 * and that begin in the same ns.
 *
 * A thread's records come in the order of their ends, so contained records come first. Nearly all
 * records are in lane 0. Other lanes hold records that overlap otherwise (start/end pairs of NVTX,
 * damaged traces), or that come too late to be placed.
 *
 * Memory: NEST_ROOTS_MAX intervals and NEST_HELD_MAX records a lane, NEST_LANES_MAX lanes a thread;
 * a record that fits none of them gets its own lane.
 */
#ifndef STAGEPROF_ANALYZER_NEST_H
#define STAGEPROF_ANALYZER_NEST_H

#include <stdint.h>

#include "analyzer/events/event_record.h"

#define NEST_ROOTS_MAX 65536u
#define NEST_HELD_MAX 32u
#define NEST_LANES_MAX 16u

struct sp_nest_lane;

struct sp_nest {
	/* Set by the caller. A nonzero result is returned at once. */
	int (*give)(void *context, const struct sp_record *record, uint32_t track, uint32_t lane);
	void *context;

	struct sp_nest_lane **lanes; /* first of each track */
	uint32_t track_count;
	uint32_t own_lanes; /* given to records that fit nowhere */
};

/* Returns 0 or -ENOMEM. */
int sp_nest_init(struct sp_nest *nest, uint32_t track_count);
void sp_nest_finish(struct sp_nest *nest);

/* Returns 0, -ENOMEM, or the result of give(). */
int sp_nest_take(struct sp_nest *nest, uint32_t track, const struct sp_record *record);

/* Gives the held records; call it after the last record. */
int sp_nest_flush(struct sp_nest *nest);

#endif
