/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of an ordinary build with -O2 -D_FORTIFY_SOURCE=2; the build keeps the checks. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

/* The compiler knows the size of `block` and not `n`, so it must call the checked twin. */
static void round_of(const char *path, int flags, size_t n)
{
	struct tally_row *opens = tally_row("file_open", ""), *closes = tally_row("file_close", "");
	struct tally_row *reads = tally_row("file_read", "in.dat");
	unsigned char block[256];
	int fd = TALLY(opens, open(path, flags));
	FILE *stream = TALLY(opens, fopen(path, "r"));

	EXPECT(fd >= 0 && stream);
	EXPECT(TALLY_BYTES(reads, read(fd, block, n)) == (ssize_t)n);
	EXPECT(TALLY_BYTES(reads, pread(fd, block, n, 7)) == (ssize_t)n);
	EXPECT(TALLY_BYTES(reads, fread(block, 1, n, stream)) == n);
	EXPECT(TALLY(closes, fclose(stream)) == 0 && TALLY(closes, close(fd)) == 0);
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;

	tally_make_file("in.dat", 4096);
	for (int i = 0; i < 10; i++)
		round_of("in.dat", argc > 2 ? O_RDWR : O_RDONLY, n);
	puts("done");
	return 0;
}
