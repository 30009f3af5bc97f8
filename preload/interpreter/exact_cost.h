/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The price of counting calls, in ticks of sp_recorder_clock. Time for which another program has
 * the thread's core is no part of it: the program would have waited all the same.
 */
#ifndef STAGEPROF_PRELOAD_EXACT_COST_H
#define STAGEPROF_PRELOAD_EXACT_COST_H

#include <stdint.h>

#include "preload/interpreter/call_rusage.h"

/* Work that comes a few times in a window: system calls measure it. */
struct sp_exact_work {
	uint64_t began;
	struct sp_call_rusage usage;
};
void sp_exact_work_begin(struct sp_exact_work *ret);

/* Returns the thread's time on a core since then; all time, where the kernel does not answer. */
uint64_t sp_exact_work_end(const struct sp_exact_work *work);

/* Returns what a callback cost that took `ticks`: a longer one than any was put off its core. */
uint64_t sp_exact_callback_cost(uint64_t ticks, uint64_t ticks_in_us);

#endif
