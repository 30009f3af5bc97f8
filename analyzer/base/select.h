/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order statistics in linear time.
 */
#ifndef STAGEPROF_ANALYZER_SELECT_H
#define STAGEPROF_ANALYZER_SELECT_H

#include <stdint.h>

/* The value of index k in the order of the n values, k < n. Afterwards no value before index k is
 * greater, and none after it is less. */
int64_t sp_select(int64_t *values, uint32_t n, uint32_t k);

/* The value of rank ceil(n * percent / 100); 0 of no values. Reorders the values. */
int64_t sp_select_percentile(int64_t *values, uint32_t n, unsigned percent);

#endif
