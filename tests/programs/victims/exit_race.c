/* SPDX-License-Identifier: Apache-2.0 */
/* exit_race ROUNDS: children that _exit, exit or take a SIGTERM amid eight reading threads. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

enum { THREADS = 8 };

static int in;

static void *read_forever(void *unused)
{
	struct tally_row *row = tally_row("file_read", "in.dat");
	char block[16];

	for (;;)
		TALLY_BYTES(row, pread(in, block, sizeof(block), 0));
	return unused;
}

static void leave(int signal)
{
	(void)signal;
	_exit(3);
}

static void child(int round)
{
	struct timespec life = {0, 100000 * (round % 20)};
	pthread_t id;

	signal(SIGTERM, leave);
	for (int i = 0; i < THREADS; i++)
		EXPECT(pthread_create(&id, NULL, read_forever, NULL) == 0);
	syscall(SYS_nanosleep, &life, NULL);
	if (round % 3 == 0)
		_exit(1);
	if (round % 3 == 1)
		exit(2);
	kill((pid_t)syscall(SYS_getpid), SIGTERM);
	read_forever(NULL);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 30;

	tally_make_file("in.dat", 4096);
	in = TALLY(tally_row("file_open", ""), open("in.dat", O_RDONLY));
	for (int i = 0; i < rounds; i++) {
		pid_t pid = fork();
		int status;

		if (pid == 0)
			child(i);
		EXPECT(waitpid(pid, &status, 0) == pid);
		EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == i % 3 + 1);
	}
	puts("done");
	return 0;
}
