/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time on the GPU, without CUPTI. At the boundaries of training phases, CUDA events are recorded
 * on the streams that the training thread launches on. From its first work to its end a phase
 * keeps a stream busy for the time between two events; from the end of one phase to the first
 * work of the next the stream is idle. No function waits: later boundaries ask whether events are
 * reached, and a reached pair becomes a gpu_span in the trace (docs/FORMAT.md).
 *
 * The events are our own, made by the driver, on the program's streams. None is recorded or
 * queried while the thread must not (stream capture); pairs that cannot be recorded are dropped
 * and counted.
 *
 * Frameworks' callbacks enter phases; hooks report work and captures. No function waits,
 * allocates or changes errno.
 */
#ifndef STAGEPROF_PRELOAD_CUDA_TIME_H
#define STAGEPROF_PRELOAD_CUDA_TIME_H

#include <stdint.h>

#include "preload/cuda/abi_cuda.h"
#include "preload/recorder/recorder.h"
#include "preload/sys/hidden.h"

/* Reasons for a launch to take the slow path: bits of one word, so that a usual launch makes one
 * check instead of three. */
enum sp_cuda_slow_path_reason {
	SP_CUDA_SLOW_PATH_CLOCK =
		1, /* there is no counter to read; also until the constructor has checked */
	SP_CUDA_SLOW_PATH_BOUNDARY =
		2, /* the first work after a phase boundary is still to come on some stream */
	SP_CUDA_SLOW_PATH_CUPTI = 4, /* CUPTI may report calls */
};

extern uint32_t sp_cuda_slow_path SP_HIDDEN;

static inline void sp_cuda_slow_path_set(enum sp_cuda_slow_path_reason reason)
{
	__atomic_fetch_or(&sp_cuda_slow_path, (uint32_t)reason, __ATOMIC_RELEASE);
}

static inline void sp_cuda_slow_path_clear(enum sp_cuda_slow_path_reason reason)
{
	__atomic_fetch_and(&sp_cuda_slow_path, ~(uint32_t)reason, __ATOMIC_RELEASE);
}

/* STAGEPROF_WITHOUT=gpu_time turns it off. Constructor. */
void sp_cuda_time_init(void);

/* Call when the driver has begun: looks up the driver's functions. Not on the path of work for the
 * device. */
void sp_cuda_time_bind(void);

/* The calling thread's training phase begins; `phase` is enum sp_phase. Pass the result to
 * sp_cuda_time_leave. */
uint32_t sp_cuda_time_enter(uint32_t phase);
void sp_cuda_time_leave(uint32_t entered);

/* A boundary inside a phase: of a module. */
void sp_cuda_time_split(void);

/*
 * Before and after the launch of a graph by the calling thread, which records. A graph that may be
 * a whole step (preload/cuda/cuda_graph.h) is a stretch of its own: of the phase cuda_graph, or of
 * the phase that it is in. Work after such a graph, until the next boundary, is in no span.
 */
void sp_cuda_time_graph_launch(void);
void sp_cuda_time_graph_launched(void);

/* Work is about to be put on a stream. per_thread: a NULL stream is the calling thread's own. */
void sp_cuda_time_begin(uint64_t stream, int per_thread);
#define SP_CUDA_TIME_WORK(stream, per_thread)                                                      \
	(sp_unlikely(sp_cuda_slow_path & SP_CUDA_SLOW_PATH_BOUNDARY)                               \
		 ? sp_cuda_time_begin((uint64_t)(stream), per_thread)                              \
		 : (void)0)

/* The calling thread has waited for the device. */
void sp_cuda_time_synced(void);

/* Around a capture of this mode by the calling thread: before it begins; and if that fails, or
 * after it. */
void sp_cuda_time_capture(int mode);
void sp_cuda_time_captured(void);

/* Before a stream is destroyed; before and after contexts are destroyed. Their events and streams
 * are dropped. */
void sp_cuda_time_drop_stream(uint64_t stream);
void sp_cuda_time_drop_contexts(void);

/*
 * Around the closing of a library, which may be the driver. Until it is closed, no event is
 * recorded or queried; if the driver is gone then, all outstanding pairs are dropped. Pass the
 * result of begin to end, on the same thread.
 */
int sp_cuda_time_close_begin(void);
void sp_cuda_time_close_end(int begun);

/* Returns 1 for names of functions whose NULL stream is the thread's own. */
int sp_cuda_name_is_per_thread(const char *name);

#endif
