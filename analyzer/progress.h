/*
 * How far a long piece of work is: one line on a terminal, rewritten some times a second.
 */
#ifndef STAGEPROF_ANALYZER_PROGRESS_H
#define STAGEPROF_ANALYZER_PROGRESS_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

struct sp_progress {
	FILE *file; /* NULL: nobody looks */
	uint64_t total, done;
	uint64_t next;	  /* the clock is read when done reaches it */
	int64_t drawn_ns; /* CLOCK_MONOTONIC; 0: never */
	pthread_t owner;  /* who began; it alone draws */
};

/* file: NULL, or a terminal. total: 0 is nothing to do. */
void sp_progress_begin(struct sp_progress *p, FILE *file, uint64_t total);

void sp_progress_draw(struct sp_progress *p);

static inline void sp_progress_add(struct sp_progress *p, uint64_t n)
{
	p->done += n;
	if (__builtin_expect(p->done >= p->next, 0))
		sp_progress_draw(p);
}

/* The same, of several threads at once. */
static inline void sp_progress_share(struct sp_progress *p, uint64_t n)
{
	uint64_t done = __atomic_add_fetch(&p->done, n, __ATOMIC_RELAXED);

	if (pthread_equal(p->owner, pthread_self()) && done >= p->next)
		sp_progress_draw(p);
}

/* Removes the line. */
void sp_progress_end(struct sp_progress *p);

#endif
