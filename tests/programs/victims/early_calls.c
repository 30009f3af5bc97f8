/* SPDX-License-Identifier: Apache-2.0 */
/* Linked to early_reader: calls before main, in main and after it. */
#include <stdio.h>
#include <stdlib.h>

int early_reads(int n);

int main(void)
{
	int done = early_reads(100);

	printf("done %d\n", done);
	return done == 200 ? 0 : 1;
}
