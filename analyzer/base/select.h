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

#endif
