/* SPDX-License-Identifier: Apache-2.0 */
/* unseen_io ring|queue|LIBRARY: asks the kernel for a way to read that no call shows, or loads who
 * would; exit 77 where there is none. */
#include <dlfcn.h>
#include <errno.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct io_uring_params params = {0};
	unsigned long queue = 0;
	long ret = -1;
	char byte;

	if (argc == 2 && strcmp(argv[1], "ring") == 0)
		ret = syscall(SYS_io_uring_setup, 4, &params);
	else if (argc == 2 && strcmp(argv[1], "queue") == 0)
		ret = syscall(SYS_io_setup, 4, &queue);
	else if (argc == 2)
		ret = dlopen(argv[1], RTLD_NOW) ? 0 : -1;
	if (ret < 0) {
		printf("not here: %s\n", strerror(errno));
		return 77;
	}
	return read(0, &byte, 1) < 0; /* so that there is a run */
}
