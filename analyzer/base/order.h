/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorting by a number, and the functions for qsort().
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

#define SP_COMPARE(x, y) (((x) > (y)) - ((x) < (y)))

/*
 * A function for qsort() that orders elements x and y of a type by keys: SP_UP(member) puts the
 * least first, SP_DOWN(member) the greatest, and ?: stands before a key for those that are equal.
 */
#define SP_ORDER(name, type, keys)                                                                 \
	static int name(const void *a, const void *b)                                              \
	{                                                                                          \
		const type *x = a;                                                                 \
		const type *y = b;                                                                 \
                                                                                                   \
		return keys;                                                                       \
	}

/* The same for qsort_r(): `in` is its context. */
#define SP_ORDER_IN(name, type, of, keys)                                                          \
	static int name(const void *a, const void *b, void *context)                               \
	{                                                                                          \
		const type *x = a;                                                                 \
		const type *y = b;                                                                 \
		const of *in = context;                                                            \
                                                                                                   \
		return keys;                                                                       \
	}

#define SP_UP(member) SP_COMPARE(x->member, y->member)
#define SP_DOWN(member) SP_COMPARE(y->member, x->member)

#endif
