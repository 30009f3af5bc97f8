/*
 * A stream of the device and the events that we put on it: marks where a stage's first work begins and where the
 * stage ends, in the order of the stream. What lies between the two is a gpu_span in the trace as soon as both are
 * seen to be reached. Nothing waits. Needs sp_cuda_events_are_found(), and calls between sp_cuda_relax() and
 * sp_cuda_restore() where they talk to the driver (put and collect); not for two threads at once.
 */
#ifndef STAGEPROF_PRELOAD_CUDA_CHAIN_H
#define STAGEPROF_PRELOAD_CUDA_CHAIN_H

#include <stdint.h>

#define SP_CUDA_MARKS 64u /* put and not collected; a power of two */

enum sp_cuda_mark_kind {
	SP_CUDA_MARK_BEGIN,
	SP_CUDA_MARK_END,
	SP_CUDA_MARK_LONE, /* its pair was given up */
};

struct sp_cuda_mark {
	void *event;
	uint64_t recorded;
	uint32_t part;
	uint8_t kind;	    /* enum sp_cuda_mark_kind */
	uint8_t is_drained; /* all before it was reached when it was recorded: it is reached at once */
};

/* Marks are numbered; those from `got` on are not known to be reached. Zeroed: none, with no events. */
struct sp_cuda_chain {
	void *context, *stream; /* stream NULL: it is gone, and the place is free */
	const void *owner;	/* the thread whose stream it is; NULL: all threads' */
	uint32_t number, device;
	uint32_t put, got;
	uint32_t dropped;	   /* pairs, since the last that was told */
	uint64_t reached;	   /* when mark got - 1 was, in ticks of the trace's clock */
	uint64_t began, began_lag; /* the pair whose end is not collected */
	struct sp_cuda_mark marks[SP_CUDA_MARKS];
};

/* A BEGIN is the last mark. */
int sp_cuda_chain_is_open(const struct sp_cuda_chain *c);

/* There is no place for a pair behind the last mark that was collected. */
int sp_cuda_chain_is_full(const struct sp_cuda_chain *c);

/* Returns 0 where the mark is on the stream; else an error: of CUDA, or -EBUSY while it captures. */
int sp_cuda_chain_put(struct sp_cuda_chain *c, uint32_t part, enum sp_cuda_mark_kind kind);

/* Pairs that are neither collected nor given up. */
uint32_t sp_cuda_chain_outstanding(const struct sp_cuda_chain *c);

/* Gives the open pair up, or one that could not be begun. */
void sp_cuda_chain_drop(struct sp_cuda_chain *c);

/* Takes what was reached, into the calling thread's trace; stops at the first that was not. Returns 0, or the error of a broken stream. */
int sp_cuda_chain_collect(struct sp_cuda_chain *c);

/* The stream is gone, and what was not collected is given up; its events serve the next of the same context. */
void sp_cuda_chain_release(struct sp_cuda_chain *c);

#endif
