#include "preload/cuda.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "preload/cuda_cover.h"

__thread struct sp_cuda_frame *sp_cuda_outer[SP_CUDA_LAYERS];

void sp_cuda_begin(struct sp_cuda_call *call, struct sp_thread *t, const struct sp_cuda_real *real, uint32_t kind,
		   uint32_t arg)
{
	sp_cuda_begin_at(call, t, real, kind, arg, sp_clock_ticks());
}

void sp_cuda_end(struct sp_cuda_call *call, int64_t value)
{
	struct sp_span span = call->span;
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
		sp_span_close_at(&span, end, value);
	if (sp_unlikely(end - span.start >= sp_lines_least_ticks))
		sp_line_keep(thread, span.what, span.start, end - span.start);
}

struct extent {
	uintptr_t address, begin, end;
};

static int extent_note(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct extent *extent = argument;
	uintptr_t begin = UINTPTR_MAX, end = 0;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		begin = at < begin ? at : begin;
		end = at + info->dlpi_phdr[i].p_memsz > end ? at + info->dlpi_phdr[i].p_memsz : end;
	}
	if (extent->address < begin || extent->address >= end)
		return 0;
	extent->begin = begin;
	extent->end = end;
	return 1;
}

/* Generated code is in no object: it is known by the place that calls. */
static struct extent extent_of(const void *address)
{
	struct extent extent = {.address = (uintptr_t)address, .begin = (uintptr_t)address,
				.end = (uintptr_t)address + 1};

	dl_iterate_phdr(extent_note, &extent);
	return extent;
}

/* The one that is first is found fastest: it is given up last. */
static struct sp_cuda_caller *caller_place(struct sp_cuda_original *original, uint32_t generation)
{
	for (unsigned i = 0; i < SP_CUDA_CALLERS; i++)
		if (__atomic_load_n(&original->callers[i].stamp, __ATOMIC_RELAXED) >> 32 != generation)
			return &original->callers[i];
	return &original->callers[SP_CUDA_CALLERS - 1];
}

static void caller_store(struct sp_cuda_original *original, uint32_t generation,
			 const void *address, const struct sp_cuda_real *real)
{
	struct extent extent = extent_of(address);
	struct sp_cuda_caller *caller = caller_place(original, generation);
	uint64_t stamp = __atomic_load_n(&caller->stamp, __ATOMIC_RELAXED), writings = (uint32_t)stamp;

	if (stamp >> 32 == SP_CUDA_WRITING ||
	    !__atomic_compare_exchange_n(&caller->stamp, &stamp, (uint64_t)SP_CUDA_WRITING << 32 | writings, 0,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&caller->begin, extent.begin, __ATOMIC_RELAXED);
	__atomic_store_n(&caller->bytes, extent.end - extent.begin, __ATOMIC_RELAXED);
	__atomic_store_n(&caller->real.function, real->function, __ATOMIC_RELAXED);
	__atomic_store_n(&caller->real.begin, real->begin, __ATOMIC_RELAXED);
	__atomic_store_n(&caller->real.bytes, real->bytes, __ATOMIC_RELAXED);
	writings = (uint32_t)(writings + 1);
	__atomic_store_n(&caller->stamp, (uint64_t)generation << 32 | writings, __ATOMIC_RELEASE);
}

/* A program that calls its own statically linked library is not told apart from it: then nothing nests. */
static struct sp_cuda_real real_of(void *function, const void *caller)
{
	struct extent extent = extent_of(function);
	struct sp_cuda_real real = {function, extent.begin, extent.end - extent.begin};

	if ((uintptr_t)caller - real.begin < real.bytes)
		real.bytes = 0;
	return real;
}

static struct sp_cuda_real find_anew(struct sp_cuda_original *original, const void *address)
{
	uint32_t generation = __atomic_load_n(&sp_resolve_generation, __ATOMIC_SEQ_CST);
	struct sp_foreign foreign = {original->name, original->family, original->wrapper, {{0}}};
	struct sp_cuda_real real;
	int kept = errno;

	real = real_of(sp_foreign_find(&foreign, NULL, address), address);
	caller_store(original, generation, address, &real);
	sp_cuda_cover(strcmp(original->family, "nccl") ? SP_CUDA_RUNTIME : SP_CUDA_NCCL, real.function);
	errno = kept;
	return real;
}

struct sp_cuda_real sp_cuda_original_find(struct sp_cuda_original *original, const void *address)
{
	struct sp_cuda_real real;

	for (unsigned i = 0; i < SP_CUDA_CALLERS; i++)
		if (sp_cuda_caller_read(&original->callers[i], address, &real))
			return real;
	return find_anew(original, address);
}
