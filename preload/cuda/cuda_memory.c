/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/cuda/cuda_memory.h"

/* begin 0: free; 1: being written. */
struct range {
	uintptr_t begin, bytes;
};

static struct ranges {
	struct range ranges[SP_CUDA_RANGES];
	uint32_t used; /* no range is at or after this index */
	uint32_t full; /* some ranges were left out */
} all[SP_CUDA_MEMORIES];

static void used_raise(struct ranges *ranges, uint32_t used)
{
	uint32_t before = __atomic_load_n(&ranges->used, __ATOMIC_RELAXED);

	while (before < used && !__atomic_compare_exchange_n(&ranges->used, &before, used, 0,
							     __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

void sp_cuda_memory_add(enum sp_cuda_memory what, const void *begin, size_t bytes)
{
	struct ranges *ranges = &all[what];

	if (!begin || !bytes)
		return;
	for (uint32_t i = 0; i < SP_CUDA_RANGES; i++) {
		struct range *range = &ranges->ranges[i];
		uintptr_t expected = 0;

		if (__atomic_load_n(&range->begin, __ATOMIC_RELAXED) ||
		    !__atomic_compare_exchange_n(&range->begin, &expected, 1, 0, __ATOMIC_ACQUIRE,
						 __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&range->bytes, bytes, __ATOMIC_RELAXED);
		__atomic_store_n(&range->begin, (uintptr_t)begin, __ATOMIC_RELEASE);
		used_raise(ranges, i + 1);
		return;
	}
	__atomic_store_n(&ranges->full, 1, __ATOMIC_RELAXED);
}

void sp_cuda_memory_remove(enum sp_cuda_memory what, const void *begin)
{
	struct ranges *ranges = &all[what];
	uint32_t used = __atomic_load_n(&ranges->used, __ATOMIC_ACQUIRE);

	if ((uintptr_t)begin <= 1)
		return;
	for (uint32_t i = 0; i < used; i++) {
		uintptr_t expected = (uintptr_t)begin;

		if (__atomic_compare_exchange_n(&ranges->ranges[i].begin, &expected, 0, 0,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return;
	}
}

static int contains(enum sp_cuda_memory what, const void *pointer)
{
	struct ranges *ranges = &all[what];
	uint32_t used = __atomic_load_n(&ranges->used, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < used; i++) {
		struct range *range = &ranges->ranges[i];
		uintptr_t begin = __atomic_load_n(&range->begin, __ATOMIC_ACQUIRE);
		uintptr_t bytes = __atomic_load_n(&range->bytes, __ATOMIC_ACQUIRE);

		/* Checks that the entry still holds the same range. */
		if (begin > 1 && (uintptr_t)pointer - begin < bytes &&
		    __atomic_load_n(&range->begin, __ATOMIC_RELAXED) == begin)
			return 1;
	}
	return 0;
}

static int is_full(enum sp_cuda_memory what)
{
	return __atomic_load_n(&all[what].full, __ATOMIC_RELAXED) != 0;
}

static uint32_t direction_of(const void *to, const void *from)
{
	static const uint32_t directions[2][2] = {{SP_COPY_HOST_TO_HOST, SP_COPY_TO_HOST},
						  {SP_COPY_TO_DEVICE, SP_COPY_ON_DEVICE}};
	int to_device = contains(SP_CUDA_DEVICE, to), from_device = contains(SP_CUDA_DEVICE, from);

	if (is_full(SP_CUDA_DEVICE) && !(to_device && from_device))
		return SP_COPY_UNKNOWN;
	/* A copy that touches no known device memory:
	 * memory from an allocation that was not seen. */
	return to_device || from_device ? directions[to_device][from_device] : SP_COPY_UNKNOWN;
}

static uint32_t host_of(const void *pointer)
{
	if (contains(SP_CUDA_PINNED, pointer))
		return SP_COPY_HOST_PINNED;
	return is_full(SP_CUDA_PINNED) ? SP_COPY_HOST_UNKNOWN : SP_COPY_HOST_PAGEABLE;
}

uint32_t sp_cuda_copy_arg(const void *stream, int direction, const void *to, const void *from)
{
	uint32_t known = (uint32_t)direction, host = SP_COPY_HOST_UNKNOWN;

	if (known >= SP_COPY_UNKNOWN)
		known = direction_of(to, from);
	if (known == SP_COPY_TO_DEVICE)
		host = host_of(from);
	else if (known == SP_COPY_TO_HOST)
		host = host_of(to);
	return sp_cuda_arg_make((uintptr_t)stream, known, host);
}
