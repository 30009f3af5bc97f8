/* SPDX-License-Identifier: Apache-2.0 */
/* open_fifo PATH: opens with paths that cannot be read, one that ends where the readable memory
 * does, and at last the FIFO that nobody writes to. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

static struct tally_row *opens, *closes;

static void unreadable(const char *path)
{
	errno = 0;
	EXPECT(TALLY(opens, open(path, O_RDONLY)) == -1);
	EXPECT(errno == EFAULT);
	errno = 0;
	EXPECT(TALLY(opens, openat(AT_FDCWD, path, O_RDONLY)) == -1);
	EXPECT(errno == EFAULT);
}

int main(int argc, char **argv)
{
	static const char name[] = "in.dat";
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile uintptr_t nowhere = 0;
	int fd;

	EXPECT(argc == 2 && at != MAP_FAILED && mprotect(at + page, page, PROT_NONE) == 0);
	tally_make_file(name, 64);
	opens = tally_row("file_open", "");
	closes = tally_row("file_close", "");
	unreadable((const char *)nowhere);
	unreadable((const char *)(nowhere + 1));
	unreadable(at + page);
	memset(at, 'x', page);
	unreadable(at + page - 7); /* not terminated before the page that cannot be read */
	memcpy(at + page - sizeof(name), name, sizeof(name));
	fd = TALLY(opens, open(at + page - sizeof(name), O_RDONLY));
	EXPECT(fd >= 0 && TALLY(closes, close(fd)) == 0);
	EXPECT(TALLY(opens, open("", O_RDONLY)) == -1 && errno == ENOENT);
	puts("opens");
	fflush(stdout);
	TALLY(opens, open(argv[1], O_RDONLY));
	return 1;
}
