/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order statistics in linear time.
 */
#ifndef STAGEPROF_ANALYZER_SELECT_H
#define STAGEPROF_ANALYZER_SELECT_H

#include <stddef.h>
#include <stdint.h>

/* The value of index `at` in the order of the n values, at < n. Afterwards no value before that
 * index is greater, and none after it is less. */
int64_t sp_select(int64_t *values, size_t n, size_t at);

/* The value of rank ceil(n * percent / 100); 0 of no values. Reorders the values. */
int64_t sp_select_percentile(int64_t *values, size_t n, unsigned percent);

/* Values in several lists, which are not changed. */
struct sp_select_list {
	const uint64_t *values;
	uint64_t count;
};

#define SP_SELECT_COUNTS (1u << 16)

/* The value of index `at` in the order of all values of n lists; at < their number. Reads the lists
 * four times, from the front, and overwrites the counts. */
uint64_t sp_select_listed(const struct sp_select_list *lists, uint32_t n, uint64_t at,
			  uint64_t counts[SP_SELECT_COUNTS]);

#endif
