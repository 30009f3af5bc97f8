/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared parts of the CUDA and NCCL hooks: one event for each piece of work, and the original
 * function of a hook.
 *
 * The runtime calls the driver, and the driver is hooked too: only the outermost call of a thread
 * is recorded. A call is inside an open call when both of these hold: it comes from the library
 * that the open call went into (or, after a tail call there, from our hook); and the frame of the
 * open call, which struct sp_thread names, is above it and intact. The cleanup closes a call that
 * is left by an exception. A call left by longjmp may look open, but it hides no call that the
 * program makes itself.
 *
 * Everything here is async-signal-safe but the first sp_cuda_original_find() from each object.
 *
 * Names of macros say what is not in their arguments. Macros with RETURN end with a return
 * statement. Macros with RET are evaluated after the call, and read the hook's `ret` and `call`.
 * Macros with WITH_WORK note the work, and read the hook's `original`; they give the arg of the
 * event.
 *
 * RUNTIME_LAUNCH(cudaLaunchKernel, cudaLaunchKernel, stream, (...), (...)) in
 * hooks_cuda_runtime.c becomes two functions:
 *
 *	int cudaLaunchKernel(...)                       SP_HOOK
 *	{
 *		caller = return address
 *		thread = sp_cuda_launch_enter()         NULL: some question is open
 *		if (!thread || the caller is new)
 *			return sp_slow_path_cudaLaunchKernel(caller, ...)
 *		sp_cuda_begin_at(&call, ...)            SP_CUDA_RETURN_LAUNCH from here on
 *		ret = real(...)
 *		ticks = sp_cuda_launch_end(&call, ...)
 *		if (ticks >= sp_cuda_slow_ticks)
 *			sp_cuda_slow(...)
 *		return ret
 *	}
 *	int sp_slow_path_cudaLaunchKernel(caller, ...)  SP_CUDA_RETURN_HOOK_CALL
 *	{
 *		real = sp_cuda_original_find(original, caller, &inner)
 *		call = {not recorded}                   SP_CUDA_RETURN_REAL_CALL from here on
 *		if (thread = sp_cuda_enter(...))        SP_CUDA_CALL
 *			sp_cuda_begin(&call, thread, &inner, kind, ARG_WITH_WORK(stream))
 *		ret = real(...)
 *		sp_cuda_end(&call, RET_STATUS, caller)
 *		sp_cuda_after(thread, kind, ret)
 *		return ret
 *	}
 */
#ifndef STAGEPROF_PRELOAD_CUDA_H
#define STAGEPROF_PRELOAD_CUDA_H

#include <stdint.h>

#include "preload/cuda/abi_cuda.h"
#include "preload/cuda/cuda_memory.h"
#include "preload/cuda/cuda_slow_calls.h"
#include "preload/cuda/cuda_time.h"
#include "preload/cuda/cupti.h"
#include "preload/sys/object_range.h"
#include "preload/hooks/hook.h"
#include "preload/resolve/resolve.h"
#include "preload/stacks/stacks.h"

enum sp_cuda_layer {
	SP_CUDA_CALLS, /* the runtime and the driver */
	SP_NCCL_CALLS, /* above them; the kernels of NCCL are events, too */
};
_Static_assert(SP_NCCL_CALLS + 1 == SP_CALL_LAYERS, "a place for each layer in struct sp_thread");

/* The mark by which an inner call recognizes the open call. */
struct sp_cuda_frame {
	uintptr_t alive; /* SP_CUDA_ALIVE until the stack is reused after a longjmp */
};

/* Separate from its frame, whose address other code holds: in a hook that gives the call's address
 * to nobody, the call stays in registers. */
struct sp_cuda_call {
	struct sp_open_span span; /* thread NULL: inside another call, not recording, or closed */
	struct sp_cuda_frame *frame;
	enum sp_cuda_layer layer;
};

/* No stack of driver calls is deeper; also prevents reads far below a stack that is gone. */
#define SP_CUDA_DEEPEST 0x100000u
/* One instruction stores it, and one compares it. */
#define SP_CUDA_ALIVE ((uintptr_t)0x53504355u)

