/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds a time in an array that is sorted by time.
 */
#ifndef STAGEPROF_ANALYZER_UPPER_BOUND_H
#define STAGEPROF_ANALYZER_UPPER_BOUND_H

#include <stddef.h>
#include <stdint.h>

/* The index of the first of `count` elements of `bytes` each whose time is later than `ns`;
 * `count` where there is none. `first`: the time of the first element. */
static inline uint32_t sp_upper_bound(const int64_t *first, size_t bytes, uint32_t count,
				      int64_t ns)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (*(const int64_t *)(const void *)((const char *)first + middle * bytes) <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* sp_upper_bound() of an array whose elements keep their time in `time`. The array may be NULL
 * where count is 0. */
#define SP_UPPER_BOUND(list, count, time, ns)                                                      \
	((count) ? sp_upper_bound(&(list)[0].time, sizeof((list)[0]), count, ns) : 0)

/* The index of the first element whose time is `ns` or later. ns is not INT64_MIN. */
#define SP_LOWER_BOUND(list, count, time, ns) SP_UPPER_BOUND(list, count, time, (ns)-1)

#endif
