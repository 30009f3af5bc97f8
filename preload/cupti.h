/*
 * CUPTI's activity records, for those who ask (STAGEPROF_CUPTI=1): what ran on the GPU, when, and which call
 * gave it. Events go into a stream that is no thread's (thread.h).
 *
 * CUPTI serves one user of a process. We are its guest: attached when the process has initialised CUDA, and
 * withdrawn for good when anybody else in the process subscribes or registers buffers (torch.profiler does), or
 * not attached where a tool was first. Whatever fails is one line of coverage, and training goes on.
 *
 * In a forked child there is no CUPTI, as there is no CUDA.
 */
#ifndef STAGEPROF_PRELOAD_CUPTI_H
#define STAGEPROF_PRELOAD_CUPTI_H

#include <stdint.h>

#include "preload/abi_cupti.h"
#include "preload/record.h"

/* The functions of preload/cupti.def. */
struct sp_cupti {
	void *library;
	char name[64]; /* of its file */
#define SP_CUPTI_FUNCTION(name, parameters) int(*name) parameters;
#include "preload/cupti.def"
#undef SP_CUPTI_FUNCTION
};

/*
 * Finds the library: one that is loaded already (PyTorch brings its own), then the one of the CUDA version in
 * use, by name and beside the runtime. Returns 0, or -ENOENT with *ret_missing NULL where there is no library, or
 * the name of the function that it lacks. Loads a library: not for hooks of calls that are recorded.
 */
int sp_cupti_find(struct sp_cupti *cupti, const char **ret_missing);

/* CUDA was initialised by the calling thread, which holds no lock of ours. Once a process. */
void sp_cupti_attach(void);

/* Somebody else is about to use CUPTI, by this function. Returns when we no longer do. */
void sp_cupti_yield(const char *function);

/* The process ends: where CUDA was never initialised, that is said. What CUPTI still holds was fetched before. */
void sp_cupti_end(void);

/* The wrapper for a name that dlsym is asked for; NULL: none, or CUPTI was not asked for. */
void *sp_cupti_wrapper(const char *name);

/*
 * What CUPTI told of the call that the thread is in. A call of the runtime makes calls of the driver: what
 * they launch carries the id of the outer one.
 */
struct sp_cupti_seen {
	uint32_t correlation; /* of the last call that began; 0: none since the last event */
	uint32_t runtime;     /* of the runtime's call that is open */
	uint64_t ticks;	      /* when it began */
};

extern __thread struct sp_cupti_seen sp_cupti_seen
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Closes a span with the correlation id in its EXTRA words. */
void sp_cupti_span_close(struct sp_span *span, uint64_t end, int64_t value);

#endif
