/* SPDX-License-Identifier: Apache-2.0 */
/*
 * close_all HOW: closes every descriptor from 3 up, as daemons do, opens four files and writes to
 * them while reads go on. The files must hold what the program wrote and nothing else.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/programs/victims/old_libc.h"
#include "tests/programs/victims/tally.h"

static struct tally_row *closes, *opens, *reads;

static void close_everything(const char *how)
{
	if (strcmp(how, "close_range") == 0)
		EXPECT(TALLY(closes, close_range(3, ~0u, 0)) == 0);
	else if (strcmp(how, "closefrom") == 0)
		TALLY(closes, (closefrom(3), 0));
	else
		for (int fd = 3; fd < 1024; fd++)
			TALLY(closes, close(fd));
}

static int read_file(int reads_wanted)
{
	int in = TALLY(opens, open("in.dat", O_RDONLY));
	char block[32];

	for (int i = 0; i < reads_wanted; i++)
		EXPECT(TALLY_BYTES(reads, pread(in, block, sizeof(block), 0)) == sizeof(block));
	return in;
}

int main(int argc, char **argv)
{
	int out[4];
	char name[32], line[64];

	tally_make_file("in.dat", 4096);
	opens = tally_row("file_open", "");
	closes = tally_row("file_close", "");
	reads = tally_row("file_read", "in.dat");
	read_file(5000);
	close_everything(argc > 1 ? argv[1] : "close");
	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "out-%d.txt", i);
		out[i] = TALLY(opens, open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644));
		EXPECT(out[i] == 3 + i);
	}
	for (int round = 0; round < 200; round++)
		for (int i = 0; i < 4; i++) {
			int n = snprintf(line, sizeof(line), "file %d round %d\n", i, round);
			struct tally_row *row;

			snprintf(name, sizeof(name), "out-%d.txt", i);
			row = tally_row("file_write", name);
			EXPECT(TALLY_BYTES(row, write(out[i], line, (size_t)n)) == n);
		}
	read_file(5000);
	puts("done");
	return 0;
}
