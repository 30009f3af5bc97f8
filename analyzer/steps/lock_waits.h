/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits of a training thread for the interpreter's lock, until the call comes that they lie in:
 * calls end after what they contain. CPython asks for its lock on a condition, for 5 ms at a time,
 * so that waits of a thread that does not get it time out. Pools of threads that compute wait on
 * conditions without a time.
 */
#ifndef STAGEPROF_ANALYZER_LOCK_WAITS_H
#define STAGEPROF_ANALYZER_LOCK_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/format.h"

#define SP_LOCK_WAIT_LEAST_NS 100000 /* shorter ones are not recorded */
#define SP_LOCK_WAITS 256u	     /* kept; of a longer call the first ones are forgotten */

struct sp_lock_waits {
	int64_t start_ns[SP_LOCK_WAITS];
	uint64_t ns[SP_LOCK_WAITS];
	uint32_t begin, count;
	uint32_t object; /* the lock's condition; 0: no wait has timed out so far */
	uint64_t all_ns; /* in any call or none, since the last step */
	/* At most, beside all_ns: a wait that times out goes on, and its rest may be too short. */
	uint64_t unseen_ns;
	int64_t timed_out_ns; /* the end of the last wait, if it timed out; or 0 */
};

/* A wait on a condition, in the order of time.
 * Waits on others than the lock's count for nothing. */
void sp_lock_waits_put(struct sp_lock_waits *waits, const struct sp_slot *wait, int64_t start_ns,
		       int64_t end_ns);

/* The time of those that begin at start_ns or later, and forgets them. */
uint64_t sp_lock_waits_take(struct sp_lock_waits *waits, int64_t start_ns);

#endif
