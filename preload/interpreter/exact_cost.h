/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The price of counting calls, in ticks of sp_recorder_clock. Time for which another program has
 * the thread's core is no part of it: the program would have waited all the same.
 */
#ifndef STAGEPROF_PRELOAD_EXACT_COST_H
#define STAGEPROF_PRELOAD_EXACT_COST_H

#include <stdint.h>

/* The thread's time on a core so far, in ns: one system call, so it is for work that comes a few
 * times in a window. A frozen process may make none and gets 0. */
uint64_t sp_exact_work_begin(void);

/* Returns the ticks on a core since sp_exact_work_begin() returned `begun_ns`; 0 in a process that
 * froze meanwhile. */
uint64_t sp_exact_work_end(uint64_t begun_ns);

/* Returns what a callback cost that took `ticks`: a longer one than any was put off its core. */
uint64_t sp_exact_callback_cost(uint64_t ticks, uint64_t ticks_in_us);

#endif
