/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a thread that makes batches or steps does not run: its context switches and page faults are
 * observed (preload/sys/perf_ring.h). The thread itself takes them at the begin and the end of a
 * fetch and in a step, and emits
 *   page_fault  for each fault that waited for its page
 *   off_core    for each time that it was blocked (outside of fetches: for 10 µs and more), and for
 *               each time of 100 µs and more that it was ready without a core, outside of such
 *               faults
 *   waits       once: the sums, also of shorter times
 * Page faults are observed in a thread's first fetch, which often maps the data, then only after a
 * data file was mapped, and not after four fetches in succession with so many that observing them
 * is felt. Where the kernel refuses, or a seccomp filter may kill a process that asks, nothing is
 * emitted, and the coverage says why. STAGEPROF_WITHOUT=waits turns it off.
 *
 * Not for the hook path: the first call makes a dozen system calls, the others two, and up to four
 * for each file that is met for the first time. errno is kept.
 */
#ifndef STAGEPROF_PRELOAD_THREAD_WAITS_H
#define STAGEPROF_PRELOAD_THREAD_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/blocks/publish.h"

/* A fetch begins. */
void sp_waits_begin(struct sp_thread *t);

/* The fetch that began at `start` ends. faults: page faults without reading in it, as the kernel
 * counts them. */
void sp_waits_end(struct sp_thread *t, uint64_t start, uint64_t end, uint64_t faults);

/* In a step of the thread, which is observed from its first one on. now: ticks. */
void sp_waits_step(struct sp_thread *t, uint64_t now);

/* True where a step should take the waits before their ring is full. */
static inline bool sp_waits_are_due(struct sp_thread *t, uint64_t now)
{
	return now >= sp_recorder_of(t)->next_waits_ticks;
}

/* Constructor: reads the setting. */
void sp_waits_init(void);

#endif