/* above: the distance in bytes from the asking call's frame up to the open call's frame; huge if no
 * call is open, or if its frame is below. */
SP_INLINE int sp_cuda_is_open(const struct sp_layer_call *open, uintptr_t above)
{
	return above < SP_CUDA_DEEPEST &&
	       ((const struct sp_cuda_frame *)open->frame)->alive == SP_CUDA_ALIVE;
}

SP_INLINE int sp_cuda_comes_from(const struct sp_layer_call *open, const void *caller)
{
	return sp_object_range_has(&open->inner, caller) || sp_is_own((uintptr_t)caller);
}

/* Returns the thread that records, or NULL: then the rest of the hook does nothing. */
SP_INLINE struct sp_thread *sp_cuda_enter(uintptr_t frame, enum sp_cuda_layer layer,
					  const void *caller)
{
	const struct sp_thread *t = sp_tls.thread;
	const struct sp_layer_call *open = t ? &t->layer_calls[layer] : NULL;

	if (open && sp_cuda_is_open(open, (uintptr_t)open->frame - frame - 1) &&
	    sp_cuda_comes_from(open, caller))
		return NULL;
	return sp_enter();
}

/* The caller sets the library that the call goes into. */
SP_INLINE void sp_cuda_begin_at(struct sp_cuda_call *call, struct sp_thread *t, uint32_t kind,
				uint32_t arg, uint64_t start)
{
	call->frame->alive = SP_CUDA_ALIVE;
	t->layer_calls[call->layer].frame = call->frame;
	call->span = sp_span_begin_warm(t, kind, arg, start);
}

/* Clears the open call of the layer. A call inside that was not recognized may have replaced it. */
SP_INLINE void sp_cuda_close(struct sp_cuda_call *call)
{
	call->span.thread->layer_calls[call->layer].frame = NULL;
}

/* Both layers of CUDA and NCCL return 0 or a positive error number. */
static inline int64_t sp_cuda_value(int ret, uint64_t value)
{
	return ret ? -(int64_t)ret : (int64_t)value;
}

SP_INLINE void sp_cuda_cleanup(struct sp_cuda_call *call)
{
	if (sp_likely(!call->span.thread))
		return;
	sp_cuda_close(call);
	sp_span_cleanup(&call->span);
}

void sp_cuda_begin(struct sp_cuda_call *call, struct sp_thread *t,
		   const struct sp_object_range *inner, uint32_t kind, uint32_t arg);

/* caller: the return address of the hook. */
void sp_cuda_end(struct sp_cuda_call *call, int64_t value, const void *caller);

/* Declares and begins a call; arg is evaluated only if the call is recorded, before its time
 * begins. inner: the library that the call goes into. */
