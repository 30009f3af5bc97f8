/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's activity records, on request (STAGEPROF_CUPTI=1): the work of the GPU, its time, and
 * the call that gave it. Events go into the device's stream (preload/recorder/thread.h).
 *
 * CUPTI serves one user of a process, and this library is a guest: it attaches when the process
 * has initialised CUDA, and leaves for good when other code in the process subscribes or
 * registers buffers (torch.profiler does). It does not attach if a tool was first. Each failure
 * is one line of coverage, and training goes on.
 *
 * A forked child has no CUPTI, as it has no CUDA.
 */
#ifndef STAGEPROF_PRELOAD_CUPTI_H
#define STAGEPROF_PRELOAD_CUPTI_H

#include <stdint.h>

#include "preload/recorder/recorder.h"
#include "preload/sys/hidden.h"

/* The calling thread initialised CUDA and holds no lock of ours. Once for each process. */
void sp_cupti_attach(void);

/* Other code is about to use CUPTI, by this function. Returns when we have left. */
void sp_cupti_yield(const char *function);

/* At the end of the process: reports that CUDA was never initialised. Records that CUPTI still
 * holds were fetched before. */
void sp_cupti_end(void);

/*
 * CUPTI's data on the call that the thread is in. The runtime calls the driver: work of the inner
 * call carries the id of the outer call.
 */
struct sp_cupti_seen {
	uint32_t correlation; /* of the last call that began; 0: none since the last event */
	uint32_t runtime;     /* of the runtime's call that is open */
	uint64_t ticks;	      /* when it began */
};

extern __thread struct sp_cupti_seen sp_cupti_seen
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Closes a span with the correlation id in its EXTRA words. */
void sp_cupti_span_close(struct sp_open_span *span, uint64_t end, int64_t value);

#endif
