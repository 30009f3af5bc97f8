/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers 1 to count, taken and returned by any thread: indexes of a table without an allocator.
 * Lock-free. A thread that is killed or lost to a fork in between keeps its number for ever.
 */
#ifndef STAGEPROF_PRELOAD_POOL_H
#define STAGEPROF_PRELOAD_POOL_H

#include <stdint.h>

struct sp_pool {
	uint64_t given; /* the number returned last, 0: none; upper bits: a count against ABA */
	uint32_t taken; /* the numbers that were ever taken */
	uint32_t count;
	uint32_t *next; /* [count]: the number returned before this one */
};

/* Returns 0 if all are taken. */
static inline uint32_t sp_pool_take(struct sp_pool *pool)
{
	uint64_t head = __atomic_load_n(&pool->given, __ATOMIC_ACQUIRE);
	uint32_t taken;

	while ((uint32_t)head) {
		uint32_t next = __atomic_load_n(&pool->next[(uint32_t)head - 1], __ATOMIC_RELAXED);

		if (__atomic_compare_exchange_n(&pool->given, &head,
						((head >> 32) + 1) << 32 | next, 1,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return (uint32_t)head;
	}
	taken = __atomic_load_n(&pool->taken, __ATOMIC_RELAXED);
	while (taken < pool->count)
		if (__atomic_compare_exchange_n(&pool->taken, &taken, taken + 1, 1,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return taken + 1;
	return 0;
}

static inline void sp_pool_give(struct sp_pool *pool, uint32_t number)
{
	uint64_t head = __atomic_load_n(&pool->given, __ATOMIC_RELAXED);

	do {
		__atomic_store_n(&pool->next[number - 1], (uint32_t)head, __ATOMIC_RELAXED);
	} while (!__atomic_compare_exchange_n(&pool->given, &head,
					      ((head >> 32) + 1) << 32 | number, 1,
					      __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

#endif
