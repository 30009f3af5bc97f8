/*
 * What the CUDA and NCCL hooks share: one event for each piece of work, and the function behind a hook.
 *
 * Calls of the runtime make calls of the driver, which are hooked too: only the outermost call of a thread
 * is recorded. A call is inside another one if it comes from the library that the other one went into (or,
 * after a tail call there, from our hook), and the other's frame, which the thread's recorder names, is above and unharmed.
 * A call that is left by an exception is closed by the cleanup. What a longjmp leaves behind may look alive, but
 * it hides nothing that the program calls by itself.
 *
 * All of it is async-signal-safe but sp_cuda_original_find's first call from each object.
 */
#ifndef STAGEPROF_PRELOAD_CUDA_H
#define STAGEPROF_PRELOAD_CUDA_H

#include <stdint.h>

#include "preload/abi_cuda.h"
#include "preload/cuda_graph.h"
#include "preload/cuda_memory.h"
#include "preload/cuda_slow.h"
#include "preload/cuda_time.h"
#include "preload/cupti.h"
#include "preload/extent.h"
#include "preload/hook.h"
#include "preload/resolve.h"
#include "preload/stacks.h"

enum sp_cuda_layer {
	SP_CUDA_CALLS, /* the runtime and the driver */
	SP_NCCL_CALLS, /* on top of them; their kernels are events, too */
};
_Static_assert(SP_NCCL_CALLS + 1 == SP_CUDA_LAYERS, "a place for each layer in struct sp_thread");

/* What a call inside an open one is known by. */
struct sp_cuda_frame {
	uintptr_t alive; /* SP_CUDA_ALIVE, until something else lies there: the call was left by longjmp */
};

/* Apart from its frame, whose address others have: in a hook that gives its own to nobody it lives in registers. */
struct sp_cuda_call {
	struct sp_span span; /* thread NULL: inside another call, not recording, or closed */
	struct sp_cuda_frame *frame;
	enum sp_cuda_layer layer;
};

/* No stack of driver calls is deeper; also keeps us from reading far below a stack that is gone. */
#define SP_CUDA_DEEPEST 0x100000u
#define SP_CUDA_ALIVE ((uintptr_t)0x53504355u) /* one instruction stores it, and one compares */

/* above: so many bytes the open call's frame lies above that of the call that asks; huge where there is none, or below. */
SP_INLINE int sp_cuda_is_open(const struct sp_cuda_open *open, uintptr_t above)
{
	return above < SP_CUDA_DEEPEST && open->frame->alive == SP_CUDA_ALIVE;
}

SP_INLINE int sp_cuda_comes_from(const struct sp_cuda_open *open, const void *caller)
{
	return sp_extent_has(&open->inner, caller) || sp_is_own((uintptr_t)caller);
}

/* Returns the thread that records, or NULL: then the rest of the hook costs nothing. */
SP_INLINE struct sp_thread *sp_cuda_enter(uintptr_t frame, enum sp_cuda_layer layer, const void *caller)
{
	const struct sp_thread *t = sp_tls.thread;
	const struct sp_cuda_open *open = t ? &t->cuda_open[layer] : NULL;

	if (open && sp_cuda_is_open(open, (uintptr_t)open->frame - frame - 1) &&
	    sp_cuda_comes_from(open, caller))
		return NULL;
	return sp_enter();
}

/* What it goes into is set by the caller. */
SP_INLINE void sp_cuda_begin_at(struct sp_cuda_call *call, struct sp_thread *t, uint32_t kind, uint32_t arg,
				uint64_t start)
{
	call->frame->alive = SP_CUDA_ALIVE;
	t->cuda_open[call->layer].frame = call->frame;
	call->span = sp_span_begin_warm(t, kind, arg, start);
}

/* Nobody knows the frame any more: a call that began inside and was not told from this one took its place. */
SP_INLINE void sp_cuda_close(struct sp_cuda_call *call)
{
	call->span.thread->cuda_open[call->layer].frame = NULL;
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

void sp_cuda_begin(struct sp_cuda_call *call, struct sp_thread *t, const struct sp_extent *inner, uint32_t kind,
		   uint32_t arg);

/* caller: the return address of the hook. */
void sp_cuda_end(struct sp_cuda_call *call, int64_t value, const void *caller);

/* Declares and begins a call; arg is computed only where it is recorded, and before its time begins. inner: the library
 * that it goes into. */
#define SP_CUDA_CALL(name, layer, inner, caller, kind, arg)                                        \
	struct sp_cuda_frame name##_frame;                                                         \
	struct sp_cuda_call name __attribute__((cleanup(sp_cuda_cleanup))) = {                     \
		{.thread = NULL}, &name##_frame, layer};                                           \
	struct sp_thread *name##_thread = sp_cuda_enter((uintptr_t)&name##_frame, layer, caller);  \
	if (name##_thread)                                                                         \
	sp_cuda_begin(&name, name##_thread, inner, kind, arg)

/* Once the outermost call is recorded. `kind` is a constant where this is called: a launch pays nothing. */
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
		sp_cuda_graph_launched();
		break;
	case SP_EV_cudaDeviceReset:
	case SP_EV_cuDevicePrimaryCtxReset:
	case SP_EV_cuDevicePrimaryCtxRelease:
	case SP_EV_cuCtxDestroy:
	case SP_EV_cudaExecutionCtxDestroy:
	case SP_EV_cuGreenCtxDestroy:
		sp_cuda_time_forget();
		break;
	}
}

/* A batch of copies is one call with the bytes of all. Of 3D ones: rows of bytes, as far as can be told. */
static inline uint64_t sp_cuda_bytes_of(const size_t *sizes, size_t count)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		bytes += sizes[i];
	return bytes;
}

static inline uint64_t sp_cuda_bytes_of_3d(const struct sp_cuda_copy_3d_batch *copies, size_t count)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		bytes += copies[i].extent.width * copies[i].extent.height * copies[i].extent.depth;
	return bytes;
}

