/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The truth that a library of the test bed leaves: each function's calls, by name. A library that
 * includes this writes "call NAME N" lines into $SIM_TRUTH.PID when the process ends. Thread-safe.
 */
#ifndef SIM_COUNT_H
#define SIM_COUNT_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct sim_count {
	const char *name;
	long n;
	struct sim_count *next;
};

static struct sim_count *sim_counts;

static inline void sim_count(struct sim_count *count)
{
	if (__atomic_fetch_add(&count->n, 1, __ATOMIC_RELAXED))
		return;
	count->next = __atomic_load_n(&sim_counts, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&sim_counts, &count->next, count, 0, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
}

#define CALLED(function)                                                                           \
	do {                                                                                       \
		static struct sim_count called = {function, 0, NULL};                              \
		sim_count(&called);                                                                \
	} while (0)

static inline FILE *sim_truth_open(void)
{
	const char *path = getenv("SIM_TRUTH");
	char own[4096];

	if (!path)
		return NULL;
	snprintf(own, sizeof(own), "%s.%d", path, (int)getpid());
	return fopen(own, "a");
}

__attribute__((destructor)) static void sim_counts_write(void)
{
	FILE *file = sim_counts ? sim_truth_open() : NULL;

	if (!file)
		return;
	for (struct sim_count *c = sim_counts; c; c = c->next)
		fprintf(file, "call %s %ld\n", c->name, c->n);
	fclose(file);
}

#endif
