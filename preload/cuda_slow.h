/*
 * Calls of CUDA and NCCL that take long, for the waits that nobody meant: those of STAGEPROF_LINES (1ms unless
 * set; 0: none) and longer keep the stack that made them, of native code (preload/stacks.h) and, where it is the main
 * thread's, the line of Python (preload/lines.h). What STAGEPROF_STACKS asks for is kept besides.
 */
#ifndef STAGEPROF_PRELOAD_CUDA_SLOW_H
#define STAGEPROF_PRELOAD_CUDA_SLOW_H

#include <stdint.h>

#include "preload/record.h"

/* Calls below this keep nothing; 0 until the clock's rate is known; UINT64_MAX: none keeps anything. */
extern uint64_t sp_cuda_slow_ticks __attribute__((visibility("hidden")));

/* Constructor. */
void sp_cuda_slow_init(void);

/* The driver has begun: stacks can be asked for. May load a library. */
void sp_cuda_slow_bind(void);

/* After a call that took sp_cuda_slow_ticks or longer. what: sp_what_make(); caller: the hook's return address, NULL
 * where it is not known; frame: where the hook's frame lies. errno is kept. */
void sp_cuda_slow(struct sp_thread *t, uint64_t what, uint64_t start, uint64_t ticks, const void *caller,
		  const void *frame);

#endif
