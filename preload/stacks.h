/*
 * Native stacks of slow calls: of CUDA's and NCCL's (preload/cuda_slow.h), and for those who ask of others,
 * STAGEPROF_STACKS=stage>time[,stage>time...], as in file_read>10ms,jpeg_decode>50ms (ns, us, ms, s). Stages
 * are those of trace/stages.def that a hook can tell by itself: Python's imports are reads and opens of files here.
 *
 * A stack is taken on the calling thread after the call (preload/native_stack.h). Nothing
 * happens in a handler that interrupted the recorder, nor in a child forked while another thread was
 * unwinding (libunwind's locks may be held there for ever).
 */
#ifndef STAGEPROF_PRELOAD_STACKS_H
#define STAGEPROF_PRELOAD_STACKS_H

#include <stdint.h>

#include "preload/record.h"

/* Calls below this never have their stack kept; UINT64_MAX where none was asked for. */
extern uint64_t sp_stacks_least_ticks __attribute__((visibility("hidden")));

/* Constructor. A setting that is not understood is said on stderr and no stack is kept. */
void sp_stacks_init(void);

/* Makes ready to take stacks, where that has not been done; may load a library. Where there is none, coverage says so. */
void sp_stacks_open(void);

/* Keeps the calling thread's stack where the event's stage asks for it. what: sp_what_make(). Not for
 * the hook path: microseconds. errno is kept. */
void sp_stack_keep(struct sp_thread *t, uint64_t what, uint64_t start, uint64_t ticks);

/* Once the clock's rate is known. Returns sp_stacks_least_ticks as it is from then on. */
uint64_t sp_stacks_settle(void);

/* 1 where STAGEPROF_STACKS asks for the stack of such a call. */
int sp_stack_is_asked(const struct sp_slow_facts *call);

/*
 * For callers that have made sure that the thread is outside of the recorder: its stack. They return its id, 0 for none.
 * At a place, that is a hook's return address and where its frame lies, a stack is taken once and then taken for
 * granted: two ways that make equally deep stacks to one place are the first of them.
 */
uint32_t sp_stack_take(struct sp_thread *t);
uint32_t sp_stack_take_once(struct sp_thread *t, const void *caller, const void *frame);

/* Writes that a call was slow, and its stack: an SP_DEFINE_SLOW. */
void sp_slow_keep(struct sp_thread *t, const struct sp_slow_facts *call, uint32_t stack);

/* The same as sp_span_end_at and sp_span_end, for the ends of hooks. gcc would not inline them: there are
 * too many hooks. */
#define SP_INLINE static inline __attribute__((always_inline))

SP_INLINE void sp_span_close_at(struct sp_span *span, uint64_t end, int64_t value)
{
	struct sp_thread *t = span->thread;

	sp_span_end_at(span, end, value);
	if (sp_unlikely(end - span->start >= sp_stacks_least_ticks))
		sp_stack_keep(t, span->what, span->start, end - span->start);
}

SP_INLINE void sp_span_close(struct sp_span *span, int64_t value)
{
	sp_span_close_at(span, sp_clock_ticks(), value);
}

/* Ends a call that waits for others: only sp_clock.long_wait_ticks and longer are events. */
SP_INLINE void sp_wait_close(struct sp_span *span, int64_t value)
{
	uint64_t end = sp_clock_ticks();

	if (end - span->start >= sp_clock.long_wait_ticks)
		sp_span_close_at(span, end, value);
	else
		sp_span_drop(span);
}

#endif
