/* SPDX-License-Identifier: Apache-2.0 */
/* shared_clone vfork|beside: children that share this thread's memory and thread pointer; the
 * parent waits for each or reads beside it. Calls made meanwhile are not counted, and in `beside`
 * nothing after it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

enum { STACK_BYTES = 256 * 1024, CHILDREN = 40, READS = 700 };

static int in;

static void read_uncounted(void)
{
	char block[100];

	for (int i = 0; i < READS; i++)
		EXPECT(pread(in, block, sizeof(block), i) == sizeof(block));
}

static void read_counted(struct tally_row *reads)
{
	char block[100];

	for (int i = 0; i < READS; i++)
		EXPECT(TALLY_BYTES(reads, pread(in, block, sizeof(block), i)) == sizeof(block));
}

static int child(void *unused)
{
	(void)unused;
	read_uncounted();
	return 3;
}

int main(int argc, char **argv)
{
	int beside = argc > 1 && strcmp(argv[1], "beside") == 0, status;
	struct tally_row *reads = tally_row("file_read", "in.dat");
	char *stack = malloc(STACK_BYTES);

	EXPECT(stack);
	tally_make_file("in.dat", 8192);
	in = TALLY(tally_row("file_open", ""), open("in.dat", O_RDONLY));
	EXPECT(in >= 0);
	read_counted(reads);
	for (int i = 0; i < CHILDREN; i++) {
		int flags = CLONE_VM | SIGCHLD | (beside ? 0 : CLONE_VFORK);
		pid_t pid = clone(child, stack + STACK_BYTES, flags, NULL);

		EXPECT(pid > 0);
		if (beside)
			read_uncounted();
		else
			read_counted(reads);
		EXPECT(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 3);
	}
	puts("done");
	return 0;
}
