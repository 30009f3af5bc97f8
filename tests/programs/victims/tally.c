/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/programs/victims/tally.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In the place of row 0. */
struct tally_head {
	uint64_t taken, capacity; /* rows */
};

static struct tally_row *rows;

/* Without a TALLY file the account is private: runs by hand. */
__attribute__((constructor(101))) static void tally_open(void)
{
	const char *path = getenv("TALLY");
	size_t bytes = 65536 * sizeof(struct tally_row);
	int flags = MAP_SHARED | MAP_ANONYMOUS;
	long fd = -1;
	struct stat st;

	if (path) {
		fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
		if (fd < 0 || syscall(SYS_fstat, fd, &st) < 0)
			_exit(99);
		bytes = (size_t)st.st_size;
		flags = MAP_SHARED;
	}
	rows = (void *)syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (rows == MAP_FAILED)
		_exit(99);
	((struct tally_head *)rows)->capacity = bytes / sizeof(*rows) - 1;
	if (fd >= 0)
		syscall(SYS_close, fd);
	errno = 0;
}

struct tally_row *tally_row(const char *stage, const char *path)
{
	struct tally_head *head = (struct tally_head *)rows;
	uint64_t number = __atomic_add_fetch(&head->taken, 1, __ATOMIC_SEQ_CST);
	struct tally_row *row = &rows[number];

	if (number > head->capacity)
		_exit(99);
	row->pid = (uint32_t)syscall(SYS_getpid);
	row->tid = (uint32_t)syscall(SYS_gettid);
	strncpy(row->stage, stage, sizeof(row->stage) - 1);
	strncpy(row->path, path, sizeof(row->path) - 1);
	return row;
}

void tally_make_file(const char *path, size_t bytes)
{
	long fd =
		syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	unsigned char block[4096];

	for (size_t at = 0; fd >= 0 && at < bytes; at += sizeof(block)) {
		size_t n = bytes - at < sizeof(block) ? bytes - at : sizeof(block);

		for (size_t i = 0; i < n; i++)
			block[i] = (unsigned char)((at + i) * 131 + (at >> 12));
		if (syscall(SYS_write, fd, block, n) != (long)n)
			_exit(98);
	}
	if (fd < 0)
		_exit(98);
	syscall(SYS_close, fd);
}

void tally_fail(const char *file, int line, const char *condition)
{
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
	exit(97);
}
