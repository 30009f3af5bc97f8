/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slow calls of CUDA and NCCL, for unintended waits. Calls of 1 ms and longer
 * keep the native stack that made them (preload/stacks/stacks.h) and, on the main thread, the line
 * of Python (preload/frameworks/python_lines.h), unless STAGEPROF_WITHOUT has "lines". Stacks that
 * STAGEPROF_STACKS asks for are kept, too.
 */
#ifndef STAGEPROF_PRELOAD_CUDA_SLOW_CALLS_H
#define STAGEPROF_PRELOAD_CUDA_SLOW_CALLS_H

#include <stdint.h>

#include "preload/recorder/recorder.h"
#include "preload/sys/hidden.h"

/* Shorter calls keep nothing; 0 until the clock's rate is known; UINT64_MAX: no call keeps
 * anything. */
extern uint64_t sp_cuda_slow_ticks SP_HIDDEN;

/*
 * Asks for the line of the program that made a slow call; stack: the id of its native stack, 0:
 * none. Called outside of the recorder; errno may change. NULL: no layer above knows lines.
 */
extern void (*sp_cuda_slow_line_ask)(const struct sp_slow_call_metadata *call,
				     uint32_t stack) SP_HIDDEN;

/* Constructor. */
void sp_cuda_slow_init(void);

/* Call when the driver has begun: prepares for stacks. May load a library. */
void sp_cuda_slow_bind(void);

/* After a call that took sp_cuda_slow_ticks or longer. what: sp_what_make(); caller: the hook's
 * return address, NULL if it is not known; frame: the address of the hook's frame. errno is kept.
 */
void sp_cuda_slow(struct sp_thread *t, uint64_t what, uint64_t start, uint64_t ticks,
		  const void *caller, const void *frame);

#endif
