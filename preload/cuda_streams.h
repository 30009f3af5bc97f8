/*
 * The streams of the training thread that are timed: each with its chain of marks, found by context, handle and, of a
 * default stream for each thread, owner. The calls here are made by one thread at a time (cuda_time.c's lock), those
 * that talk to the driver as cuda_chain.h says. No function waits or allocates.
 */
#ifndef STAGEPROF_PRELOAD_CUDA_STREAMS_H
#define STAGEPROF_PRELOAD_CUDA_STREAMS_H

#include <stdint.h>

#include "preload/cuda_chain.h"

/* 1 where any stream was ever timed since they were forgotten. */
int sp_cuda_streams_exist(void);

/*
 * The chain of a stream that the calling thread is about to give work; per_thread: NULL is the thread's own. NULL: not
 * timed; one that was not met yet becomes so if may_be_made is not 0 and there is room.
 */
struct sp_cuda_chain *sp_cuda_streams_find(uint64_t stream, int per_thread, int may_be_made);

/* 1 where each has a stretch that was begun. */
int sp_cuda_streams_are_open(void);

/* Ends what is open, as of `part`; drops what cannot be ended from this thread. */
void sp_cuda_streams_close(uint32_t part);

/* Gives up what is open. No call of the driver. */
void sp_cuda_streams_drop(void);

/* Takes what was reached; forgets all where a stream is broken. */
void sp_cuda_streams_collect(void);

/* One that is destroyed; `stream` is its handle. */
void sp_cuda_streams_release(uint64_t stream);

/* All at once. What was outstanding counts as given up, and the next stream tells. */
void sp_cuda_streams_forget(void);

/* In a forked child: nothing of the parent's is told. */
void sp_cuda_streams_reset(void);

#endif
