/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/select.h"

#include <stdlib.h>

#define ROUNDS_MAX 128u /* hostile values could otherwise cost the square of their number */

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

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
