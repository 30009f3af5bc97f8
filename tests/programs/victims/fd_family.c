/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of descriptors and numbers used again: each read belongs to the file that it came from. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/programs/victims/old_libc.h"
#include "tests/programs/victims/opened.h"

static struct tally_row *dups, *read_a, *read_b;

static void read_from(struct tally_row *row, int fd)
{
	char block[32];

	EXPECT(TALLY_BYTES(row, pread(fd, block, sizeof(block), 64)) == sizeof(block));
}

static void copies(void)
{
	int a = opened("a.dat"), b = opened("b.dat");
	int one = TALLY(dups, dup(a)), two = TALLY(dups, dup2(a, 40));
	int three = TALLY(dups, dup3(b, 41, O_CLOEXEC));
	int four = TALLY(dups, fcntl(a, F_DUPFD, 50));
	int five = TALLY(dups, fcntl(b, F_DUPFD_CLOEXEC, 60));

	read_from(read_a, a);
	read_from(read_b, b);
	read_from(read_a, one);
	read_from(read_a, two);
	read_from(read_b, three);
	read_from(read_a, four);
	read_from(read_b, five);
	EXPECT(TALLY(dups, dup2(b, 40)) == 40); /* over an open one */
	read_from(read_b, 40);
	closed(a);
	read_from(read_a, one); /* a copy outlives the original */
	for (int fd = 40; fd <= 41; fd++)
		closed(fd);
	closed(one);
	closed(b);
	closed(four);
	closed(five);
}

static void used_again(void)
{
	int a = opened("a.dat"), b;

	read_from(read_a, a);
	closed(a);
	b = opened("b.dat");
	EXPECT(b == a);
	read_from(read_b, b);
	EXPECT(TALLY(closes, close_range((unsigned)b, (unsigned)b, 0)) == 0);
	a = opened("a.dat");
	EXPECT(b == a);
	read_from(read_a, a);
	TALLY(closes, (closefrom(a), 0));
	b = opened("b.dat");
	EXPECT(b == a);
	read_from(read_b, b);
	closed(b);
}

static void streams(void)
{
	FILE *stream = TALLY(opens, fopen("a.dat", "r"));
	char block[32];
	int number = fileno(stream), b;

	EXPECT(TALLY_BYTES(read_a, fread(block, 1, sizeof(block), stream)) == sizeof(block));
	EXPECT(TALLY(closes, fclose(stream)) == 0);
	b = opened("b.dat");
	EXPECT(b == number);
	read_from(read_b, b);
	closed(b);
}

/* The highest number that the system allows, a million if it can be. */
static void a_million(void)
{
	struct rlimit files = {1000001, 1000001};
	int a = opened("a.dat"), high = 1000000;

	if (setrlimit(RLIMIT_NOFILE, &files) < 0) {
		EXPECT(getrlimit(RLIMIT_NOFILE, &files) == 0);
		files.rlim_cur = files.rlim_max;
		EXPECT(setrlimit(RLIMIT_NOFILE, &files) == 0);
		high = files.rlim_max > 1000000 ? 1000000 : (int)files.rlim_max - 1;
	}
	EXPECT(TALLY(dups, dup2(a, high)) == high);
	read_from(read_a, high);
	closed(high);
	closed(a);
}

int main(void)
{
	tally_make_file("a.dat", 4096);
	tally_make_file("b.dat", 4096);
	opens = tally_row("file_open", "");
	closes = tally_row("file_close", "");
	dups = tally_row("dup", "");
	read_a = tally_row("file_read", "a.dat");
	read_b = tally_row("file_read", "b.dat");
	for (int i = 0; i < 5; i++) {
		copies();
		used_again();
		streams();
	}
	a_million();
	puts("done");
	return 0;
}
