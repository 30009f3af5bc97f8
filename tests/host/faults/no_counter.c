/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that forbids itself the cycle counter (PR_SET_TSC) goes on, and starts a thread and a
 * child, which have none either. Only what goes before is counted.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

enum { READS = 1000 };

static int in;

static void read_uncounted(void)
{
	char block[64];

	for (int i = 0; i < READS; i++)
		EXPECT(pread(in, block, sizeof(block), 0) == sizeof(block));
}

static void *thread(void *unused)
{
	read_uncounted();
	return unused;
}

int main(void)
{
	struct tally_row *row = tally_row("file_read", "in.dat");
	char block[64];
	pthread_t id;
	int status;
	pid_t pid;

	tally_make_file("in.dat", 4096);
	in = TALLY(tally_row("file_open", ""), open("in.dat", O_RDONLY));
	for (int i = 0; i < READS; i++)
		EXPECT(TALLY_BYTES(row, pread(in, block, sizeof(block), 0)) == sizeof(block));
#ifdef __x86_64__
	EXPECT(prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0);
#endif
	read_uncounted();
	EXPECT(pthread_create(&id, NULL, thread, NULL) == 0);
	EXPECT(pthread_join(id, NULL) == 0);
	pid = fork();
	if (pid == 0) {
		read_uncounted();
		_exit(3);
	}
	EXPECT(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 3);
	puts("done");
	return 0;
}
