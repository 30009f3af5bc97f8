/*
 * What a process asked of its devices, call by call: how many calls each part of a step made, the
 * device memory that was in use, and the allocations in steps that wait for the device. Read from the
 * threads of the process again.
 *
 * A call belongs to the part whose stretch on the device (analyzer/gpu_time.h) it was made in. Memory is what
 * hooked allocations and frees say: where PyTorch's caching allocator stands between, what it holds, not what
 * tensors use. Not in it: contexts, kernels' code, and what libraries get in ways that have no hook.
 */
#ifndef STAGEPROF_ANALYZER_GPU_CALLS_H
#define STAGEPROF_ANALYZER_GPU_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/account.h"
#include "trace/events.h"

struct sp_report;
struct sp_steps;
struct sp_sums;

/* Calls of one part of the steps; the last entry: of no step. */
struct sp_gpu_call_sums {
	uint64_t launches, copies, sets, syncs, other;
	uint64_t blocking; /* of the copies: sp_gpu_copy_blocks() */
	uint64_t bytes; /* copied and set */
	uint64_t host_ns;
};

#define SP_GPU_NO_STEP SP_ACCOUNT_PARTS
#define SP_GPU_CALL_ROWS (SP_ACCOUNT_PARTS + 1)
#define SP_GPU_STALL_KINDS 12u /* those that sp_gpu_call_stalls() */

/* Allocations and frees in steps, of a process without steps all, by kind of event. */
struct sp_gpu_stall {
	uint32_t kind; /* where there are calls */
	uint64_t calls, total_ns, max_ns;
};

struct sp_gpu_memory_step {
	uint64_t end_bytes, peak_bytes;
};

struct sp_gpu_calls {
	struct sp_gpu_call_sums parts[SP_GPU_CALL_ROWS];
	struct sp_gpu_stall stalls[SP_GPU_STALL_KINDS]; /* by kind */
	struct sp_gpu_memory_step *steps; /* one a step; NULL: no device memory was seen */
	uint64_t end_bytes, peak_bytes, pinned_peak_bytes;
	uint64_t unmatched; /* frees of what was not seen to be allocated, and changes beyond the room for them */
};

/* `steps`: the trainer's; without one, all calls are of no step. Returns 0 or -ENOMEM. */
int sp_gpu_calls_read(struct sp_gpu_calls *calls, const struct sp_report *report, uint32_t image,
		      const struct sp_steps *steps);
void sp_gpu_calls_finish(struct sp_gpu_calls *calls);

/* True where these stages (SP_STAGES of them) have calls of CUDA. */
bool sp_gpu_calls_in(const struct sp_sums *stages);

/* Of the class of an event: whether it is a call of CUDA's runtime or driver. */
bool sp_gpu_call_is_cuda(uint8_t class);

/* Allocations and frees that may wait for the device, and hold up all its streams. */
bool sp_gpu_call_stalls(uint32_t kind);

/* Copies of a form that returns when the host may use the bytes: cudaMemcpy, cuMemcpyDtoH, …, not …Async. */
bool sp_gpu_copy_is_synchronous(uint32_t kind);

/*
 * A copy to the host that waits for the work before it: of that form, or to memory that is not pinned ("API synchronization
 * behavior" in CUDA's reference). False where `arg` does not tell the direction or the memory.
 */
bool sp_gpu_copy_blocks(uint32_t kind, uint32_t arg);

#endif
