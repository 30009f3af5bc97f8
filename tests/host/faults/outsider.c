/* SPDX-License-Identifier: Apache-2.0 */
/* The source of programs of another kind: it uses only libc, so that it can be static, musl, 32
 * bits. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	char block[16];
	int fd = open("/proc/self/comm", O_RDONLY);
	long sum = 0;

	for (int i = 0; i < 1000; i++)
		sum += pread(fd, block, sizeof(block), 0);
	close(fd);
	printf("%ld\n", sum > 0);
	return 3;
}
