/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hooks of launches, of which a step makes thousands. If the thread records, has no other
 * CUDA call open, and no special work is due (no phase boundary, no CUPTI), the wrapper calls
 * nothing but the real function, so that the frame keeps nothing. Otherwise the slow path makes
 * every check.
 */
#ifndef STAGEPROF_PRELOAD_CUDA_LAUNCH_H
#define STAGEPROF_PRELOAD_CUDA_LAUNCH_H

#include "preload/cuda/cuda.h"

/* The distance of an address above the stack pointer. __builtin_frame_address() would set up a
 * frame for it. */
SP_INLINE uintptr_t sp_above_stack(const void *address)
{
	uintptr_t above = (uintptr_t)address;

#if defined(__x86_64__)
	__asm__("subq %%rsp, %0" : "+r"(above) : : "cc");
#elif defined(__aarch64__)
	/* An instruction takes the stack pointer as its first operand only. */
	__asm__("neg %0, %0\n\tadd %0, sp, %0\n\tneg %0, %0" : "+r"(above));
#endif
	return above;
}

/* The calling thread's recorder if no check is needed; NULL: take the slow path. */
SP_INLINE struct sp_thread *sp_cuda_launch_enter(void)
{
	struct sp_thread *t = sp_tls.thread;

	if (sp_likely(t && !(sp_thread_idle_bits(t) | sp_cuda_slow_path |
			     (uintptr_t)t->layer_calls[SP_CUDA_CALLS].frame)))
		return t;
	return NULL;
}

/* Returns the ticks that the call took. */
SP_INLINE uint64_t sp_cuda_launch_end(struct sp_cuda_call *call, uint64_t end, int ret)
{
	struct sp_open_span span = call->span;

	sp_cuda_close(call);
	call->span.thread = NULL;
	sp_span_end_at(&span, end, -(int64_t)ret);
	return end - span.start;
}

/* The rest of a hook after sp_cuda_launch_enter() returned `thread`, whose open call names the
 * library that this call goes into. Returns from the hook. */
#define SP_CUDA_RETURN_LAUNCH(thread, real, kind, arg, parameters, arguments)                      \
	struct sp_cuda_frame frame;                                                                \
	struct sp_cuda_call call __attribute__((                                                   \
		cleanup(sp_cuda_cleanup))) = {{.thread = NULL}, &frame, SP_CUDA_CALLS};            \
	sp_cuda_begin_at(&call, thread, kind, arg, sp_clock_counted());                            \
	int ret = ((int(*) parameters)(real))arguments;                                            \
	uint64_t ticks = sp_cuda_launch_end(&call, sp_clock_counted(), ret);                       \
                                                                                                   \
	if (sp_unlikely(ticks >= sp_cuda_slow_ticks))                                              \
		sp_cuda_slow(thread, call.span.what, call.span.start, ticks,                       \
			     __builtin_return_address(0), __builtin_frame_address(0));             \
	return ret;

#endif
