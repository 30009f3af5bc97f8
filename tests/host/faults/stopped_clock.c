/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded: a clock that stands still and reads a file each
 * time it is asked, as libfaketime does. */
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *ret)
{
	int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	char block[16];

	(void)id;
	if (fd >= 0) {
		if (read(fd, block, sizeof(block)) < 0)
			block[0] = 0;
		close(fd);
	}
	*ret = (struct timespec){1577836800, 0};
	return 0;
}
