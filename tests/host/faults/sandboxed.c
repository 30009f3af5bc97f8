/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A filter that kills at every system call but those that the program makes itself: reads before it
 * and after it, from a file that was known and from one that was not, on two threads. Set by
 * prctl(2), or with an argument by seccomp(2) through syscall(2).
 */
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

#define ALLOW(call)                                                                                \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1),                                     \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static pthread_barrier_t sandboxed;
static int in;

static void read_some(struct tally_row *row, int fd, int n)
{
	char block[64];

	for (int i = 0; i < n; i++)
		EXPECT(TALLY_BYTES(row, pread(fd, block, sizeof(block), 0)) == sizeof(block));
}

static void *second(void *unused)
{
	struct tally_row *row = tally_row("file_read", "in.dat");

	read_some(row, in, 1000);
	pthread_barrier_wait(&sandboxed);
	read_some(row, in, 20000);
	pthread_barrier_wait(&sandboxed);
	return unused;
}

static void enter(int by_syscall)
{
	struct sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					       offsetof(struct seccomp_data, nr)),
				      ALLOW(pread64),
				      ALLOW(write),
				      ALLOW(openat),
				      ALLOW(futex),
				      ALLOW(exit_group),
				      ALLOW(getpid),
				      ALLOW(gettid),
				      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
	struct sock_fprog program = {sizeof(rules) / sizeof(rules[0]), rules};

	EXPECT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	if (by_syscall)
		EXPECT(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0);
	else
		EXPECT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

int main(int argc, char **argv)
{
	struct tally_row *row = tally_row("file_read", "in.dat");
	struct tally_row *late = tally_row("unknown_read", "");
	struct tally_row *opens = tally_row("file_open", "");
	int fd;
	pthread_t id;

	tally_make_file("in.dat", 4096);
	tally_make_file("late.dat", 4096);
	in = TALLY(opens, open("in.dat", O_RDONLY));
	pthread_barrier_init(&sandboxed, NULL, 2);
	EXPECT(pthread_create(&id, NULL, second, NULL) == 0);
	read_some(row, in, 1000);
	(void)argv;
	enter(argc > 1);
	pthread_barrier_wait(&sandboxed);
	read_some(row, in, 20000);
	fd = TALLY(opens, open("late.dat", O_RDONLY));
	EXPECT(fd >= 0);
	read_some(late, fd, 100);
	pthread_barrier_wait(&sandboxed);
	EXPECT(TALLY_BYTES(tally_row("ipc_write", ""), write(1, "done\n", 5)) == 5);
	_exit(0);
}
