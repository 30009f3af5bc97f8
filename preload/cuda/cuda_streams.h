/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timed streams of the training thread. Each has a chain of marks, which is found by context
 * and handle. The default stream of a thread is found by its owner too. The caller holds the lock
 * of cuda_time.c. Functions that reach the driver follow cuda_chain.h. No function waits or
 * allocates.
 */
#ifndef STAGEPROF_PRELOAD_CUDA_STREAMS_H
#define STAGEPROF_PRELOAD_CUDA_STREAMS_H

#include <stdint.h>

#include "preload/cuda/cuda_chain.h"

/* Returns 1 if any stream was timed since the last drop. */
int sp_cuda_streams_exist(void);

/*
 * The chain of a stream that the calling thread is about to give work; per_thread: NULL is the
 * thread's own. NULL: not timed. A new stream gets a chain if may_be_made is not 0 and there is
 * room.
 */
struct sp_cuda_chain *sp_cuda_streams_find(uint64_t stream, int per_thread, int may_be_made);

/* Returns 1 if each stream has an open interval. */
int sp_cuda_streams_are_open(void);

/* Ends the open intervals, as of `phase`; drops those that this thread cannot end. */
void sp_cuda_streams_close(uint32_t phase);

/* Drops the open intervals. Makes no call of the driver. */
void sp_cuda_streams_drop(void);

/* Collects the reached marks; drops all streams if one is broken. */
void sp_cuda_streams_collect(void);

/* Drops a stream that is destroyed; `stream` is its handle. */
void sp_cuda_streams_release(uint64_t stream);

/* Drops all streams. Their outstanding pairs count as dropped; the next stream reports them. */
void sp_cuda_streams_abandon(void);

/* In a forked child: drops the parent's streams without a report. */
void sp_cuda_streams_reset(void);

#endif
