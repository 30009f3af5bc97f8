/*
 * What the CUDA and NCCL hooks share: one event for each piece of work, and the function behind a hook.
 *
 * Calls of the runtime make calls of the driver, which are hooked too: only the outermost call of a thread
 * is recorded. Which one that is, is known by its frame: a struct sp_cuda_call on the stack, named by a
 * thread-local pointer. A call that is left by an exception is closed by the cleanup; what a longjmp leaves
 * behind is recognised as dead, since a live outer frame lies above and is unharmed.
 *
 * All of it is async-signal-safe but sp_cuda_original's first call from each object.
 */
#ifndef STAGEPROF_PRELOAD_CUDA_H
#define STAGEPROF_PRELOAD_CUDA_H

#include <stdint.h>

#include "preload/abi_cuda.h"
#include "preload/cuda_memory.h"
#include "preload/hook.h"
#include "preload/resolve.h"
#include "preload/stacks.h"

enum sp_cuda_layer {
	SP_CUDA_CALLS, /* the runtime and the driver */
	SP_NCCL_CALLS, /* on top of them; their kernels are events, too */
	SP_CUDA_LAYERS
};

struct sp_cuda_call {
	struct sp_span span; /* thread NULL: inside another call, not recording, or closed */
	uintptr_t alive;     /* this structure's own address, mixed, while it is open */
	enum sp_cuda_layer layer;
};

extern __thread struct sp_cuda_call *sp_cuda_outer[SP_CUDA_LAYERS]
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* No stack of driver calls is deeper; also keeps us from reading far below a stack that is gone. */
#define SP_CUDA_DEEPEST 0x100000u
#define SP_CUDA_ALIVE ((uintptr_t)0x5350435544410000u)

static inline int sp_cuda_is_inside(const struct sp_cuda_call *call, enum sp_cuda_layer layer)
{
	const struct sp_cuda_call *outer = sp_cuda_outer[layer];

	return outer && (uintptr_t)outer - (uintptr_t)call - 1 < SP_CUDA_DEEPEST &&
	       outer->alive == ((uintptr_t)outer ^ SP_CUDA_ALIVE);
}

/* Returns the thread that records, or NULL: then the rest of the hook costs nothing. */
static inline struct sp_thread *sp_cuda_enter(struct sp_cuda_call *call, enum sp_cuda_layer layer)
{
	call->span.thread = NULL;
	return sp_cuda_is_inside(call, layer) ? NULL : sp_enter();
}

static inline void sp_cuda_begin(struct sp_cuda_call *call, struct sp_thread *t,
				 enum sp_cuda_layer layer, uint32_t kind, uint32_t arg)
{
	call->alive = (uintptr_t)call ^ SP_CUDA_ALIVE;
	call->layer = layer;
	sp_cuda_outer[layer] = call;
	sp_span_begin(&call->span, t, kind, arg);
}

static inline void sp_cuda_close(struct sp_cuda_call *call)
{
	call->alive = 0;
	sp_cuda_outer[call->layer] = NULL;
}

/* Both layers of CUDA and NCCL return 0 or a positive error number. */
static inline int64_t sp_cuda_value(int ret, uint64_t value)
{
	return ret ? -(int64_t)ret : (int64_t)value;
}

static inline void sp_cuda_end(struct sp_cuda_call *call, int64_t value)
{
	if (!call->span.thread)
		return;
	sp_cuda_close(call);
	sp_span_close(&call->span, value);
}

static inline void sp_cuda_cleanup(struct sp_cuda_call *call)
{
	if (sp_likely(!call->span.thread))
		return;
	sp_cuda_close(call);
	sp_span_abandon(&call->span);
}

/* Declares and begins a call; arg is computed only where it is recorded, and before its time begins. */
#define SP_CUDA_CALL(name, layer, kind, arg)                                                       \
	struct sp_cuda_call name __attribute__((cleanup(sp_cuda_cleanup)));                        \
	struct sp_thread *name##_thread = sp_cuda_enter(&name, layer);                             \
	if (name##_thread)                                                                         \
	sp_cuda_begin(&name, name##_thread, layer, kind, arg)

/* An allocation's address is known after the call. */
static inline void sp_cuda_made(struct sp_cuda_call *call, const void *address)
{
	call->span.arg = (uint32_t)((uintptr_t)address >> 8);
}

/*
 * The real function, by the object that calls. A training program calls one function from thousands of
 * places in a few libraries: resolve.h finds it once for each library.
 */
#define SP_CUDA_CALLERS 4u /* libraries remembered for each function */

struct sp_cuda_caller {
	uint32_t sequence; /* odd while it is written */
	uint32_t generation;
	uintptr_t begin, bytes;
	void *function;
};

struct sp_cuda_original {
	const char *name, *family;
	const void *wrapper;
	struct sp_cuda_caller callers[SP_CUDA_CALLERS];
};

/* Never NULL. */
void *sp_cuda_original_find(struct sp_cuda_original *original, const void *address);

static inline void *sp_cuda_original(struct sp_cuda_original *original, const void *address)
{
	struct sp_cuda_caller *caller = &original->callers[0];
	uint32_t before = __atomic_load_n(&caller->sequence, __ATOMIC_ACQUIRE);
	uintptr_t begin = __atomic_load_n(&caller->begin, __ATOMIC_RELAXED);
	uintptr_t bytes = __atomic_load_n(&caller->bytes, __ATOMIC_RELAXED);
	void *function = __atomic_load_n(&caller->function, __ATOMIC_RELAXED);
	uint32_t generation = __atomic_load_n(&caller->generation, __ATOMIC_RELAXED);

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (sp_likely((uintptr_t)address - begin < bytes && !(before & 1) &&
		      generation == __atomic_load_n(&sp_resolve_generation, __ATOMIC_RELAXED) &&
		      __atomic_load_n(&caller->sequence, __ATOMIC_RELAXED) == before))
		return function;
	return sp_cuda_original_find(original, address);
}

#endif
