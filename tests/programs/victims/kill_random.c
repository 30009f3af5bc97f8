/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kill_random KILLS SEED: children with one to four reading threads, each killed by SIGKILL after a
 * random 1 to 30 ms. Every fifth child is a new image, so that starting up is hit too.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

static int in;

static void *read_forever(void *bytes)
{
	struct tally_row *row = tally_row("file_read", "in.dat");
	char block[4096];

	for (;;)
		TALLY_BYTES(row, pread(in, block, (size_t)bytes, 0));
	return NULL;
}

static void child(unsigned number)
{
	size_t bytes = number % 3 == 0 ? 4096 : 1;
	pthread_t id;

	for (unsigned i = 0; i < number % 4; i++)
		EXPECT(pthread_create(&id, NULL, read_forever, (void *)bytes) == 0);
	read_forever((void *)bytes);
}

static pid_t start(char *self, unsigned number)
{
	char word[] = "child", text[16];
	char *args[] = {self, word, text, NULL};
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	if (number % 5 != 0) {
		child(number);
	} else {
		snprintf(text, sizeof(text), "%u", number);
		execv(self, args);
	}
	_exit(96);
}

int main(int argc, char **argv)
{
	unsigned kills = argc > 1 ? (unsigned)atoi(argv[1]) : 50;
	unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;

	if (argc > 2 && strcmp(argv[1], "child") == 0) {
		in = TALLY(tally_row("file_open", ""), open("in.dat", O_RDONLY));
		child(seed);
	}
	tally_make_file("in.dat", 4096);
	in = TALLY(tally_row("file_open", ""), open("in.dat", O_RDONLY | O_CLOEXEC));
	EXPECT(in >= 0);
	for (unsigned i = 0; i < kills; i++) {
		struct timespec life = {0, 1000000 + rand_r(&seed) % 29000000};
		pid_t pid = start(argv[0], i);
		int status;

		EXPECT(pid > 0);
		syscall(SYS_nanosleep, &life, NULL);
		kill(pid, SIGKILL);
		EXPECT(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
		       WTERMSIG(status) == SIGKILL);
	}
	printf("killed %u\n", kills);
	return 0;
}
