/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads slowly from a pipe, twice by one way and once by another; prints where its functions lie.
 *
 * Each write waits until its reader is in read(2): a delay that began earlier would be shorter
 * for a reader that came late to a core.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/victims/blocked.h"

static int ends[2];
static sem_t about_to_read;

static void *writer(void *times)
{
	struct timespec delay = {0, 40 * 1000 * 1000};

	for (int i = 0; i < *(int *)times; i++) {
		sem_wait(&about_to_read);
		wait_until_blocked_in(getpid(), SYS_read);
		nanosleep(&delay, NULL);
		if (write(ends[1], "x", 1) != 1)
			return times;
	}
	return NULL;
}

__attribute__((noinline)) static ssize_t inner(char *byte)
{
	return read(ends[0], byte, 1);
}

__attribute__((noinline)) static int outer_one(char *byte)
{
	return inner(byte) == 1;
}

__attribute__((noinline)) static int outer_two(char *byte)
{
	return inner(byte) == 1 ? 1 : 2;
}

int main(void)
{
	int times = 3, done = 0;
	pthread_t thread;
	char byte;

	printf("%p %p %p\n", (void *)inner, (void *)outer_one, (void *)outer_two);
	fflush(stdout);
	if (pipe(ends) < 0 || write(ends[1], "f", 1) != 1)
		return 2;
	done += outer_one(&byte); /* fast: no stack of it */
	if (sem_init(&about_to_read, 0, 0) || pthread_create(&thread, NULL, writer, &times))
		return 2;
	for (int i = 1; i < times; i++) {
		sem_post(&about_to_read);
		done += outer_one(&byte);
	}
	sem_post(&about_to_read);
	done += outer_two(&byte);
	pthread_join(thread, NULL);
	return done == 4 ? 0 : 1;
}
