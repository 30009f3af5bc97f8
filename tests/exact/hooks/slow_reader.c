/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads slowly from a pipe, twice by one way and once by another; prints where its functions lie.
 *
 * Each write waits until its reader sleeps in read(): a delay that began earlier would be shorter
 * for a reader that came late to a core.
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int ends[2];
static sem_t about_to_read;

static void rest(long ns)
{
	struct timespec t = {0, ns};

	nanosleep(&t, NULL);
}

/* The main thread sleeps: the letter after the name in its stat. */
static int is_main_asleep(void)
{
	char path[64], line[256];
	const char *name_end;
	ssize_t length;
	int stat;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", getpid());
	stat = open(path, O_RDONLY);
	length = stat < 0 ? -1 : read(stat, line, sizeof(line) - 1);
	close(stat);
	line[length < 0 ? 0 : length] = 0;
	name_end = strrchr(line, ')');
	return name_end && strncmp(name_end, ") S", 3) == 0;
}

static void *writer(void *times)
{
	for (int i = 0; i < *(int *)times; i++) {
		sem_wait(&about_to_read);
		while (!is_main_asleep())
			rest(1000 * 1000);
		rest(40 * 1000 * 1000);
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
