/* SPDX-License-Identifier: Apache-2.0 */
/* Reads that a signal interrupts and reads and writes that move less than was asked for. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

static struct tally_row *reads, *writes;

static void noticed(int signal)
{
	(void)signal;
}

static void interrupted(int fd)
{
	struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = noticed}; /* no SA_RESTART */
	char block[8];

	EXPECT(sigaction(SIGALRM, &action, NULL) == 0);
	EXPECT(setitimer(ITIMER_REAL, &often, NULL) == 0);
	for (int i = 0; i < 50; i++) {
		errno = 0;
		EXPECT(TALLY_BYTES(reads, read(fd, block, sizeof(block))) == -1 && errno == EINTR);
	}
	EXPECT(setitimer(ITIMER_REAL, &never, NULL) == 0);
}

static void cut_short(const int *ends)
{
	static char block[1 << 20];
	ssize_t held;

	EXPECT(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
	held = TALLY_BYTES(writes, write(ends[1], block, sizeof(block)));
	EXPECT(held > 0 && held < (ssize_t)sizeof(block));
	EXPECT(TALLY_BYTES(writes, write(ends[1], block, sizeof(block))) == -1 && errno == EAGAIN);
	while (held > 0)
		held -= TALLY_BYTES(reads, read(ends[0], block, 1000));
	EXPECT(held == 0);
}

int main(void)
{
	int ends[2];

	reads = tally_row("ipc_read", "");
	writes = tally_row("ipc_write", "");
	EXPECT(pipe(ends) == 0);
	interrupted(ends[0]);
	cut_short(ends);
	EXPECT(TALLY(tally_row("file_close", ""), close(ends[1])) == 0);
	puts("done");
	return 0;
}
