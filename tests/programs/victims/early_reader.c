/* SPDX-License-Identifier: Apache-2.0 */
/* A library whose constructor reads, before the program's and perhaps before the tracer's own. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

int early_reads(int n);

__attribute__((visibility("default"))) int early_reads(int n)
{
	struct tally_row *row = tally_row("file_read", "in.dat");
	int fd = TALLY(tally_row("file_open", ""), open("in.dat", O_RDONLY)), done = 0;
	FILE *stream = TALLY(tally_row("file_open", ""), fopen("in.dat", "r"));
	char block[64];

	EXPECT(fd >= 0 && stream);
	for (int i = 0; i < n; i++) {
		done += TALLY_BYTES(row, read(fd, block, sizeof(block))) == sizeof(block);
		done += TALLY_BYTES(row, fread(block, 1, sizeof(block), stream)) == sizeof(block);
	}
	TALLY(tally_row("file_close", ""), fclose(stream));
	TALLY(tally_row("file_close", ""), close(fd));
	return done;
}

/*
 * A tracer may miss calls before its own constructor, so these count as begun only. The tally opens
 * in a constructor of an earlier priority.
 */
__attribute__((constructor)) static void read_early(void)
{
	struct tally_row *opens = tally_row("file_open", ""), *closes = tally_row("file_close", "");
	struct tally_row *reads = tally_row("file_read", "in.dat");
	char block[64];
	int fd;

	tally_make_file("in.dat", 64 * 1024);
	tally_begin(opens);
	fd = open("in.dat", O_RDONLY);
	EXPECT(fd >= 0);
	for (int i = 0; i < 300; i++) {
		tally_begin(reads);
		EXPECT(read(fd, block, sizeof(block)) == sizeof(block));
	}
	tally_begin(closes);
	EXPECT(close(fd) == 0);
}

__attribute__((destructor)) static void read_late(void)
{
	EXPECT(early_reads(200) == 400);
}
