/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spawn_loop TIMES PROGRAM [ARGUMENTS...]: starts PROGRAM and waits for it, TIMES times, with the
 * preload of $BENCH_PRELOAD where that is set; what it prints is thrown away. Prints {"wall_ns":
 * [...]} of each, from before the spawn to the exit, and of all of them {"cpu_ns", "rss_bytes"};
 * the second is the largest, and no less than this small program's own: a fork's memory counts.
 */
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/loop.h"

static posix_spawn_file_actions_t actions;

static uint64_t spawn_one(char **argv)
{
	uint64_t start = bench_ns(CLOCK_MONOTONIC);
	int status;
	pid_t pid;

	bench_require(posix_spawn(&pid, argv[0], &actions, NULL, argv, environ) == 0, argv[0]);
	bench_require(waitpid(pid, &status, 0) == pid && status == 0, "the program's status");
	return bench_ns(CLOCK_MONOTONIC) - start;
}

int main(int argc, char **argv)
{
	unsigned long times = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
	const char *preload = getenv("BENCH_PRELOAD");
	struct rusage usage;

	if (!times)
		return 2;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (preload)
		setenv("LD_PRELOAD", preload, 1);
	printf("{\"wall_ns\": [");
	for (unsigned long i = 0; i < times; i++)
		printf("%s%lu", i ? ", " : "", spawn_one(argv + 2));
	getrusage(RUSAGE_CHILDREN, &usage);
	printf("], \"cpu_ns\": %lu, \"rss_bytes\": %lu}\n",
	       ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000u +
		       ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) *
			       1000u,
	       (uint64_t)usage.ru_maxrss * 1024u);
	return 0;
}
