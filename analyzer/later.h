/*
 * Where a time falls in a list that is in the order of its times.
 */
#ifndef STAGEPROF_ANALYZER_LATER_H
#define STAGEPROF_ANALYZER_LATER_H

#include <stddef.h>
#include <stdint.h>

/* The first of `count` elements of `bytes` each whose time is later than `ns`, as an index; `count` where none is.
 * `first`: the time of the first element. */
static inline uint32_t sp_first_later(const int64_t *first, size_t bytes, uint32_t count, int64_t ns)
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

/* Of an array, by the name of its elements' time. The array may be NULL where count is 0. */
#define SP_FIRST_LATER(list, count, time, ns)                                                      \
	((count) ? sp_first_later(&(list)[0].time, sizeof((list)[0]), count, ns) : 0)

#endif
