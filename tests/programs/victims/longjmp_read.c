/* SPDX-License-Identifier: Apache-2.0 */
/* A handler leaves a blocked read by siglongjmp, again and again; what follows must be recorded. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

static sigjmp_buf where;

static void leave(int signal)
{
	(void)signal;
	siglongjmp(where, 1);
}

int main(void)
{
	struct tally_row *left = tally_row("ipc_read", "");
	struct tally_row *reads = tally_row("file_read", "in.dat");
	struct sigaction action = {.sa_handler = leave};
	struct itimerval soon = {{0, 0}, {0, 2000}};
	int ends[2], in;
	char block[64];

	tally_make_file("in.dat", 4096);
	in = TALLY(tally_row("file_open", ""), open("in.dat", O_RDONLY));
	EXPECT(pipe(ends) == 0 && sigaction(SIGALRM, &action, NULL) == 0);
	for (volatile int i = 0; i < 50; i++) {
		if (sigsetjmp(where, 1) == 0) {
			EXPECT(setitimer(ITIMER_REAL, &soon, NULL) == 0);
			tally_begin(left); /* never ends; may or may not be reported */
			if (read(ends[0], block, sizeof(block)) >= 0)
				return 1;
		}
		for (int j = 0; j < 20; j++)
			EXPECT(TALLY_BYTES(reads, pread(in, block, sizeof(block), 0)) == 64);
	}
	puts("done");
	return 0;
}
