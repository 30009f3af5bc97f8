/*
 * Why a launch may not go straight on to the real function: bits of one word, so that a usual launch asks one question
 * instead of three. All functions are async-signal-safe.
 */
#ifndef STAGEPROF_PRELOAD_CUDA_ASKS_H
#define STAGEPROF_PRELOAD_CUDA_ASKS_H

#include <stdint.h>

enum sp_cuda_ask {
	SP_CUDA_ASK_CLOCK = 1,	  /* there is no counter to read; also until the constructor has looked */
	SP_CUDA_ASK_BOUNDARY = 2, /* the first work behind a boundary of a stage is yet to come on some stream */
	SP_CUDA_ASK_CUPTI = 4,	  /* CUPTI may tell of calls */
};

extern uint32_t sp_cuda_asks __attribute__((visibility("hidden")));

static inline void sp_cuda_asks_set(enum sp_cuda_ask ask)
{
	__atomic_fetch_or(&sp_cuda_asks, (uint32_t)ask, __ATOMIC_RELEASE);
}

static inline void sp_cuda_asks_clear(enum sp_cuda_ask ask)
{
	__atomic_fetch_and(&sp_cuda_asks, ~(uint32_t)ask, __ATOMIC_RELEASE);
}

#endif
