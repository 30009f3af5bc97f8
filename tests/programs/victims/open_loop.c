/* SPDX-License-Identifier: Apache-2.0 */
/* open_loop COUNT PATH: opens it in three ways, once and then so many times, and closes it where it
 * is there. A call of getsid stands before the COUNT times and after them: a trace of the system
 * calls shows by it what belongs to the start of the process. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void open_all(const char *path)
{
	int fds[] = {
		open(path, O_RDONLY),
		openat(AT_FDCWD, path, O_RDONLY),
		creat(path, 0600),
	};

	for (int k = 0; k < 3; k++)
		if (fds[k] >= 0)
			close(fds[k]);
}

int main(int argc, char **argv)
{
	int count = argc == 3 ? atoi(argv[1]) : 0;

	if (argc != 3)
		return 1;
	open_all(argv[2]);
	getsid(0);
	for (int i = 0; i < count; i++)
		open_all(argv[2]);
	getsid(0);
	return 0;
}
