/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_memory FILE THREADS CALLS: that many threads make CALLS preads each and stay; prints
 * {"rss_bytes", "own_bytes"} of the process before they leave. Mapped pages of trace files count in
 * both; pages of programs and libraries that were never written count in the first.
 */
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
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

/* By system calls of our own: a recorded one would make a recorder of this thread, too. */
static const char *text_of(const char *name)
{
	static char text[1 << 20];
	long fd = syscall(SYS_openat, AT_FDCWD, name, O_RDONLY), n;
	size_t bytes = 0;

	bench_require(fd >= 0, name);
	while ((n = syscall(SYS_read, fd, text + bytes, sizeof(text) - 1 - bytes)) > 0)
		bytes += (size_t)n;
	syscall(SYS_close, fd);
	text[bytes] = 0;
	return text;
}

static unsigned long rss_bytes(void)
{
	unsigned long pages = 0;

	bench_require(sscanf(text_of("/proc/self/statm"), "%*u %lu", &pages) == 1, "statm");
	return pages * (unsigned long)sysconf(_SC_PAGESIZE);
}

/* Sums over all mappings: anonymous pages, and pages of files that are mapped to be shared. */
static unsigned long own_bytes(void)
{
	const char *line = text_of("/proc/self/smaps");
	char flags[8] = "";
	unsigned long kib, own = 0;

	while (*line) {
		sscanf(line, "%*x-%*x %7s", flags);
		if (sscanf(line, flags[3] == 's' ? "Rss: %lu" : "Anonymous: %lu", &kib) == 1)
			own += kib * 1024;
		line = strchr(line, '\n') + 1;
	}
	return own;
}

int main(int argc, char **argv)
{
	unsigned long threads = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
	unsigned long rss;
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
	rss = rss_bytes();
	printf("{\"rss_bytes\": %lu, \"own_bytes\": %lu}\n", rss, own_bytes());
	fflush(stdout);
	_exit(0);
}