#define SP_CUDA_CALL(name, layer, inner, caller, kind, arg)                                        \
	struct sp_cuda_frame name##_frame;                                                         \
	struct sp_cuda_call name __attribute__((                                                   \
		cleanup(sp_cuda_cleanup))) = {{.thread = NULL}, &name##_frame, layer};             \
	struct sp_thread *name##_thread = sp_cuda_enter((uintptr_t)&name##_frame, layer, caller);  \
	do {                                                                                       \
		if (name##_thread)                                                                 \
			sp_cuda_begin(&name, name##_thread, inner, kind, arg);                     \
	} while (0)

/* After the outermost call was recorded. `kind` is a constant at each use:
 * a launch pays nothing. */
static inline void sp_cuda_after(const struct sp_thread *recorded, uint32_t kind, int ret)
{
	if (!recorded)
		return;
	switch (kind) {
	case SP_EV_cudaStreamSynchronize:
	case SP_EV_cudaDeviceSynchronize:
	case SP_EV_cudaEventSynchronize:
	case SP_EV_cuStreamSynchronize:
	case SP_EV_cuCtxSynchronize:
	case SP_EV_cuEventSynchronize:
		sp_cuda_time_synced();
		break;
	case SP_EV_cudaStreamBeginCapture:
	case SP_EV_cuStreamBeginCapture:
		if (ret)
			sp_cuda_time_captured();
		break;
	case SP_EV_cudaStreamEndCapture:
	case SP_EV_cuStreamEndCapture:
		if (ret != SP_CUDA_WRONG_THREAD)
			sp_cuda_time_captured();
		break;
	case SP_EV_cudaGraphLaunch:
	case SP_EV_cuGraphLaunch:
		sp_cuda_time_graph_launched();
		break;
	case SP_EV_cudaDeviceReset:
	case SP_EV_cuDevicePrimaryCtxReset:
	case SP_EV_cuDevicePrimaryCtxRelease:
	case SP_EV_cuCtxDestroy:
	case SP_EV_cudaExecutionCtxDestroy:
	case SP_EV_cuGreenCtxDestroy:
		sp_cuda_time_drop_contexts();
		break;
	}
}

/* A batch of copies is one call with the bytes of all copies. 3D copies: rows of bytes, as far as
 * known. */
static inline uint64_t sp_cuda_bytes_of(const size_t *sizes, size_t count)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		bytes += sizes[i];
	return bytes;
}

/* An array's side has no pointer, and its extent counts elements: then the bytes are not known. */
static inline uint64_t sp_cuda_bytes_of_box(const struct sp_cuda_extent *extent, const void *array,
					    const void *other)
{
	return array || other ? 0 : extent->width * extent->height * extent->depth;
}

static inline uint64_t sp_cuda_bytes_of_3d(const struct sp_cuda_copy_3d_batch *copies, size_t count)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		bytes += copies[i].extent.width * copies[i].extent.height * copies[i].extent.depth;
	return bytes;
}

/* The arg of calls that begin a capture; the capture is noted before the call. */
static inline uint32_t sp_cuda_arg_with_capture(const void *stream, int mode)
{
	sp_cuda_time_capture(mode);
	return sp_cuda_arg_make((uintptr_t)stream, 0, 0);
}

/* The arg of calls that end contexts; events and streams are dropped before the call. */
static inline uint32_t sp_cuda_arg_with_drop(void)
{
	sp_cuda_time_drop_contexts();
	return 0;
}

/*
 * Values of a call whose status is in a local `ret`. Memory that the parameters point to is read
 * only after a success, because it may be unset before.
 */
#define RET_STATUS sp_cuda_value(ret, 0)
#define RET_OR_BYTES(bytes) (ret ? -(int64_t)ret : (int64_t)(bytes))
#define RET_QUERIED (ret == SP_CUDA_NOT_READY ? 1 : RET_STATUS)

/* An allocation's address is known after the call. */
static inline void sp_cuda_made(struct sp_cuda_call *call, const void *address)
{
	sp_span_set_arg(&call->span, (uint32_t)((uintptr_t)address >> 8));
}

/* The value of an allocation. Only the outermost call keeps the range, because only that call is
 * recorded. address: of a failed call, 0. */
static inline int64_t sp_cuda_memory_made(struct sp_cuda_call *call, enum sp_cuda_memory what,
					  int ret, uint64_t address, size_t bytes)
{
	if (ret == 0 && call->span.thread) {
		sp_cuda_made(call, (const void *)address);
		sp_cuda_memory_add(what, (const void *)address, bytes);
	}
	return sp_cuda_value(ret, bytes);
}

/* The arg of a call that frees. The range is removed before the call, because another thread may
 * get the address at once. */
static inline uint32_t sp_cuda_memory_freed(enum sp_cuda_memory what, uint64_t address)
{
	sp_cuda_memory_remove(what, (const void *)address);
	return (uint32_t)(address >> 8);
}

/* The value and the arg by these, in a hook. */
#define RET_MADE(what, address, bytes)                                                             \
	sp_cuda_memory_made(&call, SP_CUDA_##what, ret, ret ? 0 : (uintptr_t) * (address), bytes)
#define FREED(what, address) sp_cuda_memory_freed(SP_CUDA_##what, (uintptr_t)(address))

/*
 * The real function for a calling object. A training program calls one function from thousands of
 * places in a few libraries: resolve.h runs once for each library.
 */
#define SP_CUDA_CALLERS 4u /* libraries cached for each function */

/*
 * An entry is written once for each generation of resolve.h. The upper half of `stamp` is that
 * generation, or SP_CUDA_WRITING during a write; the lower half counts writes.
 */
#define SP_CUDA_WRITING UINT32_MAX

struct sp_cuda_caller {
	uint64_t stamp;
	struct sp_object_range library; /* the caller's */
	void *function;
	struct sp_object_range inner; /* the range for an open call */
};

/* The entries of a hook. Aligned: a launch reads one cache line of them. Apart from what the loader
 * relocates: the pages of a program without CUDA stay unwritten. */
#define SP_CUDA_CALLERS_OF(name) struct sp_cuda_caller name[SP_CUDA_CALLERS] SP_CUDA_ALIGNED
#define SP_CUDA_ALIGNED __attribute__((aligned(64)))

struct sp_cuda_original {
	struct sp_cuda_caller *callers; /* [SP_CUDA_CALLERS] */
	const char *name, *symbol_prefix;
	const void *wrapper;
};

#define SP_CUDA_ORIGINAL(callers, name, symbol_prefix, wrapper)                                    \
	{                                                                                          \
		callers, #name, symbol_prefix, (const void *)(wrapper)                             \
	}

/* Returns the function, never NULL. */
void *sp_cuda_original_find(const struct sp_cuda_original *original, const void *address,
			    struct sp_object_range *ret_inner);

/* Returns 1 and the function if the entry is for this caller. */
SP_INLINE int sp_cuda_caller_read(const struct sp_cuda_caller *caller, const void *address,
				  void **ret_function, struct sp_object_range *ret_inner)
{
	uint64_t stamp = __atomic_load_n(&caller->stamp, __ATOMIC_ACQUIRE);
	uintptr_t begin = __atomic_load_n(&caller->library.begin, __ATOMIC_RELAXED);
	uintptr_t bytes = __atomic_load_n(&caller->library.bytes, __ATOMIC_RELAXED);

	*ret_function = __atomic_load_n(&caller->function, __ATOMIC_RELAXED);
	ret_inner->begin = __atomic_load_n(&caller->inner.begin, __ATOMIC_RELAXED);
	ret_inner->bytes = __atomic_load_n(&caller->inner.bytes, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return sp_likely((uintptr_t)address - begin < bytes) &&
	       sp_likely(stamp >> 32 ==
			 __atomic_load_n(&sp_resolve_generation, __ATOMIC_RELAXED)) &&
	       sp_likely(__atomic_load_n(&caller->stamp, __ATOMIC_RELAXED) == stamp);
}

/* In a hook of a library: the one static original of its own, and the call. */
#define SP_CUDA_HOOK(name, symbol_prefix, layer, kind, arg, value, parameters, arguments)          \
	SP_HOOK(int, name, SP_UNPACK parameters)                                                   \
	{                                                                                          \
		static SP_CUDA_CALLERS_OF(callers);                                                \
		static const struct sp_cuda_original of_hook =                                     \
			SP_CUDA_ORIGINAL(callers, name, symbol_prefix, sp_wrap_##name);            \
		const struct sp_cuda_original *const original = &of_hook;                          \
		const void *caller = __builtin_return_address(0);                                  \
                                                                                                   \
		SP_CUDA_RETURN_HOOK_CALL(original, caller, layer, kind, arg, value, parameters,    \
					 arguments)                                                \
	}
#define SP_CUDA_RETURN_HOOK_CALL(original, caller, layer, kind, arg, value, parameters, arguments) \
	struct sp_object_range inner;                                                              \
	void *real = sp_cuda_original_find(original, caller, &inner);                              \
	SP_CUDA_RETURN_REAL_CALL(real, caller, inner, layer, kind, arg, value, parameters,         \
				 arguments)
#define SP_CUDA_RETURN_REAL_CALL(real, caller, inner, layer, kind, arg, value, parameters,         \
				 arguments)                                                        \
	SP_CUDA_CALL(call, layer, &(inner), caller, kind, arg);                                    \
	int ret = ((int(*) parameters)real)arguments;                                              \
                                                                                                   \
	sp_cuda_end(&call, value, caller);                                                         \
	sp_cuda_after(call_thread, kind, ret);                                                     \
	return ret;

#endif
