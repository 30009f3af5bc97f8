/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_table TIMES: a process that syscall(2) cloned shares this one's descriptor table and opens
 * a file again and again: it must get the same number each time. Prints how often it got another
 * one. Meanwhile execs fail here, each followed by a read, so that the recorder opens its files.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

struct shared {
	int stop;
	unsigned long others, opens;
};

static int raw_open(void)
{
	return (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC);
}

static void watch(struct shared *shared, int expected)
{
	while (!__atomic_load_n(&shared->stop, __ATOMIC_ACQUIRE)) {
		int fd = raw_open();

		shared->others += fd != expected;
		shared->opens++;
		syscall(SYS_close, fd);
	}
}

int main(int argc, char **argv)
{
	char *const arguments[] = {(char *)"nothing", NULL};
	long times = argc > 1 ? atol(argv[1]) : 100, child;
	struct tally_row *opens = tally_row("file_open", ""), *row;
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char block[16];
	int in, next;

	tally_make_file("in.dat", 4096);
	in = TALLY(opens, open("in.dat", O_RDONLY));
	row = tally_row("file_read", "in.dat");
	next = raw_open();
	syscall(SYS_close, next);
	child = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	if (child == 0) {
		watch(shared, next);
		syscall(SYS_exit_group, 0);
	}
	for (long i = 0; i < times; i++) {
		EXPECT(execv("/nonexistent/nothing", arguments) == -1);
		EXPECT(TALLY_BYTES(row, pread(in, block, sizeof(block), 0)) == 16);
	}
	while (!__atomic_load_n(&shared->opens, __ATOMIC_ACQUIRE))
		syscall(SYS_sched_yield);
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELEASE);
	EXPECT(syscall(SYS_wait4, child, NULL, 0, NULL) == child);
	printf("other numbers: %lu\n", shared->others);
	return 0;
}
