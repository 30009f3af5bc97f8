/* SPDX-License-Identifier: Apache-2.0 */
/* exit_ways HOW: reads on two threads and then ends in the way named; the other thread reads on. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

static int in;
static pthread_barrier_t second_has_read;

static void read_some(long n)
{
	struct tally_row *row = tally_row("file_read", "in.dat");
	char block[64];

	for (long i = 0; i < n; i++)
		EXPECT(TALLY_BYTES(row, pread(in, block, sizeof(block), 0)) == sizeof(block));
}

static void *second(void *unused)
{
	read_some(300);
	pthread_barrier_wait(&second_has_read);
	for (;;)
		syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
	return unused;
}

static void read_at_exit(void)
{
	read_some(10);
}

static void leave(const char *how)
{
	if (strcmp(how, "exit") == 0)
		exit(3);
	if (strcmp(how, "_exit") == 0)
		_exit(4);
	if (strcmp(how, "_Exit") == 0)
		_Exit(5);
	if (strcmp(how, "quick_exit") == 0)
		quick_exit(6);
	if (strcmp(how, "exit_group") == 0)
		syscall(SYS_exit_group, 7);
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "segv") == 0)
		*(volatile int *)0 = 1;
	if (strcmp(how, "kill") == 0)
		raise(SIGKILL);
	if (strcmp(how, "pthread_exit") == 0)
		pthread_exit(NULL);
}

int main(int argc, char **argv)
{
	pthread_t id;

	tally_make_file("in.dat", 4096);
	in = TALLY(tally_row("file_open", ""), open("in.dat", O_RDONLY));
	atexit(read_at_exit);
	at_quick_exit(read_at_exit);
	pthread_barrier_init(&second_has_read, NULL, 2);
	if (argc > 1 && strcmp(argv[1], "pthread_exit") != 0) {
		EXPECT(pthread_create(&id, NULL, second, NULL) == 0);
		pthread_barrier_wait(&second_has_read);
	}
	read_some(1000);
	puts("leaving");
	fflush(stdout);
	if (argc > 1)
		leave(argv[1]);
	return 2;
}
