/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes of every kind of descriptor: a queue is not a file, a device is not a queue. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

static struct tally_row *opens, *closes, *ipc_reads, *ipc_writes;

static void close_both(const int *ends)
{
	EXPECT(TALLY(closes, close(ends[0])) == 0);
	EXPECT(TALLY(closes, close(ends[1])) == 0);
}

static void pass_through(const int *ends, size_t n)
{
	char block[256] = {1}; /* an eventfd blocks on 0 */

	for (int i = 0; i < 10; i++) {
		EXPECT(TALLY_BYTES(ipc_writes, write(ends[1], block, n)) == (ssize_t)n);
		EXPECT(TALLY_BYTES(ipc_reads, read(ends[0], block, n)) == (ssize_t)n);
	}
}

static void queues(void)
{
	int ends[2], event;

	EXPECT(pipe(ends) == 0);
	pass_through(ends, 100);
	close_both(ends);
	EXPECT(pipe2(ends, O_CLOEXEC) == 0);
	pass_through(ends, 101);
	close_both(ends);
	EXPECT(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	pass_through(ends, 102);
	close_both(ends);
	event = eventfd(0, 0);
	EXPECT(event >= 0);
	ends[0] = ends[1] = event;
	pass_through(ends, 8);
	EXPECT(TALLY(closes, close(event)) == 0);
}

/* The same number is a file first and then a pipe, though no open call made the pipe. */
static void number_changes_kind(void)
{
	struct tally_row *reads = tally_row("file_read", "in.dat");
	char block[64];
	int fd = TALLY(opens, open("in.dat", O_RDONLY)), ends[2];

	EXPECT(TALLY_BYTES(reads, read(fd, block, sizeof(block))) == sizeof(block));
	EXPECT(TALLY(closes, close(fd)) == 0);
	EXPECT(pipe(ends) == 0 && ends[0] == fd);
	pass_through(ends, 16);
	close_both(ends);
	fd = TALLY(opens, open("in.dat", O_RDONLY));
	EXPECT(fd == ends[0]);
	EXPECT(TALLY_BYTES(reads, read(fd, block, sizeof(block))) == sizeof(block));
	EXPECT(TALLY(closes, close(fd)) == 0);
}

static void read_path(const char *stage, const char *path, size_t n)
{
	struct tally_row *row = tally_row(stage, path);
	char block[256];
	int fd = TALLY(opens, open(path, O_RDONLY));

	EXPECT(fd >= 0);
	for (int i = 0; i < 3; i++)
		EXPECT(TALLY_BYTES(row, read(fd, block, n)) > 0);
	EXPECT(TALLY(closes, close(fd)) == 0);
}

static void write_device(void)
{
	struct tally_row *row = tally_row("device_write", "/dev/null");
	int fd = TALLY(opens, open("/dev/null", O_WRONLY));

	for (int i = 0; i < 4; i++)
		EXPECT(TALLY_BYTES(row, write(fd, "abc", 3)) == 3);
	EXPECT(TALLY(closes, close(fd)) == 0);
}

int main(void)
{
	tally_make_file("in.dat", 4096);
	opens = tally_row("file_open", "");
	closes = tally_row("file_close", "");
	ipc_reads = tally_row("ipc_read", "");
	ipc_writes = tally_row("ipc_write", "");
	queues();
	number_changes_kind();
	read_path("device_read", "/dev/zero", 200);
	read_path("proc_read", "/proc/self/status", 20);
	read_path("proc_read", "/sys/kernel/mm/transparent_hugepage/enabled", 2);
	read_path("file_read", "in.dat", 200);
	write_device();
	puts("done");
	return 0;
}
