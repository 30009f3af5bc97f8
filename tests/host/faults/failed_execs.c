/* SPDX-License-Identifier: Apache-2.0 */
/* failed_execs TIMES: each exec fails, and a read follows it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

int main(int argc, char **argv)
{
	char *const arguments[] = {(char *)"nothing", NULL};
	long times = argc > 1 ? atol(argv[1]) : 100;
	struct tally_row *opens = tally_row("file_open", ""), *row;
	char block[16];
	int in;

	tally_make_file("in.dat", 4096);
	in = TALLY(opens, open("in.dat", O_RDONLY));
	row = tally_row("file_read", "in.dat");
	for (long i = 0; i < times; i++) {
		EXPECT(execv("/nonexistent/nothing", arguments) == -1);
		EXPECT(TALLY_BYTES(row, pread(in, block, sizeof(block), 0)) == 16);
	}
	printf("execs %ld\n", times);
	return 0;
}
