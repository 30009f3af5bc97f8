/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/cuda/cuda.h"

#include <string.h>

#include "preload/cuda/cuda_coverage.h"

void sp_cuda_begin(struct sp_cuda_call *call, struct sp_thread *t,
		   const struct sp_object_range *inner, uint32_t kind, uint32_t arg)
{
	t->layer_calls[call->layer].inner = *inner;
	sp_cuda_begin_at(call, t, kind, arg, sp_clock_ticks());
}

void sp_cuda_end(struct sp_cuda_call *call, int64_t value, const void *caller)
{
	struct sp_open_span span = call->span;
	struct sp_thread *thread = span.thread;
	uint64_t end;

	if (!thread)
		return;
	sp_cuda_close(call);
	call->span.thread = NULL;
	end = sp_clock_ticks();
	if (sp_unlikely(sp_cupti_seen.correlation != 0))
		sp_cupti_span_close(&span, end, value);
	else
		sp_span_end_at(&span, end, value);
	if (sp_unlikely(end - span.start >= sp_cuda_slow_ticks))
		sp_cuda_slow(thread, span.what, span.start, end - span.start, caller, call->frame);
}

/* The first entry is found fastest: it is replaced last. */
static struct sp_cuda_caller *caller_entry(const struct sp_cuda_original *original,
					   uint32_t generation)
{
	for (unsigned i = 0; i < SP_CUDA_CALLERS; i++)
		if (__atomic_load_n(&original->callers[i].stamp, __ATOMIC_RELAXED) >> 32 !=
		    generation)
			return &original->callers[i];
	return &original->callers[SP_CUDA_CALLERS - 1];
}

static void caller_store(const struct sp_cuda_original *original, uint32_t generation,
			 const void *address, void *function, const struct sp_object_range *inner)
{
	struct sp_object_range range = sp_object_range_of(address);
	struct sp_cuda_caller *caller = caller_entry(original, generation);
	uint64_t stamp = __atomic_load_n(&caller->stamp, __ATOMIC_RELAXED),
		 writings = (uint32_t)stamp;

	if (stamp >> 32 == SP_CUDA_WRITING ||
	    !__atomic_compare_exchange_n(&caller->stamp, &stamp,
					 (uint64_t)SP_CUDA_WRITING << 32 | writings, 0,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&caller->library.begin, range.begin, __ATOMIC_RELAXED);
	__atomic_store_n(&caller->library.bytes, range.bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&caller->function, function, __ATOMIC_RELAXED);
	__atomic_store_n(&caller->inner.begin, inner->begin, __ATOMIC_RELAXED);
	__atomic_store_n(&caller->inner.bytes, inner->bytes, __ATOMIC_RELAXED);
	writings = (uint32_t)(writings + 1);
	__atomic_store_n(&caller->stamp, (uint64_t)generation << 32 | writings, __ATOMIC_RELEASE);
}

/* A program cannot be distinguished from a library that is statically linked into it: then no call
 * nests. */
static struct sp_object_range inner_of(const void *function, const void *caller)
{
	struct sp_object_range inner = sp_object_range_of(function);

	if (sp_object_range_has(&inner, caller))
		inner.bytes = 0;
	return inner;
}

static enum sp_cuda_group group_of(const char *symbol_prefix)
{
	if (!strcmp(symbol_prefix, "nccl"))
		return SP_CUDA_NCCL;
	return strcmp(symbol_prefix, "hip") ? SP_CUDA_RUNTIME : SP_CUDA_HIP;
}

static void *find_anew(const struct sp_cuda_original *original, const void *address,
		       struct sp_object_range *ret_inner)
{
	uint32_t generation = __atomic_load_n(&sp_resolve_generation, __ATOMIC_SEQ_CST);
	struct sp_caller_site sites[SP_CALLER_SITES] = {{0}};
	const struct sp_caller_original lookup = {original->name, original->symbol_prefix,
						  original->wrapper, sites};
	int kept = errno;
	void *function = sp_caller_original_find(&lookup, NULL, address);

	*ret_inner = inner_of(function, address);
	caller_store(original, generation, address, function, ret_inner);
	sp_cuda_coverage(group_of(original->symbol_prefix), function);
	errno = kept;
	return function;
}

void *sp_cuda_original_find(const struct sp_cuda_original *original, const void *address,
			    struct sp_object_range *ret_inner)
{
	void *function;

	for (unsigned i = 0; i < SP_CUDA_CALLERS; i++)
		if (sp_cuda_caller_read(&original->callers[i], address, &function, ret_inner))
			return function;
	return find_anew(original, address, ret_inner);
}
