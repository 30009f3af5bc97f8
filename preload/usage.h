/*
 * What the kernel knows of this process's cores and of a thread's time on them: SP_DEFINE_CPUS and
 * SP_DEFINE_USAGE. System calls, so where a file is made or ended, and in a step now and then;
 * never for an event. Files are read aside.
 */
#ifndef STAGEPROF_PRELOAD_USAGE_H
#define STAGEPROF_PRELOAD_USAGE_H

#include "preload/record.h"

/* Once an image, by its first thread. The quota is asked for by the first image alone; forks know it. */
void sp_usage_define_cpus(struct sp_thread *t);

/* At a thread's clean end. */
void sp_usage_define_thread(struct sp_thread *t);

/*
 * In a step, by the thread that makes it: in its backward, or after an optimizer; not for the hook path. Most calls
 * do nothing: what is told again is as far behind the first as that is behind the one before, and an eighth more, so
 * that a killed trainer has told of most of its training. errno is kept.
 */
void sp_usage_define_step(void);

#endif
