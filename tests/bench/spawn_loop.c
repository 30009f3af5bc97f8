/*
 * spawn_loop TIMES PROGRAM [ARGUMENTS...]: starts PROGRAM and waits for it, TIMES times, with the preload of
 * $BENCH_PRELOAD where that is set. Prints {"wall_ns": [...]} of each, from before the spawn to the exit.
 */
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/loop.h"

static uint64_t spawn_one(char **argv)
{
	uint64_t start = bench_ns(CLOCK_MONOTONIC);
	int status;
	pid_t pid;

	bench_require(posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) == 0, argv[0]);
	bench_require(waitpid(pid, &status, 0) == pid && status == 0, "the program's status");
	return bench_ns(CLOCK_MONOTONIC) - start;
}

int main(int argc, char **argv)
{
	unsigned long times = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
	const char *preload = getenv("BENCH_PRELOAD");

	if (!times)
		return 2;
	if (preload)
		setenv("LD_PRELOAD", preload, 1);
	printf("{\"wall_ns\": [");
	for (unsigned long i = 0; i < times; i++)
		printf("%s%lu", i ? ", " : "", spawn_one(argv + 2));
	printf("]}\n");
	return 0;
}
