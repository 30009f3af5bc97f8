/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ways a thread can end: return, pthread_exit, cancelled in a blocked read, with destructors of
 * thread-specific data that go on reading. main leaves by pthread_exit; the last thread exits.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

static int in;
static pthread_key_t first, second;
static int blocked_pipe[2], cleaned, about_to_block;

static void read_some(int n)
{
	struct tally_row *row = tally_row("file_read", "in.dat");
	char block[64];

	for (int i = 0; i < n; i++)
		EXPECT(TALLY_BYTES(row, pread(in, block, sizeof(block), 0)) == sizeof(block));
}

/* Set again in the first rounds, so that it also runs after every other destructor. */
static void destroy(void *round)
{
	read_some(5);
	if ((long)round < 4)
		pthread_setspecific(first, (void *)((long)round + 1));
}

static void *returning(void *unused)
{
	pthread_setspecific(first, (void *)1L);
	pthread_setspecific(second, (void *)1L);
	read_some(10);
	return unused;
}

static void *exiting(void *unused)
{
	returning(unused);
	pthread_exit((void *)7L);
}

static void clean(void *unused)
{
	(void)unused;
	read_some(3);
	cleaned++;
}

/* The cancelled read never returns: it counts as begun, and may or may not be reported. */
static void *blocked(void *unused)
{
	char block[8];

	read_some(10);
	pthread_cleanup_push(clean, NULL);
	tally_begin(tally_row("ipc_read", ""));
	__atomic_store_n(&about_to_block, 1, __ATOMIC_SEQ_CST);
	if (read(blocked_pipe[0], block, sizeof(block)) >= 0)
		abort();
	pthread_cleanup_pop(0);
	return unused;
}

static void run(void *(*function)(void *), void *expected)
{
	pthread_t id;
	void *result;

	EXPECT(pthread_create(&id, NULL, function, NULL) == 0);
	EXPECT(pthread_join(id, &result) == 0 && result == expected);
}

static void cancel_blocked(void)
{
	struct timespec soon = {0, 5000000};
	pthread_t id;
	void *result;

	about_to_block = 0;
	EXPECT(pthread_create(&id, NULL, blocked, NULL) == 0);
	while (!__atomic_load_n(&about_to_block, __ATOMIC_SEQ_CST))
		syscall(SYS_sched_yield);
	syscall(SYS_nanosleep, &soon, NULL);
	EXPECT(pthread_cancel(id) == 0);
	EXPECT(pthread_join(id, &result) == 0 && result == PTHREAD_CANCELED);
}

/* With main gone /proc/self/fd is empty; /proc/thread-self/fd is not. */
static void read_late(void)
{
	struct tally_row *row = tally_row("file_read", "late.dat");
	int fd = TALLY(tally_row("file_open", ""), open("late.dat", O_RDONLY));
	char block[64];

	for (int i = 0; i < 5; i++)
		EXPECT(TALLY_BYTES(row, pread(fd, block, sizeof(block), 0)) == sizeof(block));
	EXPECT(TALLY(tally_row("file_close", ""), close(fd)) == 0);
}

static void *last(void *unused)
{
	struct timespec soon = {0, 20000000};

	syscall(SYS_nanosleep, &soon, NULL);
	read_some(100);
	read_late();
	printf("cleaned %d\n", cleaned);
	exit(9);
	return unused;
}

int main(void)
{
	pthread_t id;

	tally_make_file("in.dat", 4096);
	tally_make_file("late.dat", 4096);
	in = TALLY(tally_row("file_open", ""), open("in.dat", O_RDONLY));
	EXPECT(pthread_key_create(&first, destroy) == 0);
	EXPECT(pthread_key_create(&second, destroy) == 0);
	EXPECT(pipe(blocked_pipe) == 0);
	for (int i = 0; i < 10; i++) {
		run(returning, NULL);
		run(exiting, (void *)7L);
		cancel_blocked();
	}
	EXPECT(pthread_create(&id, NULL, last, NULL) == 0);
	pthread_exit(NULL);
}
