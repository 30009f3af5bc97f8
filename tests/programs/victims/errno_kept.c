/* SPDX-License-Identifier: Apache-2.0 */
/* errno is 0 when main starts, kept by calls that succeed and the kernel's where they fail. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

static struct tally_row *opens, *closes, *reads, *bad_reads, *bad_writes;

#define FAILS(row, expected, call)                                                                 \
	do {                                                                                       \
		errno = 0;                                                                         \
		EXPECT(TALLY(row, call) == -1);                                                    \
		EXPECT(errno == (expected));                                                       \
	} while (0)

static void failing(void)
{
	char block[8];

	FAILS(opens, ENOENT, open("missing", O_RDONLY));
	FAILS(opens, EISDIR, open(".", O_WRONLY));
	FAILS(opens, EEXIST, open("in.dat", O_CREAT | O_EXCL | O_RDWR, 0600));
	FAILS(opens, EBADF, openat(-7, "in.dat", O_RDONLY));
	FAILS(bad_reads, EBADF, read(-1, block, 1));
	FAILS(bad_reads, EBADF, read(900, block, 1));
	FAILS(bad_reads, EBADF, pread(900, block, 1, 0));
	FAILS(bad_writes, EBADF, write(900, block, 1));
	FAILS(closes, EBADF, close(900));
	errno = 0;
	EXPECT(TALLY(opens, fopen("missing", "r")) == NULL && errno == ENOENT);
	errno = 0;
	EXPECT(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
	EXPECT(errno == EINVAL);
}

/* Enough successful calls for several windows: no rotation or growth may touch errno. */
static void succeeding(void)
{
	int fd = TALLY(opens, open("in.dat", O_RDONLY));
	struct pollfd never = {.fd = -1};
	char block[8];

	EXPECT(fd >= 0);
	for (int i = 0; i < 50000; i++) {
		errno = EXDEV;
		TALLY_BYTES(reads, pread(fd, block, sizeof(block), 0));
		EXPECT(errno == EXDEV);
	}
	EXPECT(poll(&never, 1, 0) == 0 && errno == EXDEV);
	EXPECT(TALLY(closes, close(fd)) == 0 && errno == EXDEV);
}

static void failing_on_a_pipe(void)
{
	struct tally_row *row = tally_row("ipc_read", "");
	int ends[2];
	char block[8];

	EXPECT(pipe2(ends, O_NONBLOCK) == 0);
	for (int i = 0; i < 1000; i++)
		FAILS(row, EAGAIN, read(ends[0], block, 1));
	TALLY(closes, close(ends[0]));
	TALLY(closes, close(ends[1]));
}

static void *first_in_thread(void *unused)
{
	EXPECT(errno == 0);
	succeeding();
	return unused;
}

int main(void)
{
	int at_start = errno;
	pthread_t id;

	EXPECT(at_start == 0);
	tally_make_file("in.dat", 4096);
	opens = tally_row("file_open", "");
	closes = tally_row("file_close", "");
	reads = tally_row("file_read", "in.dat");
	bad_reads = tally_row("unknown_read", "");
	bad_writes = tally_row("unknown_write", "");
	failing();
	succeeding();
	failing_on_a_pipe();
	EXPECT(pthread_create(&id, NULL, first_in_thread, NULL) == 0);
	pthread_join(id, NULL);
	puts("done");
	return 0;
}
