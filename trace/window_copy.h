/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A window is copied while its thread goes on storing to it. Where the copier was put to sleep in
 * between, half of the copy is older than the rest, so the copy is made again.
 */
#ifndef STAGEPROF_TRACE_WINDOW_COPY_H
#define STAGEPROF_TRACE_WINDOW_COPY_H

#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

/* Some windows never pass the check below, so a caller copies this many times at most. */
#define SP_WINDOW_COPIES_MOST 8u

/* Returns 1 where the slots may be of one time: from the first slot on, the valid ones are of one
 * generation, and then of the one before. A window with a slot that was left half written may not
 * pass. */
int sp_slots_are_of_one_time(const struct sp_slot *slots, uint32_t n);

/* The loads before come before the loads after. The writer may be another process. */
static inline void sp_loads_in_order(void)
{
#ifdef __SANITIZE_THREAD__ /* gcc's TSan knows no fences, and sees no other process */
	__atomic_signal_fence(__ATOMIC_ACQUIRE);
#else
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}

/* Copies a window, its header included, with slots of one time as far as that can be had. No system
 * call, no allocation; not ordered against later loads. */
void sp_window_copy(uint8_t *to, const uint8_t *window, size_t bytes);

#endif
