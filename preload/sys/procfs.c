/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/sys/procfs.h"

#include <fcntl.h>

#include "preload/sys/sys.h"

void sp_procfs_read(const char *path, char ret[SP_PROCFS_BYTES])
{
	long fd = SP_SYS4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0), n = 0;

	if (fd >= 0) {
		n = SP_SYS3(SYS_read, fd, ret, SP_PROCFS_BYTES - 1);
		SP_SYS1(SYS_close, fd);
	}
	ret[n > 0 ? n : 0] = 0;
}

uint64_t sp_procfs_number(const char **p)
{
	uint64_t number = 0;

	while (**p == ' ')
		++*p;
	if (**p < '0' || **p > '9')
		return UINT64_MAX;
	while (**p >= '0' && **p <= '9')
		number = number * 10 + (uint64_t)(*(*p)++ - '0');
	return number;
}
