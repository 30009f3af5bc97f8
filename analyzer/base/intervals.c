/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/intervals.h"

static int64_t time_at(const int64_t *first, size_t bytes, uint32_t i)
{
	return *(const int64_t *)(const void *)((const char *)first + i * bytes);
}

uint32_t sp_upper_bound(const int64_t *first, size_t bytes, uint32_t count, int64_t ns)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (time_at(first, bytes, middle) <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t sp_nest_bound(const int64_t *first, size_t bytes, uint32_t count, int64_t ns)
{
	uint32_t high = count, step = 1, low;

	for (; step <= high && time_at(first, bytes, high - step) >= ns; step *= 2)
		high -= step;
	low = step <= high ? high - step + 1 : 0;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (time_at(first, bytes, middle) < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t sp_intervals_before(const struct sp_interval *list, uint32_t count, int64_t at_ns)
{
	uint32_t i = SP_LOWER_BOUND(list, count, start_ns, at_ns);
	const struct sp_interval *last;

	if (i == 0)
		return 0;
	last = &list[i - 1];
	return last->before_ns +
	       sp_interval_ns(last->start_ns, at_ns < last->end_ns ? at_ns : last->end_ns);
}
