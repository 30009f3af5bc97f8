/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/text/spelling.h"

#include <string.h>

#define WORD_BYTES_MAX SP_TYPING_ERRORS_MANY

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

unsigned sp_typing_errors(const char *a, const char *b)
{
	unsigned rows[3][WORD_BYTES_MAX + 1] = {{0}};
	size_t n = strlen(b);

	if (strlen(a) > WORD_BYTES_MAX || n > WORD_BYTES_MAX)
		return WORD_BYTES_MAX;
	for (unsigned k = 0; k <= n; k++)
		rows[0][k] = k;
	for (size_t i = 1; a[i - 1]; i++) {
		unsigned *row = rows[i % 3], *last = rows[(i + 2) % 3],
			 *earlier = rows[(i + 1) % 3];

		row[0] = (unsigned)i;
		for (size_t k = 1; k <= n; k++) {
			row[k] = least(last[k] + 1, row[k - 1] + 1);
			row[k] = least(row[k], last[k - 1] + (a[i - 1] != b[k - 1]));
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
				row[k] = least(row[k], earlier[k - 2] + 1);
		}
	}
	return rows[strlen(a) % 3][n];
}
