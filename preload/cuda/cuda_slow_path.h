/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reasons for a launch to take the slow path: bits of one word, so that a usual launch makes one
 * check instead of three. All functions are async-signal-safe.
 */
#ifndef STAGEPROF_PRELOAD_CUDA_SLOW_PATH_H
#define STAGEPROF_PRELOAD_CUDA_SLOW_PATH_H

#include <stdint.h>

#include "preload/sys/hidden.h"

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

#endif
