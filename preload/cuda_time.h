/*
 * Time on the GPU, without CUPTI: where a stage of training begins and ends, an event of CUDA's is recorded
 * on the streams that the training thread launches on. Between its first piece of work and its end a stage
 * keeps a stream busy for the time between two events; between the end of one and the first work of the
 * next the stream has nothing to do. Nothing is waited for: events are asked at later boundaries whether
 * they are reached, and a pair of them is a gpu_span in the trace then (docs/FORMAT.md).
 *
 * The events are ours, of the driver's, on the program's streams. None is recorded or asked for while the
 * thread may not (stream capture), and what cannot be done is dropped and counted.
 *
 * Stages are entered by frameworks' callbacks; work and captures are told of by hooks. No function waits,
 * allocates or changes errno.
 */
#ifndef STAGEPROF_PRELOAD_CUDA_TIME_H
#define STAGEPROF_PRELOAD_CUDA_TIME_H

#include <stdint.h>

#include "preload/abi_cuda.h"
#include "preload/cuda_asks.h"
#include "preload/record.h"

/* STAGEPROF_GPUTIME=0 turns it off. Constructor. */
void sp_cuda_time_init(void);

/* The driver has begun: what is needed of it is looked up. Not on the path of work for the device. */
void sp_cuda_time_bind(void);

/* The calling thread's stage of training begins; `part` is enum sp_part. What it returns is for the end. */
uint32_t sp_cuda_time_enter(uint32_t part);
void sp_cuda_time_leave(uint32_t entered);

/* A boundary inside a stage: of a module. */
void sp_cuda_time_split(void);

/*
 * Around the launch of a graph that is a stretch of its own: of the part cuda_graph, or of the stage that it is in. What
 * comes behind it, until the next boundary, is in no span.
 */
void sp_cuda_time_graph_begin(void);
void sp_cuda_time_graph_end(void);

/* Work is about to be put on a stream. per_thread: a NULL stream is the calling thread's own. */
void sp_cuda_time_begin(uint64_t stream, int per_thread);
#define SP_CUDA_TIME_WORK(stream, per_thread)                                                      \
	(sp_unlikely(sp_cuda_asks & SP_CUDA_ASK_BOUNDARY) ?                                        \
		 sp_cuda_time_begin((uint64_t)(stream), per_thread) :                              \
		 (void)0)

/* The calling thread has waited for the device. */
void sp_cuda_time_synced(void);

/* Around a capture of this mode by the calling thread: before it begins; where that fails, and after it. */
void sp_cuda_time_capture(int mode);
void sp_cuda_time_captured(void);

/* Before a stream is destroyed; before and after contexts are, whose events and streams are forgotten. */
void sp_cuda_time_forget_stream(uint64_t stream);
void sp_cuda_time_forget(void);

/*
 * Around the closing of a library, which may be the driver: until it is closed no event is put or asked for; then, where
 * the driver is gone, all that was outstanding is given up. What begin returns is for the end, on the same thread.
 */
int sp_cuda_time_close_begin(void);
void sp_cuda_time_close_end(int begun);

/* 1 for names of functions whose NULL stream is the thread's own. */
int sp_cuda_name_is_per_thread(const char *name);

#endif
