/* SPDX-License-Identifier: Apache-2.0 */
/* Begins with 0, 1 and 2 closed; files take their numbers, and nothing but its own words goes
 * there. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

int main(void)
{
	struct tally_row *reads = tally_row("file_read", "in.dat");
	struct tally_row *opens = tally_row("file_open", ""), *writes = tally_row("file_write", "");
	char name[16], block[64];
	int in;

	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "out-%d.txt", i);
		if (TALLY(opens, open(name, O_WRONLY | O_CREAT, 0644)) != i)
			return 1;
	}
	tally_make_file("in.dat", 4096);
	in = TALLY(opens, open("in.dat", O_RDONLY));
	for (int i = 0; i < 5000; i++)
		if (TALLY_BYTES(reads, pread(in, block, sizeof(block), i % 1000)) != 64)
			return 2;
	for (int i = 0; i < 3; i++)
		if (TALLY_BYTES(writes, write(i, "own words\n", 10)) != 10)
			return 3;
	return 5;
}
