/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Coverage of CUDA: the libraries that calls went to, and the loaded libraries that were never
 * called.
 */
#ifndef STAGEPROF_PRELOAD_CUDA_COVERAGE_H
#define STAGEPROF_PRELOAD_CUDA_COVERAGE_H

enum sp_cuda_group { SP_CUDA_RUNTIME, SP_CUDA_DRIVER, SP_CUDA_NCCL, SP_CUDA_HIP, SP_CUDA_GROUPS };

/* Call when the library of `function` was called.
 * Reported once for each library and process image. */
void sp_cuda_coverage(enum sp_cuda_group group, const void *function);

/* Call when a lookup returned a hooked function. Reported only after an event was recorded, because
 * lookups begin no run. */
void sp_cuda_coverage_found(enum sp_cuda_group group, const void *function);

/* Call when a driver function with an unknown ABI was looked up: it is not hooked. `name` must live
 * for ever. Reported only after an event was recorded. */
void sp_cuda_coverage_unknown(const char *name);

/* At the end of the process: reports the rest. */
void sp_cuda_coverage_end(void);

#endif
