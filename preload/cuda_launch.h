/*
 * The hooks of launches, of which a step makes thousands. Where the thread is at work, no other call of CUDA's is open in
 * it, and nothing is to be done besides (no boundary of a stage, no CUPTI), nothing else is called before the real
 * function, so that nothing has to be kept in the frame; else the same is done with every question asked.
 */
#ifndef STAGEPROF_PRELOAD_CUDA_LAUNCH_H
#define STAGEPROF_PRELOAD_CUDA_LAUNCH_H

#include "preload/cuda.h"

/* How far above the stack pointer an address is. __builtin_frame_address() would set up a frame for it. */
SP_INLINE uintptr_t sp_above_stack(const void *address)
{
	uintptr_t above = (uintptr_t)address;

#if defined(__x86_64__)
	__asm__("subq %%rsp, %0" : "+r"(above) : : "cc");
#elif defined(__aarch64__)
	__asm__("sub %0, %0, sp" : "+r"(above));
#endif
	return above;
}

/* The calling thread's recorder where nothing has to be asked; NULL: everything has. */
SP_INLINE struct sp_thread *sp_cuda_launch_enter(void)
{
	struct sp_thread *t = sp_tls.thread;

	if (sp_likely(t && !(sp_thread_idle_bits(t) | sp_cuda_asks | (uintptr_t)t->cuda_open[SP_CUDA_CALLS].frame)))
		return t;
	return NULL;
}

/* Returns what the call took. */
SP_INLINE uint64_t sp_cuda_launch_end(struct sp_cuda_call *call, uint64_t end, int ret)
{
	struct sp_span span = call->span;

	sp_cuda_close(call);
	call->span.thread = NULL;
	sp_span_end_at(&span, end, -(int64_t)ret);
	return end - span.start;
}

/* The rest of a hook, where sp_cuda_launch_enter() gave `thread`, and its open call says what this one goes into. */
#define SP_CUDA_LAUNCH(thread, real, kind, arg, parameters, arguments)                             \
	struct sp_cuda_frame frame;                                                                \
	struct sp_cuda_call call __attribute__((cleanup(sp_cuda_cleanup))) = {                     \
		{.thread = NULL}, &frame, SP_CUDA_CALLS};                                          \
	sp_cuda_begin_at(&call, thread, kind, arg, sp_clock_counted());                            \
	int ret = ((int(*) parameters)(real))arguments;                                            \
	uint64_t ticks = sp_cuda_launch_end(&call, sp_clock_counted(), ret);                       \
                                                                                                   \
	if (sp_unlikely(ticks >= sp_cuda_slow_ticks))                                              \
		sp_cuda_slow(thread, call.span.what, call.span.start, ticks, __builtin_return_address(0), \
			     __builtin_frame_address(0));                                          \
	return ret;

#endif
