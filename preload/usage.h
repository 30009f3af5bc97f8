/*
 * What the kernel knows of this process's cores and of a thread's time on them: SP_DEFINE_CPUS and
 * SP_DEFINE_USAGE. System calls, so only where a file is made or ended, never for an event. Signals are
 * blocked; files are read aside.
 */
#ifndef STAGEPROF_PRELOAD_USAGE_H
#define STAGEPROF_PRELOAD_USAGE_H

#include "preload/record.h"

/* Once an image, by its first thread. The quota is asked for by the first image alone; forks know it. */
void sp_usage_define_cpus(struct sp_thread *t);

/* At a thread's clean end. */
void sp_usage_define_thread(struct sp_thread *t);

#endif
