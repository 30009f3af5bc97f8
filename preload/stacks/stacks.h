/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native stacks of slow calls: of CUDA and NCCL calls (preload/cuda/cuda_slow_calls.h), and of
 * calls that STAGEPROF_STACKS=stage>time[,stage>time...] names, as in
 * file_read>10ms,jpeg_decode>50ms (ns, us, ms, s). Stages are those of trace/stages.def that a
 * hook can recognize: Python's imports count as reads and opens of files here.
 *
 * The stack is taken on the calling thread after the call (preload/stacks/native_stack.h). No
 * stack is taken in a handler that interrupted the recorder, nor in a child forked while another
 * thread was unwinding (libunwind's locks may stay locked there).
 */
#ifndef STAGEPROF_PRELOAD_STACKS_H
#define STAGEPROF_PRELOAD_STACKS_H

#include <stdint.h>

#include "preload/recorder/recorder.h"
#include "preload/sys/hidden.h"

/*
 * Asks for the line of the program that made a slow call; stack: the id of its native stack, 0:
 * none. Called outside of the recorder; errno may change. NULL: no layer above knows lines.
 */
extern void (*sp_stack_line_ask)(const struct sp_slow_call_metadata *call,
				 uint32_t stack) SP_HIDDEN;

/* Shorter calls never keep their stack; UINT64_MAX: no setting asks for stacks. */
extern uint64_t sp_stacks_least_ticks SP_HIDDEN;

/* Constructor. A setting that is not understood is reported on stderr, and no stack is kept. */
void sp_stacks_init(void);

/* Prepares for stacks; may load a library. Coverage reports a missing library. */
void sp_stacks_open(void);

/* Keeps the calling thread's stack, and its line, if the setting names the event's stage. what:
 * sp_what_make(). Takes microseconds: not for the hook path. errno is kept. */
void sp_stack_keep(struct sp_thread *t, uint64_t what, uint64_t start, uint64_t ticks);

/* Call once the clock's rate is known. Returns the final sp_stacks_least_ticks. */
uint64_t sp_stacks_calibrate(void);

/* Returns 1 if STAGEPROF_STACKS asks for the stack of such a call. */
int sp_stack_is_wanted(const struct sp_slow_call_metadata *call);

/*
 * The stack of a thread that is outside of the recorder. Returns its id, 0 for none.
 * sp_stack_take_once caches stacks by call site (the hook's return address) and depth (the
 * address of the hook's frame): a second path of equal depth is reported as the first.
 */
uint32_t sp_stack_take(struct sp_thread *t);
uint32_t sp_stack_take_once(struct sp_thread *t, const void *caller, const void *frame);

/* Writes that a call was slow, and its stack: an SP_DEFINE_SLOW. */
void sp_slow_keep(struct sp_thread *t, const struct sp_slow_call_metadata *call, uint32_t stack);

/* sp_span_end_at and sp_span_end for the ends of hooks. always_inline, because gcc does not inline
 * functions with so many callers. */
#define SP_INLINE static inline __attribute__((always_inline))

SP_INLINE void sp_span_close_at(struct sp_open_span *span, uint64_t end, int64_t value)
{
	struct sp_thread *t = span->thread;

	sp_span_end_at(span, end, value);
	if (sp_unlikely(end - span->start >= sp_stacks_least_ticks))
		sp_stack_keep(t, span->what, span->start, end - span->start);
}

SP_INLINE void sp_span_close(struct sp_open_span *span, int64_t value)
{
	sp_span_close_at(span, sp_clock_ticks(), value);
}

/* Ends a call that waits: only calls of sp_recorder_clock.long_wait_ticks and longer are events. */
SP_INLINE void sp_wait_close(struct sp_open_span *span, int64_t value)
{
	uint64_t end = sp_clock_ticks();

	if (end - span->start >= sp_recorder_clock.long_wait_ticks)
		sp_span_close_at(span, end, value);
	else
		sp_span_drop(span);
}

#endif
