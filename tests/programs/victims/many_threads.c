/* SPDX-License-Identifier: Apache-2.0 */
/* many_threads TOTAL ALIVE: short threads on small stacks, 20 reads each, ALIVE at once. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

enum { READS = 20 };

static int in;
static pthread_barrier_t all_read;

static void *thread(void *unused)
{
	struct tally_row *reads = tally_row("file_read", "in.dat");
	unsigned char block[64];
	unsigned long total = 0;

	for (int i = 0; i < READS; i++) {
		EXPECT(TALLY_BYTES(reads, pread(in, block, 64, i * 64)) == 64);
		total += block[i];
	}
	pthread_barrier_wait(&all_read);
	return (void *)(total + (unsigned long)unused);
}

static unsigned long wave(pthread_t *ids, int n, const pthread_attr_t *attr)
{
	unsigned long total = 0;

	pthread_barrier_init(&all_read, NULL, (unsigned)n);
	for (int i = 0; i < n; i++)
		if (pthread_create(&ids[i], attr, thread, NULL) != 0) {
			printf("cannot start thread %d\n", i);
			exit(77);
		}
	for (int i = 0; i < n; i++) {
		void *part;

		EXPECT(pthread_join(ids[i], &part) == 0);
		total += (unsigned long)part;
	}
	pthread_barrier_destroy(&all_read);
	return total;
}

int main(int argc, char **argv)
{
	int total = argc > 1 ? atoi(argv[1]) : 1000, alive = argc > 2 ? atoi(argv[2]) : 200;
	pthread_t *ids = calloc((size_t)alive, sizeof(*ids));
	size_t least = (size_t)sysconf(_SC_THREAD_STACK_MIN); /* on Arm 128 KiB */
	pthread_attr_t attr;
	unsigned long sum = 0;

	tally_make_file("in.dat", 4096);
	in = TALLY(tally_row("file_open", ""), open("in.dat", O_RDONLY));
	EXPECT(ids && in >= 0);
	pthread_attr_init(&attr);
	EXPECT(pthread_attr_setstacksize(&attr, least > 64 * 1024 ? least : 64 * 1024) == 0);
	for (int done = 0; done < total; done += alive)
		sum += wave(ids, total - done < alive ? total - done : alive, &attr);
	free(ids);
	printf("sum %lu\n", sum);
	return 0;
}
