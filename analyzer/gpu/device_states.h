/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of the device while training threads waited for batches, where compiled functions that
 * return ahead of the device were asked (preload/frameworks/device_state.h). Some waits of a long
 * run were asked, and only those in steps count.
 *
 * A device that was busy at a wait's begin and finished before its end was busy for an unknown part
 * of the wait. It had the work of the calls since it was last known to have nothing to do. The work
 * of a call takes no longer than from its begin to the begin of a wait at which the device is idle:
 * the median of such spans bounds that part, because each step has the same work.
 */
#ifndef STAGEPROF_ANALYZER_DEVICE_STATES_H
#define STAGEPROF_ANALYZER_DEVICE_STATES_H

#include <stdbool.h>
#include <stdint.h>

struct sp_totals;
struct sp_training;

struct sp_device_states {
	uint64_t wait_ns;		       /* of waits that were asked */
	uint64_t idle_ns, busy_ns, drained_ns; /* of wait_ns */
	uint64_t drained_busy_ns; /* of drained_ns: the device worked so long, at most */
	bool is_bounded;	  /* drained_busy_ns is known */
	uint32_t waits;
};

/* Reads the training threads. Returns 0 or -ENOMEM. */
int sp_device_states_read(struct sp_device_states *states, const struct sp_totals *totals,
			  const struct sp_training *training);

/* The time in which the device surely had nothing to do, and in which it may have worked. */
static inline uint64_t sp_device_states_lost(const struct sp_device_states *s)
{
	return s->idle_ns + (s->is_bounded ? s->drained_ns - s->drained_busy_ns : 0);
}

#endif
