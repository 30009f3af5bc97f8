/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vfork_signals CHILDREN: a timer's handler reads a file while the thread waits for vfork children,
 * and for those of clone with CLONE_VM | CLONE_VFORK, which sleep until the timer has fired.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

enum { STACK_BYTES = 64 * 1024 };

static int in;
static struct tally_row *row;

static void handler(int signal)
{
	char block[16];

	(void)signal;
	TALLY_BYTES(row, pread(in, block, sizeof(block), 0));
}

static int child(void *unused)
{
	const struct timespec pause = {0, 2000000};

	(void)unused;
	syscall(SYS_nanosleep, &pause, NULL);
	syscall(SYS_exit_group, 0);
	return 0;
}

int main(int argc, char **argv)
{
	static char stack[STACK_BYTES] __attribute__((aligned(16)));
	struct itimerval every = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	struct tally_row *opens = tally_row("file_open", "");
	long children = argc > 1 ? atol(argv[1]) : 100;

	tally_make_file("in.dat", 4096);
	in = TALLY(opens, open("in.dat", O_RDONLY));
	row = tally_row("file_read", "in.dat");
	EXPECT(sigaction(SIGALRM, &action, NULL) == 0);
	EXPECT(setitimer(ITIMER_REAL, &every, NULL) == 0);
	for (long i = 0; i < children; i++) {
		pid_t pid = i % 2 ? vfork()
				  : clone(child, stack + STACK_BYTES,
					  CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);

		if (pid == 0)
			child(NULL);
		EXPECT(pid > 0);
		/* A wait for a child is an event where it takes its time. */
		while (syscall(SYS_wait4, pid, NULL, 0, NULL) < 0)
			;
	}
	EXPECT(setitimer(ITIMER_REAL, &never, NULL) == 0);
	printf("children %ld\n", children);
	return 0;
}
