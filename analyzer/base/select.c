/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/select.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/order.h"

#define ROUNDS_MAX 128u /* hostile values could otherwise cost the square of their number */

SP_ORDER(compare, int64_t, SP_COMPARE(*x, *y))

static int64_t middle_of(int64_t a, int64_t b, int64_t c)
{
	if (a > b) {
		int64_t swap = a;

		a = b;
		b = swap;
	}
	return c < a ? a : c > b ? b : c;
}

int64_t sp_select(int64_t *values, size_t n, size_t at)
{
	int64_t low = 0, high = (int64_t)n - 1, k = (int64_t)at;

	for (unsigned round = 0; low < high; round++) {
		int64_t pivot =
			middle_of(values[low], values[low + (high - low) / 2], values[high]);
		int64_t i = low, j = high;

		if (round == ROUNDS_MAX) {
			qsort(values + low, (size_t)(high - low + 1), sizeof(*values), compare);
			break;
		}
		while (i <= j) {
			while (values[i] < pivot)
				i++;
			while (values[j] > pivot)
				j--;
			if (i <= j) {
				int64_t swap = values[i];

				values[i++] = values[j];
				values[j--] = swap;
			}
		}
		if (k <= j)
			high = j;
		else if (k >= i)
			low = i;
		else
			break;
	}
	return values[k];
}

int64_t sp_select_percentile(int64_t *values, size_t n, unsigned percent)
{
	return n ? sp_select(values, n, (n * percent + 99) / 100 - 1) : 0;
}

#define DIGIT_BITS 16u

_Static_assert(SP_SELECT_COUNTS == 1u << DIGIT_BITS, "a count a digit");

/* Counts the values that begin with `prefix` by the digit that follows it. */
static void count_digits(const struct sp_select_list *lists, uint32_t n, unsigned shift,
			 uint64_t prefix, uint64_t *ret)
{
	memset(ret, 0, SP_SELECT_COUNTS * sizeof(*ret));
	for (uint32_t i = 0; i < n; i++)
		for (uint64_t k = 0; k < lists[i].count; k++) {
			uint64_t digits = lists[i].values[k] >> shift;

			if (digits >> DIGIT_BITS == prefix)
				ret[digits % SP_SELECT_COUNTS]++;
		}
}

uint64_t sp_select_listed(const struct sp_select_list *lists, uint32_t n, uint64_t at,
			  uint64_t counts[SP_SELECT_COUNTS])
{
	uint64_t prefix = 0;

	for (unsigned shift = 64; shift;) {
		uint64_t digit = 0;

		shift -= DIGIT_BITS;
		count_digits(lists, n, shift, prefix, counts);
		while (at >= counts[digit])
			at -= counts[digit++];
		prefix = prefix << DIGIT_BITS | digit;
	}
	return prefix;
}
