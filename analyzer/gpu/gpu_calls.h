/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA calls of a process: the number of calls in each phase of a step, the device memory
 * that was in use, and the allocations in steps that wait for the device. One pass reads the
 * threads of the process.
 *
 * A call belongs to the phase that the training thread was in when it was made (launch_phase.h),
 * whichever thread made it and whether or not the device's time is known. Memory is what hooked
 * allocations and frees report. Under PyTorch's caching allocator that is the memory that the
 * allocator holds, not the memory of tensors. Contexts, the code of kernels, and memory that
 * libraries get in ways without a hook are not included.
 */
#ifndef STAGEPROF_ANALYZER_GPU_CALLS_H
#define STAGEPROF_ANALYZER_GPU_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/metadata/gpu_kinds.h"
#include "analyzer/steps/account.h"
#include "trace/events.h"

struct sp_run;
struct sp_trainer;

/* The calls in one phase of the steps, or outside steps. */
struct sp_gpu_call_sums {
	uint64_t launches, copies, sets, syncs, other;
	uint64_t blocking;	   /* copies for which sp_gpu_copy_blocks() */
	uint64_t bytes, set_bytes; /* copied, set */
	uint64_t host_ns;
};

#define SP_GPU_NO_STEP SP_ACCOUNT_PHASES
#define SP_GPU_CALL_ROWS (SP_ACCOUNT_PHASES + 1)

/* Allocations and frees of one kind: in steps, or all in a process without steps. */
struct sp_gpu_stall {
	uint32_t kind; /* not set where calls is 0 */
	uint64_t calls, total_ns, max_ns;
};

struct sp_gpu_memory_step {
	uint64_t end_bytes, peak_bytes;
};

struct sp_gpu_calls {
	struct sp_gpu_call_sums phases[SP_GPU_CALL_ROWS];
	struct sp_gpu_stall stalls[SP_GPU_STALL_KINDS]; /* by kind */
	struct sp_gpu_memory_step *steps; /* one a step; NULL: no device memory was seen */
	uint64_t end_bytes, peak_bytes, pinned_peak_bytes;
	uint64_t unmatched; /* frees of memory whose allocation was not seen, and changes that found
			       no room */
};

/* trainer: NULL where no thread of the process trains; all calls are then outside steps. Returns 0
 * or -ENOMEM. */
int sp_gpu_calls_read(struct sp_gpu_calls *calls, const struct sp_run *run, uint32_t image,
		      const struct sp_trainer *trainer);
void sp_gpu_calls_finish(struct sp_gpu_calls *calls);

#endif
