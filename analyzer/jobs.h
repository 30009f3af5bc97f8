/*
 * Runs n independent pieces of work on some threads.
 */
#ifndef STAGEPROF_ANALYZER_JOBS_H
#define STAGEPROF_ANALYZER_JOBS_H

#include <stdint.h>

/* Processors that this process may use; >= 1. */
unsigned sp_jobs_default(void);

/*
 * Calls work(context, worker, i) once for each i < n; worker < jobs names the calling thread. Stops
 * handing out work after a negative result and returns the first of them by i among those that ran,
 * else 0. Where threads cannot be made, fewer run, at least the caller's own.
 */
int sp_jobs_run(unsigned jobs, uint32_t n, int (*work)(void *context, unsigned worker, uint32_t i),
		void *context);

#endif
