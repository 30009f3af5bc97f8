/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared part of the loops of this folder: the clock, and one line of results for
 * tests/bench/run.
 */
#ifndef STAGEPROF_TESTS_BENCH_LOOP_H
#define STAGEPROF_TESTS_BENCH_LOOP_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline uint64_t bench_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Ends the program where a step of it failed:
 * a loop that did less than it says measures nothing. */
static inline void bench_require(int holds, const char *what)
{
	if (holds)
		return;
	perror(what);
	exit(1);
}

#endif
