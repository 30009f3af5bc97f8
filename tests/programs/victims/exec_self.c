/* SPDX-License-Identifier: Apache-2.0 */
/* exec_self DEPTH: reads, then execs itself with one less; one process, DEPTH + 1 images. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

int main(int argc, char **argv)
{
	struct tally_row *row = tally_row("file_read", "in.dat");
	int depth = argc > 1 ? atoi(argv[1]) : 3, fd;
	char block[64], next[16];
	char *args[] = {argv[0], next, NULL};

	tally_make_file("in.dat", 4096);
	fd = TALLY(tally_row("file_open", ""), open("in.dat", O_RDONLY | O_CLOEXEC));
	for (int i = 0; i < 1000; i++)
		EXPECT(TALLY_BYTES(row, pread(fd, block, sizeof(block), 0)) == sizeof(block));
	if (depth == 0) {
		puts("done");
		return 6;
	}
	EXPECT(execv("/nonexistent", args) == -1 && errno == ENOENT);
	EXPECT(TALLY_BYTES(row, pread(fd, block, sizeof(block), 0)) == sizeof(block));
	snprintf(next, sizeof(next), "%d", depth - 1);
	execv(argv[0], args);
	return 1;
}
