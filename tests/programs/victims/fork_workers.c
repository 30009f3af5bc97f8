/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork_workers CHILDREN READS: children that read and then end in each of the ways a worker can,
 * while two threads of the parent go on reading. Children that are killed read until they are.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

enum end { RETURN, UNDERSCORE_EXIT, TERMINATED, TERMINATED_HANDLER, KILLED, ENDS };

static long reads_each;
static int stop;

static void read_one(struct tally_row *row, int fd)
{
	unsigned char block[256];

	EXPECT(TALLY_BYTES(row, pread(fd, block, sizeof(block), 512)) == sizeof(block));
}

/* As PyTorch's loader workers do. */
static void leave(int signal)
{
	(void)signal;
	_exit(0);
}

static int child(enum end end, int fd, volatile int *ready)
{
	struct tally_row *row = tally_row("file_read", "in.dat");

	if (end == TERMINATED_HANDLER)
		signal(SIGTERM, leave);
	for (long i = 0; i < reads_each; i++)
		read_one(row, fd);
	if (end == RETURN)
		return 0;
	if (end == UNDERSCORE_EXIT)
		_exit(3);
	*ready = 1;
	for (;;)
		read_one(row, fd);
}

static void *reader(void *unused)
{
	struct tally_row *row = tally_row("file_read", "in.dat");
	int fd = TALLY(tally_row("file_open", ""), open("in.dat", O_RDONLY));

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		read_one(row, fd);
		syscall(SYS_sched_yield);
	}
	TALLY(tally_row("file_close", ""), close(fd));
	return unused;
}

static int status_of(pid_t pid, enum end end, volatile int *ready)
{
	int status;

	if (end >= TERMINATED) {
		while (!*ready)
			syscall(SYS_sched_yield);
		kill(pid, end == KILLED ? SIGKILL : SIGTERM);
	}
	EXPECT(waitpid(pid, &status, 0) == pid);
	return status;
}

int main(int argc, char **argv)
{
	int children = argc > 1 ? atoi(argv[1]) : 10, in;
	volatile int *ready;
	pthread_t readers[2];
	int statuses[ENDS] = {0};

	reads_each = argc > 2 ? atol(argv[2]) : 100;
	tally_make_file("in.dat", 4096);
	in = TALLY(tally_row("file_open", ""), open("in.dat", O_RDONLY));
	ready = (void *)syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 2; i++)
		EXPECT(pthread_create(&readers[i], NULL, reader, NULL) == 0);
	for (int i = 0; i < children; i++) {
		enum end end = (enum end)(i % ENDS);
		pid_t pid;

		*ready = 0;
		pid = fork();
		EXPECT(pid >= 0);
		if (pid == 0)
			return child(end, in, ready);
		statuses[end] += status_of(pid, end, ready);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(readers[i], NULL);
	for (int i = 0; i < ENDS; i++)
		printf("statuses %d: %d\n", i, statuses[i]);
	return 0;
}
