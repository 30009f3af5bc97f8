/* SPDX-License-Identifier: Apache-2.0 */
/* Reads slowly from a pipe, twice by one way and once by another; prints where its functions lie.
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int ends[2];

static void *writer(void *times)
{
	for (int i = 0; i < *(int *)times; i++) {
		struct timespec t = {0, 40 * 1000 * 1000};

		nanosleep(&t, NULL);
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
	if (pthread_create(&thread, NULL, writer, &times))
		return 2;
	for (int i = 1; i < times; i++)
		done += outer_one(&byte);
	done += outer_two(&byte);
	pthread_join(thread, NULL);
	return done == 4 ? 0 : 1;
}
