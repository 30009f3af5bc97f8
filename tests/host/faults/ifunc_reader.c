/* SPDX-License-Identifier: Apache-2.0 */
/* A function is chosen by reading a file, before any library's constructor has run. */
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

static long got = -2;

static int chosen(void)
{
	return 7;
}

__attribute__((used)) static int (*choose(void))(void)
{
	char byte;

	got = read(-1, &byte, 1);
	return chosen;
}

int answer(void) __attribute__((ifunc("choose")));

int main(void)
{
	struct tally_row *row = tally_row("unknown_read", "");

	tally_begin(row); /* may be recorded or not */
	printf("%d %ld\n", answer(), got);
	return 0;
}
