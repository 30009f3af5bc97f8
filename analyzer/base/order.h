/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorting by a number.
 */
#ifndef STAGEPROF_ANALYZER_ORDER_H
#define STAGEPROF_ANALYZER_ORDER_H

#include <stdint.h>

/*
 * Orders the numbers 0 to n - 1 by value(context, i), greatest first, equal ones by number. Returns
 * a list to free(), or NULL where memory is out.
 */
uint32_t *sp_order_by(uint32_t n, uint64_t (*value)(const void *context, uint32_t i),
		      const void *context);

#endif
