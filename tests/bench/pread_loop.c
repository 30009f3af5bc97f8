/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pread_loop FILE CALLS THREADS: preads of 4 KiB, CALLS in all, each thread with a descriptor of
 * its own. Prints {"wall_ns", "cpu_ns", "calls"} of the loops alone, thread creation included; not
 * the process's first event, which begins a run.
 */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "tests/bench/loop.h"

#define READ_BYTES 4096
#define THREADS_MAX 64

static const char *path;
static uint64_t calls_each;

static void *read_all(void *argument)
{
	static __thread char buffer[READ_BYTES] __attribute__((aligned(READ_BYTES)));
	int fd = open(path, O_RDONLY);
	uint64_t pages;

	(void)argument;
	bench_require(fd >= 0, path);
	pages = (uint64_t)lseek(fd, 0, SEEK_END) / READ_BYTES;
	bench_require(pages > 0, "an empty file");
	/* A stride, so that the kernel's read-ahead state and its caches are used as by a shuffled
	 * loader. */
	for (uint64_t i = 0; i < calls_each; i++)
		bench_require(pread(fd, buffer, READ_BYTES, (off_t)(i * 7 % pages * READ_BYTES)) ==
				      READ_BYTES,
			      "pread");
	close(fd);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	uint64_t wall, cpu, count;

	if (argc != 4)
		return 2;
	path = argv[1];
	count = strtoull(argv[3], NULL, 10);
	if (!count || count > THREADS_MAX)
		return 2;
	calls_each = strtoull(argv[2], NULL, 10) / count;
	close(open(path, O_RDONLY));
	wall = bench_ns(CLOCK_MONOTONIC);
	cpu = bench_ns(CLOCK_PROCESS_CPUTIME_ID);
	if (count == 1)
		read_all(
			NULL); /* a program with no thread: libc and the kernel take shorter ways */
	for (uint64_t i = 0; count > 1 && i < count; i++)
		bench_require(!pthread_create(&threads[i], NULL, read_all, NULL), "pthread_create");
	for (uint64_t i = 0; count > 1 && i < count; i++)
		pthread_join(threads[i], NULL);
	printf("{\"wall_ns\": %lu, \"cpu_ns\": %lu, \"calls\": %lu}\n",
	       bench_ns(CLOCK_MONOTONIC) - wall, bench_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu,
	       calls_each * count);
	return 0;
}
