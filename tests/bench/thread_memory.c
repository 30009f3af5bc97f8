/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_memory FILE THREADS CALLS: that many threads make CALLS preads each and stay; prints
 * {"rss_bytes"} of the process before they leave: mapped pages of trace files count.
 */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "tests/bench/loop.h"

static const char *path;
static uint64_t calls_each;
static pthread_barrier_t done, seen;

static void *read_some(void *argument)
{
	char buffer[4096];
	int fd = open(path, O_RDONLY);

	(void)argument;
	bench_require(fd >= 0, path);
	for (uint64_t i = 2; i < calls_each; i++) /* open and close are events, too */
		bench_require(pread(fd, buffer, sizeof(buffer), 0) > 0, "pread");
	close(fd);
	pthread_barrier_wait(&done);
	pthread_barrier_wait(&seen);
	return NULL;
}

static unsigned long rss_bytes(void)
{
	FILE *statm = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;

	bench_require(statm && fscanf(statm, "%*u %lu", &pages) == 1, "/proc/self/statm");
	fclose(statm);
	return pages * (unsigned long)sysconf(_SC_PAGESIZE);
}

int main(int argc, char **argv)
{
	unsigned long threads = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
	pthread_t thread;

	if (!threads)
		return 2;
	path = argv[1];
	calls_each = strtoull(argv[3], NULL, 10);
	pthread_barrier_init(&done, NULL, (unsigned)threads + 1);
	pthread_barrier_init(&seen, NULL, (unsigned)threads + 1);
	for (unsigned long i = 0; i < threads; i++) {
		bench_require(!pthread_create(&thread, NULL, read_some, NULL), "pthread_create");
		pthread_detach(thread);
	}
	pthread_barrier_wait(&done);
	printf("{\"rss_bytes\": %lu}\n", rss_bytes());
	fflush(stdout);
	_exit(0);
}
