/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vfork_exec ROUNDS: vfork, posix_spawn and system(3) beside two reading threads. The vfork child
 * copies and closes descriptors in the parent's memory before it execs; those calls are its own.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/victims/old_libc.h"
#include "tests/programs/victims/tally.h"

extern char **environ;
static int stop;

static void *reader(void *unused)
{
	struct tally_row *row = tally_row("file_read", "in.dat");
	int fd = TALLY(tally_row("file_open", ""), open("in.dat", O_RDONLY));
	char block[64];

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		EXPECT(TALLY_BYTES(row, pread(fd, block, sizeof(block), 0)) == sizeof(block));
		syscall(SYS_sched_yield);
	}
	TALLY(tally_row("file_close", ""), close(fd));
	return unused;
}

static int by_vfork(int fd)
{
	char name[] = "true", *argv[] = {name, NULL};
	int status;
	pid_t pid = vfork();

	if (pid == 0) {
		dup2(fd, 70);
		close_range(60, 80, 0);
		execve("/bin/true", argv, environ);
		_exit(127);
	}
	EXPECT(waitpid(pid, &status, 0) == pid);
	return status;
}

/* The child of a failed exec leaves by _exit in the parent's memory. */
static int by_vfork_failing(void)
{
	char name[] = "none", *argv[] = {name, NULL};
	int status;
	pid_t pid = vfork();

	if (pid == 0) {
		execve("/nonexistent/none", argv, environ);
		_exit(12);
	}
	EXPECT(waitpid(pid, &status, 0) == pid);
	return status;
}

static int by_spawn(void)
{
	char name[] = "false", *argv[] = {name, NULL};
	int status;
	pid_t pid;

	EXPECT(posix_spawn(&pid, "/bin/false", NULL, NULL, argv, environ) == 0);
	EXPECT(waitpid(pid, &status, 0) == pid);
	return status;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 50, fd, statuses = 0;
	struct tally_row *row = tally_row("file_read", "main.dat");
	pthread_t readers[2];
	char block[64];

	tally_make_file("in.dat", 4096);
	tally_make_file("main.dat", 4096);
	fd = TALLY(tally_row("file_open", ""), open("main.dat", O_RDONLY));
	for (int i = 0; i < 2; i++)
		EXPECT(pthread_create(&readers[i], NULL, reader, NULL) == 0);
	for (int i = 0; i < rounds; i++) {
		statuses += by_vfork(fd) + by_vfork_failing() + by_spawn();
		if (i % 10 == 0)
			statuses += system("exit 5");
		EXPECT(TALLY_BYTES(row, pread(fd, block, sizeof(block), 0)) == sizeof(block));
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(readers[i], NULL);
	printf("statuses %d\n", statuses);
	return 0;
}
