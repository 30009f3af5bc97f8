/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs n independent tasks on several threads.
 */
#ifndef STAGEPROF_ANALYZER_JOBS_H
#define STAGEPROF_ANALYZER_JOBS_H

#include <stdint.h>

/* The number of processors that this process may use; >= 1. */
unsigned sp_jobs_default(void);

/*
 * Calls work(context, worker, i) once for each i < n; worker < jobs names the calling thread. After
 * a negative result no further task starts; the result of the lowest such i is returned, else 0.
 * Where threads cannot be created, fewer run, at least the caller's own.
 */
int sp_jobs_run(unsigned jobs, uint32_t n, int (*work)(void *context, unsigned worker, uint32_t i),
		void *context);

#endif
