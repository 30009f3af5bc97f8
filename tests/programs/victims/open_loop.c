/* SPDX-License-Identifier: Apache-2.0 */
/* open_loop COUNT PATH: opens it in three ways, so many times, and closes it where it is there. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int count = argc == 3 ? atoi(argv[1]) : 0;

	for (int i = 0; i < count; i++) {
		int fds[] = {
			open(argv[2], O_RDONLY),
			openat(AT_FDCWD, argv[2], O_RDONLY),
			creat(argv[2], 0600),
		};

		for (int k = 0; k < 3; k++)
			if (fds[k] >= 0)
				close(fds[k]);
	}
	return argc == 3 ? 0 : 1;
}
