/* SPDX-License-Identifier: Apache-2.0 */
/* Files used in ways that are rare and allowed: each read still belongs to the file that it came
 * from. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/programs/victims/blocked.h"
#include "tests/programs/victims/old_libc.h"
#include "tests/programs/victims/opened.h"

#define DEEP_FOLDERS 20
#define DEEP_NAME 250 /* bytes: together a path of more than 4,096 */

static struct tally_row *dups, *read_a, *read_b;
static char block[4096];

static void read_from(struct tally_row *row, int fd)
{
	EXPECT(TALLY_BYTES(row, pread(fd, block, 32, 64)) == 32);
}

/* By syscall(2): nothing of it is an event, and the next reads are not the old file's. */
static void behind_libc(void)
{
	struct open_how how = {.flags = O_RDONLY};
	int a = opened("a.dat"), b, number = a;

	read_from(read_a, a);
	EXPECT(syscall(SYS_close, a) == 0);
	b = (int)syscall(SYS_openat2, AT_FDCWD, "b.dat", &how, sizeof(how));
	if (b < 0 && errno == ENOSYS)
		b = (int)syscall(SYS_openat, AT_FDCWD, "b.dat", O_RDONLY);
	EXPECT(b == number);
	read_from(read_b, b);
	a = opened("a.dat");
	read_from(read_a, a);
	EXPECT(syscall(SYS_dup3, b, a, O_CLOEXEC) == a);
	read_from(read_b, a);
	EXPECT(syscall(SYS_close_range, a, a, 0) == 0);
	EXPECT(syscall(SYS_openat, AT_FDCWD, "a.dat", O_RDONLY) == a);
	read_from(read_a, a);
	closed(a);
	closed(b);
}

struct blocked {
	struct tally_row *row;
	int fd, thread; /* thread: its kernel's number, 0 until it runs */
};

