/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits of a training thread on a condition, as for the interpreter's lock, until the call comes
 * that they lie in: calls end after what they contain.
 */
#ifndef STAGEPROF_ANALYZER_LOCK_WAITS_H
#define STAGEPROF_ANALYZER_LOCK_WAITS_H

#include <stdint.h>

#define SP_LOCK_WAITS 256u /* kept; of a longer call the first ones are forgotten */

struct sp_lock_waits {
	int64_t start_ns[SP_LOCK_WAITS];
	uint64_t ns[SP_LOCK_WAITS];
	uint32_t begin, count;
};

/* In the order of time. */
void sp_lock_waits_put(struct sp_lock_waits *waits, int64_t start_ns, int64_t end_ns);

/* The time of those that begin at start_ns or later, and forgets them. */
uint64_t sp_lock_waits_take(struct sp_lock_waits *waits, int64_t start_ns);

#endif