/* The arg of calls that begin a capture, and of those that end contexts: told of before they are made. */
#define CAPTURING(stream, mode)                                                                    \
	(sp_cuda_time_capture(mode), sp_cuda_arg_make((uintptr_t)(stream), 0, 0))
#define FORGETTING (sp_cuda_time_forget(), 0u)

/* An allocation's address is known after the call. */
static inline void sp_cuda_made(struct sp_cuda_call *call, const void *address)
{
	sp_span_set_arg(&call->span, (uint32_t)((uintptr_t)address >> 8));
}

/*
 * The real function, by the object that calls. A training program calls one function from thousands of
 * places in a few libraries: resolve.h finds it once for each library.
 */
#define SP_CUDA_CALLERS 4u /* libraries remembered for each function */

/*
 * An entry is written once for each generation of resolve.h: `stamp` is that generation in its upper half and a
 * count of writings below, SP_CUDA_WRITING in the upper half while it is written.
 */
#define SP_CUDA_WRITING UINT32_MAX

struct sp_cuda_caller {
	uint64_t stamp;
	struct sp_extent library; /* the caller's */
	void *function;
	struct sp_extent inner; /* as of an open call */
};

/* Aligned: what a launch reads of it is one line of the cache. */
struct sp_cuda_original {
	struct sp_cuda_caller callers[SP_CUDA_CALLERS];
	const char *name, *family;
	const void *wrapper;
} __attribute__((aligned(64)));

#define SP_CUDA_ORIGINAL(name, family, wrapper) {{{.stamp = 0}}, #name, family, (const void *)(wrapper)}

/* Returns the function, never NULL. */
void *sp_cuda_original_find(struct sp_cuda_original *original, const void *address, struct sp_extent *ret_inner);

/* Returns 1 and the function where the entry is for this caller. */
SP_INLINE int sp_cuda_caller_read(const struct sp_cuda_caller *caller, const void *address, void **ret_function,
				  struct sp_extent *ret_inner)
{
	uint64_t stamp = __atomic_load_n(&caller->stamp, __ATOMIC_ACQUIRE);
	uintptr_t begin = __atomic_load_n(&caller->library.begin, __ATOMIC_RELAXED);
	uintptr_t bytes = __atomic_load_n(&caller->library.bytes, __ATOMIC_RELAXED);

	*ret_function = __atomic_load_n(&caller->function, __ATOMIC_RELAXED);
	ret_inner->begin = __atomic_load_n(&caller->inner.begin, __ATOMIC_RELAXED);
	ret_inner->bytes = __atomic_load_n(&caller->inner.bytes, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return sp_likely((uintptr_t)address - begin < bytes) &&
	       sp_likely(stamp >> 32 == __atomic_load_n(&sp_resolve_generation, __ATOMIC_RELAXED)) &&
	       sp_likely(__atomic_load_n(&caller->stamp, __ATOMIC_RELAXED) == stamp);
}

/* In a hook of a library: the one static original of its own, and the call. */
#define SP_CUDA_HOOK(name, family, layer, kind, arg, value, parameters, arguments)                 \
	SP_HOOK(int, name, SP_UNPACK parameters)                                                   \
	{                                                                                          \
		static struct sp_cuda_original callers =                                           \
			SP_CUDA_ORIGINAL(name, family, sp_wrap_##name);                            \
		struct sp_cuda_original *const original = &callers;                                \
		const void *caller = __builtin_return_address(0);                                  \
									                           \
		SP_CUDA_HOOK_CALL(layer, kind, arg, value, parameters, arguments)                  \
	}
#define SP_CUDA_HOOK_CALL(layer, kind, arg, value, parameters, arguments)                          \
	struct sp_extent inner;                                                                    \
	void *real = sp_cuda_original_find(original, caller, &inner);                              \
	SP_CUDA_REAL_CALL(real, inner, layer, kind, arg, value, parameters, arguments)
#define SP_CUDA_REAL_CALL(real, inner, layer, kind, arg, value, parameters, arguments)             \
	SP_CUDA_CALL(call, layer, &(inner), caller, kind, arg);                                    \
	int ret = ((int(*) parameters)real)arguments;                                              \
                                                                                                   \
	sp_cuda_end(&call, value, caller);                                                         \
	sp_cuda_after(call_thread, kind, ret);                                                     \
	return ret;
#define SP_UNPACK(...) __VA_ARGS__

#endif
