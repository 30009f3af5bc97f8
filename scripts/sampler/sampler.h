/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampler: a thread of the launcher, which may read its descendants, that notes the Python
 * stacks of all threads of a run some times a second. It stops nobody, and no process of the run
 * contains anything of it.
 */
#ifndef STAGEPROF_SAMPLER_H
#define STAGEPROF_SAMPLER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#define SP_SAMPLER_RATE 100u   /* a second */
#define SP_SAMPLER_AUTO "auto" /* SP_SAMPLER_RATE with a limit */
#define SP_SAMPLER_PRICE 350u

struct sp_sampler {
	/* Set by the caller. */
	unsigned rate;			 /* looks a second; 0: no sampler */
	bool has_limit;			 /* fewer looks, where they would take more than
					    1 / SP_SAMPLER_PRICE of a processor */
	bool is_apart;			 /* no ancestor: processes allow it to read them as they
					    begin */
	bool (*is_ready)(void *context); /* sp_run names the run and its directory is there; any
					    thread */
	void *context;

	pid_t root;
	pthread_t thread;
	bool is_running;
	bool is_refused; /* after the end: some processes may not be read */
	atomic_bool is_ended;
};

/* Sets rate and limit by STAGEPROF_SAMPLE: "auto" or a rate; NULL: none. */
void sp_sampler_ask(struct sp_sampler *sampler, const char *setting);

/* Begins to sample the command `root` and its descendants. The caller has blocked all signals.
 * Returns 0 or -errno. */
int sp_sampler_start(struct sp_sampler *sampler, pid_t root);

/* Ends the stream. */
void sp_sampler_stop(struct sp_sampler *sampler);

#endif
