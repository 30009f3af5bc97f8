/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A copy of a tail whose thread may live: it may store to the tail during the copy, put the frames
 * into its file and begin again, or leave the tail to another thread.
 */
#ifndef STAGEPROF_TRACE_TAIL_COPY_H
#define STAGEPROF_TRACE_TAIL_COPY_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of a tail's frames before the FREE frame that its window follows. */
size_t sp_arena_tail_used(const uint8_t *tail, uint32_t window_at);

/* Copies a tail of `bytes` with its window at window_at; `copy` has that room. Returns the bytes of
 * the copy's frames that are whole, from its begin on; the window stands at window_at as in the
 * tail. 0: the thread left the tail meanwhile, and the copy is of no use. No system call, no
 * allocation. */
size_t sp_tail_copy(uint8_t *copy, const uint8_t *tail, size_t bytes, uint32_t window_at);

#endif
