/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children made past libc's fork handlers (_Fork, raw clone), by a fork in an exit handler, and by
 * a daemon's double fork with all descriptors closed. Each reads a number of its own.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/victims/old_libc.h"
#include "tests/programs/victims/tally.h"

static char data[4096];

static void read_some(int n)
{
	struct tally_row *row = tally_row("file_read", "in.dat");
	int fd = TALLY(tally_row("file_open", ""), open(data, O_RDONLY));
	char block[64];

	EXPECT(fd >= 0);
	for (int i = 0; i < n; i++)
		EXPECT(TALLY_BYTES(row, pread(fd, block, sizeof(block), 0)) == sizeof(block));
	EXPECT(TALLY(tally_row("file_close", ""), close(fd)) == 0);
}

static pid_t raw_clone(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

static void child_of(pid_t (*make)(void), int reads)
{
	pid_t pid = make();
	int status;

	EXPECT(pid >= 0);
	if (pid == 0) {
		read_some(reads);
		_exit(reads % 100);
	}
	EXPECT(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == reads % 100);
}

static void fork_at_exit(void)
{
	child_of(fork, 555);
	read_some(7);
}

/* Holds `alive` as descriptor 0 until it ends. */
static void be_daemon(int alive)
{
	EXPECT(chdir("/") == 0);
	umask(0);
	EXPECT(TALLY(tally_row("dup", ""), dup2(alive, 0)) == 0);
	EXPECT(TALLY(tally_row("file_close", ""), close_range(1, ~0u, 0)) == 0);
	read_some(3000);
	_exit(0);
}

static void daemonize(void)
{
	struct tally_row *closes = tally_row("file_close", "");
	int ends[2], status;
	char byte;

	EXPECT(pipe(ends) == 0);
	if (fork() == 0) {
		setsid();
		if (fork() == 0)
			be_daemon(ends[1]);
		_exit(0);
	}
	wait(&status);
	EXPECT(TALLY(closes, close(ends[1])) == 0);
	EXPECT(TALLY_BYTES(tally_row("ipc_read", ""), read(ends[0], &byte, 1)) == 0);
	EXPECT(TALLY(closes, close(ends[0])) == 0);
}

int main(void)
{
	EXPECT(getcwd(data, sizeof(data) - 10));
	strcat(data, "/in.dat");
	tally_make_file(data, 4096);
	read_some(1000);
	for (int i = 0; i < 5; i++) {
		child_of(fork, 300 + i);
		child_of(_Fork, 400 + i);
		child_of(raw_clone, 600 + i);
	}
	daemonize();
	atexit(fork_at_exit);
	puts("done");
	fflush(stdout);
	return 0;
}
