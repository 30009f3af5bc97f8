/* SPDX-License-Identifier: Apache-2.0 */
/* Reads with what its own scope gives it: loaded with RTLD_DEEPBIND, that is libc before us. */
#include <fcntl.h>
#include <unistd.h>

long deep_read(const char *path);

long deep_read(const char *path)
{
	char block[64];
	int fd = open(path, O_RDONLY);
	long n = read(fd, block, sizeof(block));

	close(fd);
	return n;
}
