/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a pipe from functions that tests/exact/functions.py knows: one that is exported, and one
 * that is not. */
#include <unistd.h>

__attribute__((visibility("default"), noinline)) int exported_reader(int fd);

/* Written after a call, so that no call is a tail call
 * and each function has a frame. */
static volatile ssize_t done;

static __attribute__((noinline)) void static_reader(int fd)
{
	char byte;

	done = read(fd, &byte, 1);
}

int exported_reader(int fd)
{
	static_reader(fd);
	return done == 1 ? 0 : -1;
}

int main(void)
{
	int ends[2];

	if (pipe(ends) < 0 || write(ends[1], "x", 1) != 1)
		return 1;
	return exported_reader(ends[0]) == 0 ? 0 : 1;
}
