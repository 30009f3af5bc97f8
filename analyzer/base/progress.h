/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress of a long task: one line on a terminal, redrawn a few times a second.
 */
#ifndef STAGEPROF_ANALYZER_PROGRESS_H
#define STAGEPROF_ANALYZER_PROGRESS_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

struct sp_progress {
	FILE *file; /* NULL: nothing is drawn */
	uint64_t total, done;
	uint64_t next;	  /* the value of `done` at which the clock is read again */
	int64_t drawn_ns; /* CLOCK_MONOTONIC; 0: never */
	pthread_t owner;  /* the thread that started the task; only this thread draws */
};

/* file: NULL, or a terminal. total 0: there is nothing to do. */
void sp_progress_begin(struct sp_progress *p, FILE *file, uint64_t total);

void sp_progress_draw(struct sp_progress *p);

static inline void sp_progress_add(struct sp_progress *p, uint64_t n)
{
	p->done += n;
	if (__builtin_expect(p->done >= p->next, 0))
		sp_progress_draw(p);
}

/* As sp_progress_add(), for several threads at once. */
static inline void sp_progress_share(struct sp_progress *p, uint64_t n)
{
	uint64_t done = __atomic_add_fetch(&p->done, n, __ATOMIC_RELAXED);

	if (pthread_equal(p->owner, pthread_self()) && done >= p->next)
		sp_progress_draw(p);
}

/* Removes the line from the terminal. */
void sp_progress_end(struct sp_progress *p);

#endif
