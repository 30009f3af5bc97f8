/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's time on cores, as the kernel counts it: SP_DEFINE_RUSAGE. These functions make system
 * calls, so they run when a file is ended and now and then in a step, never for an event. Files are
 * read in a private task.
 */
#ifndef STAGEPROF_PRELOAD_THREAD_RUSAGE_H
#define STAGEPROF_PRELOAD_THREAD_RUSAGE_H

#include "preload/blocks/thread_slots.h"

/* At the clean end of a thread. */
void sp_rusage_define_thread(struct sp_thread *t);

/* Reads the calling thread's and its process's; all: also the times of all other threads. Returns
 * 0, or -1 where the kernel refuses. The caller blocks signals. */
int sp_rusage_read(struct sp_rusage_metadata *ret, int all);

#endif
