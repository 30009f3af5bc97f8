/* SPDX-License-Identifier: Apache-2.0 */
/* idle [FILE]: does nothing; with FILE opens and reads it once, so that a run begins. */
#include <fcntl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char byte;
	int fd;

	if (argc == 1)
		return 0;
	fd = open(argv[1], O_RDONLY);
	return fd < 0 || read(fd, &byte, 1) != 1;
}