static void *block_in_read(void *argument)
{
	struct blocked *blocked = argument;
	char byte;

	__atomic_store_n(&blocked->thread, (int)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	EXPECT(TALLY_BYTES(blocked->row, read(blocked->fd, &byte, 1)) == 1);
	return NULL;
}

/* The number of a pipe that a thread waits for is closed, or becomes another file's. */
static void number_taken_meanwhile(int is_closed)
{
	struct blocked blocked = {tally_row("ipc_read", ""), -1, 0};
	int ends[2], a;
	pthread_t thread;

	EXPECT(pipe(ends) == 0);
	blocked.fd = TALLY(dups, dup(ends[0]));
	EXPECT(pthread_create(&thread, NULL, block_in_read, &blocked) == 0);
	while (!__atomic_load_n(&blocked.thread, __ATOMIC_SEQ_CST))
		usleep(1000);
	wait_until_blocked_in(blocked.thread, SYS_read);
	if (is_closed)
		closed(blocked.fd);
	a = opened("a.dat");
	if (!is_closed)
		EXPECT(TALLY(dups, dup2(a, blocked.fd)) == blocked.fd);
	read_from(read_a, blocked.fd);
	EXPECT(syscall(SYS_write, ends[1], "x", 1) == 1);
	EXPECT(pthread_join(thread, NULL) == 0);
	read_from(read_a, blocked.fd);
	closed(a);
	if (!is_closed)
		closed(blocked.fd);
	closed(ends[0]);
	closed(ends[1]);
}

/* Without a name in any folder, and only as a place. */
static void no_name(void)
{
	struct tally_row *row = tally_row("file_read", ""), *writes = tally_row("file_write", "");
	int fd = TALLY(opens, open(".", O_TMPFILE | O_RDWR, 0600)), place;
	char again[40];

	EXPECT(fd >= 0);
	EXPECT(TALLY_BYTES(writes, write(fd, block, 100)) == 100);
	EXPECT(TALLY_BYTES(row, pread(fd, block, 100, 0)) == 100);
	closed(fd);
	place = TALLY(opens, open("a.dat", O_PATH));
	EXPECT(TALLY(read_a, read(place, block, 1)) == -1 && errno == EBADF);
	snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
	fd = TALLY(opens, open(again, O_RDONLY));
	EXPECT(fd >= 0);
	read_from(read_a, fd);
	closed(fd);
	closed(place);
}

/* No UTF-8, and more than one line. */
static void odd_name(void)
{
	static const char name[] = "\xff\xfe\n.dat";
	int fd;

	tally_make_file(name, 4096);
	fd = opened(name);
	read_from(tally_row("file_read", ""), fd);
	closed(fd);
}

static void far_offsets(void)
{
	struct tally_row *row = tally_row("file_read", "far.dat");
	off_t size = (off_t)1 << 42;
	int fd = TALLY(opens, open("far.dat", O_CREAT | O_RDWR, 0600));

	EXPECT(fd >= 0 && ftruncate(fd, size) == 0);
	EXPECT(TALLY_BYTES(row, pread(fd, block, 4096, size - 100)) == 100);
	EXPECT(TALLY_BYTES(row, pread(fd, block, 4096, size)) == 0);
	EXPECT(TALLY(row, pread(fd, block, 4096, -1)) == -1 && errno == EINVAL);
	EXPECT(unlink("far.dat") == 0);
	closed(fd);
}

static void to_a_socket(void)
{
	int ends[2], a = opened("a.dat");
	off_t at = 10;

	EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	EXPECT(TALLY_BYTES(tally_row("file_copy", ""), sendfile(ends[0], a, &at, 1000)) == 1000 &&
	       at == 1010);
	EXPECT(TALLY_BYTES(tally_row("ipc_read", ""), read(ends[1], block, 1000)) == 1000);
	closed(ends[0]);
	closed(ends[1]);
	closed(a);
}

/* Two files under one path of more than 4,096 bytes, which the kernel does not report. */
static void deep(void)
{
	struct tally_row *row = tally_row("file_read", "");
	struct tally_row *writes = tally_row("file_write", "");
	char name[DEEP_NAME + 1] = "";
	int folder = TALLY(opens, open(".", O_RDONLY | O_DIRECTORY)), next, file;

	memset(name, 'd', DEEP_NAME);
	for (int i = 0; i < DEEP_FOLDERS; i++) {
		EXPECT(mkdirat(folder, name, 0700) == 0 || errno == EEXIST);
		next = TALLY(opens, openat(folder, name, O_RDONLY | O_DIRECTORY));
		EXPECT(next >= 0);
		closed(folder);
		folder = next;
	}
	for (int i = 1; i <= 2; i++) {
		file = TALLY(opens, openat(folder, i == 1 ? "one" : "two",
					   O_CREAT | O_TRUNC | O_RDWR, 0600));
		EXPECT(TALLY_BYTES(writes, write(file, block, 1000)) == 1000);
		EXPECT(TALLY_BYTES(row, pread(file, block, (size_t)i * 100, 0)) == i * 100);
		closed(file);
	}
	closed(folder);
}

/* Read by lines and written by characters: neither is a call that is recorded. */
static void by_lines(void)
{
	FILE *in = TALLY(opens, fopen("lines.dat", "r")),
	     *out = TALLY(opens, fopen("letters.dat", "w"));
	size_t bytes = 0;

	EXPECT(in && out);
	while (fgets(block, sizeof(block), in)) {
		bytes += strlen(block);
		EXPECT(fputc(block[0], out) != EOF);
	}
	EXPECT(bytes > 0);
	EXPECT(TALLY(closes, fclose(in)) == 0 && TALLY(closes, fclose(out)) == 0);
}

static FILE *shared;

static void *read_shared(void *argument)
{
	struct tally_row *row = tally_row("file_read", "a.dat");
	char part[100];

	(void)argument;
	while (TALLY_BYTES(row, fread(part, 1, sizeof(part), shared)) > 0)
		;
	return NULL;
}

static void one_stream_many_threads(void)
{
	pthread_t threads[4];

	shared = TALLY(opens, fopen("a.dat", "re"));
	EXPECT(shared);
	for (int i = 0; i < 4; i++)
		EXPECT(pthread_create(&threads[i], NULL, read_shared, NULL) == 0);
	for (int i = 0; i < 4; i++)
		EXPECT(pthread_join(threads[i], NULL) == 0);
	EXPECT(TALLY(closes, fclose(shared)) == 0);
}

int main(void)
{
	tally_make_file("a.dat", 65536);
	tally_make_file("b.dat", 65536);
	tally_make_file("lines.dat", 65536);
	opens = tally_row("file_open", "");
	closes = tally_row("file_close", "");
	dups = tally_row("dup", "");
	read_a = tally_row("file_read", "a.dat");
	read_b = tally_row("file_read", "b.dat");
	behind_libc();
	number_taken_meanwhile(0);
	number_taken_meanwhile(1);
	no_name();
	odd_name();
	far_offsets();
	to_a_socket();
	deep();
	one_stream_many_threads();
	by_lines();
	puts("done");
	return 0;
}
