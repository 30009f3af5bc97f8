/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream of the device and our events on it: marks at a phase's first work and at its end, in
 * the order of the stream. The interval between two marks is a gpu_span in the trace as soon as
 * both are known to be reached. No function waits. Needs sp_cuda_events_are_found(), and
 * sp_cuda_relax() and sp_cuda_restore() around calls that reach the driver (put and collect). Not
 * for two threads at once.
 */
#ifndef STAGEPROF_PRELOAD_CUDA_CHAIN_H
#define STAGEPROF_PRELOAD_CUDA_CHAIN_H

#include <stdint.h>

#define SP_CUDA_MARKS 64u /* put and not collected; a power of two */

enum sp_cuda_mark_kind {
	SP_CUDA_MARK_BEGIN,
	SP_CUDA_MARK_END,
	SP_CUDA_MARK_LONE, /* its pair was dropped */
};

struct sp_cuda_mark {
	void *event;
	uint64_t recorded;
	uint32_t phase;
	uint8_t kind;	    /* enum sp_cuda_mark_kind */
	uint8_t is_drained; /* all earlier work was done when it was recorded:
			       it is reached at once */
};

/* Marks are numbered; marks from `got` on are not known to be reached. Zeroed: no marks and no
 * events. */
struct sp_cuda_chain {
	void *context, *stream; /* stream NULL: the stream is gone, and the entry is free */
	const void *owner;	/* the thread whose stream it is; NULL: all threads' */
	uint32_t number, device;
	uint32_t put, got;
	uint32_t dropped; /* pairs, since the last report */
	uint64_t reached; /* when mark got - 1 was reached, in ticks of the trace's clock */
	uint64_t began, began_lag; /* the pair whose end is not collected yet */
	struct sp_cuda_mark marks[SP_CUDA_MARKS];
};

/* Returns 1 if the last mark is a BEGIN. */
int sp_cuda_chain_is_open(const struct sp_cuda_chain *c);

/* Returns 1 if there is no room for another pair. */
int sp_cuda_chain_is_full(const struct sp_cuda_chain *c);

/* Returns 0 if the mark is on the stream, else CUDA's error,
 * or -EBUSY while the stream captures. */
int sp_cuda_chain_put(struct sp_cuda_chain *c, uint32_t phase, enum sp_cuda_mark_kind kind);

/* Pairs that are neither collected nor dropped. */
uint32_t sp_cuda_chain_outstanding(const struct sp_cuda_chain *c);

/* Drops the open pair, or a pair that could not be begun. */
void sp_cuda_chain_drop(struct sp_cuda_chain *c);

/* Writes the reached pairs into the calling thread's trace; stops at the first that is not reached.
 * Returns 0, or the error of a broken stream. */
int sp_cuda_chain_collect(struct sp_cuda_chain *c);

/* The stream is gone: pairs that were not collected are dropped; the next stream of the same
 * context reuses the events. */
void sp_cuda_chain_release(struct sp_cuda_chain *c);

#endif
