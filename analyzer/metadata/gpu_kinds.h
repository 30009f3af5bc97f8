/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Properties of the kinds of events of CUDA and HIP.
 */
#ifndef STAGEPROF_ANALYZER_GPU_KINDS_H
#define STAGEPROF_ANALYZER_GPU_KINDS_H

#include <stdbool.h>
#include <stdint.h>

/* True for classes of calls of CUDA's runtime or driver, and of HIP. */
bool sp_gpu_call_is_cuda(uint8_t class);

/* True for a kind of call of CUDA, HIP or NCCL: those whose slow calls the view sync shows. */
bool sp_gpu_call_is_kept(uint32_t kind);

/* "pageable" or "pinned": the host's memory in a copy with this arg; NULL: not known. */
const char *sp_gpu_copy_host_memory(uint32_t arg);

/* True for calls that begin, or end, the capture of a graph. */
bool sp_gpu_call_begins_capture(uint32_t kind);
bool sp_gpu_call_ends_capture(uint32_t kind);

#define SP_GPU_STALL_KINDS 18u /* kinds for which sp_gpu_call_stalls() */

/* True for allocations and frees that may wait for the device, and hold up all its streams. */
bool sp_gpu_call_stalls(uint32_t kind);

/* The index of a kind that stalls, from 0; SP_GPU_STALL_KINDS for all other kinds. */
unsigned sp_gpu_stall_index(uint32_t kind);

/* True for copies that return when the host may use the bytes: cudaMemcpy, cuMemcpyDtoH, …, not
 * …Async. */
bool sp_gpu_copy_is_synchronous(uint32_t kind);

/*
 * True for a copy to the host that waits for the work before it: a synchronous copy, or a copy to
 * memory that is not pinned ("API synchronization behavior" in CUDA's reference). False where `arg`
 * does not give the direction or the memory.
 */
bool sp_gpu_copy_blocks(uint32_t kind, uint32_t arg);

#endif
