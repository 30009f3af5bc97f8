/*
 * The hooks of launches, of which a step makes thousands. Where the thread is at work, no other call of CUDA's is open in
 * it, and nothing is to be done besides (no boundary of a stage, no CUPTI), nothing else is called before the real
 * function, so that nothing has to be kept in the frame; else the same is done with every question asked.
 */
#ifndef STAGEPROF_PRELOAD_CUDA_LAUNCH_H
#define STAGEPROF_PRELOAD_CUDA_LAUNCH_H

#include "preload/cuda.h"

/* The calling thread's recorder where nothing has to be asked; NULL: everything has. */
SP_INLINE struct sp_thread *sp_cuda_launch_enter(void)
{
	if (sp_unlikely(sp_cuda_outer[SP_CUDA_CALLS] || sp_cuda_time_armed || sp_cupti_is_attached ||
			!sp_clock.keep))
		return NULL;
	return sp_thread_at_work();
}

SP_INLINE void sp_cuda_launch_end(struct sp_cuda_call *call, uint64_t end, int ret)
{
	struct sp_span span = call->span;
	struct sp_thread *thread = span.thread;

	sp_cuda_close(call);
	call->span.thread = NULL;
	sp_span_close_at(&span, end, -(int64_t)ret);
	if (sp_unlikely(end - span.start >= sp_lines_least_ticks))
		sp_line_keep(thread, span.what, span.start, end - span.start);
}

/* The rest of a hook, where sp_cuda_launch_enter() gave `thread`. */
#define SP_CUDA_LAUNCH(thread, real, kind, arg, parameters, arguments)                             \
	struct sp_cuda_frame frame;                                                                \
	struct sp_cuda_call call __attribute__((cleanup(sp_cuda_cleanup))) = {                     \
		{.thread = NULL}, &frame, SP_CUDA_CALLS};                                          \
	sp_cuda_begin_at(&call, thread, real, kind, arg, sp_clock_counted());                      \
	int ret = ((int(*) parameters)(real)->function)arguments;                                  \
                                                                                                   \
	sp_cuda_launch_end(&call, sp_clock_counted(), ret);                                        \
	return ret;

#endif
