/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stall_loop FILE SECONDS: times each of its preads of 4 KiB, in bursts: it is to leave most of a
 * core to others, for ten minutes. Prints {"calls", "longest_ns", "longest_cpu_ns", "over_1ms"}.
 * longest_ns is of the wall clock: the scheduler's doing is in it. longest_cpu_ns is what the
 * thread itself spent in the dearest 64 calls in a row, so no call of them took more.
 */
#include <fcntl.h>
#include <unistd.h>

#include "tests/bench/loop.h"

/* CLOCK_THREAD_CPUTIME_ID is a system call: it is read once for so many calls. */
#define BRACKET_CALLS 64u
#define PAUSE_NS 500000

struct stalls {
	uint64_t calls, longest_ns, longest_cpu_ns, over_1ms;
};

static void bracket(struct stalls *s, int fd)
{
	uint64_t cpu = bench_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t before = bench_ns(CLOCK_MONOTONIC);
	char buffer[4096];

	for (unsigned i = 0; i < BRACKET_CALLS; i++) {
		uint64_t now;

		bench_require(pread(fd, buffer, sizeof(buffer), 0) > 0, "pread");
		now = bench_ns(CLOCK_MONOTONIC);
		s->longest_ns = now - before > s->longest_ns ? now - before : s->longest_ns;
		s->over_1ms += now - before > 1000000;
		before = now;
	}
	cpu = bench_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	s->longest_cpu_ns = cpu > s->longest_cpu_ns ? cpu : s->longest_cpu_ns;
	s->calls += BRACKET_CALLS;
}

int main(int argc, char **argv)
{
	struct stalls s = {0};
	uint64_t end;
	int fd;

	if (argc != 3)
		return 2;
	fd = open(argv[1], O_RDONLY);
	bench_require(fd >= 0, argv[1]);
	end = bench_ns(CLOCK_MONOTONIC) + (uint64_t)(strtod(argv[2], NULL) * 1e9);
	while (bench_ns(CLOCK_MONOTONIC) < end) {
		bracket(&s, fd);
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
	}
	printf("{\"calls\": %lu, \"longest_ns\": %lu, \"longest_cpu_ns\": %lu, \"over_1ms\": "
	       "%lu}\n",
	       s.calls, s.longest_ns, s.longest_cpu_ns, s.over_1ms);
	return 0;
}
