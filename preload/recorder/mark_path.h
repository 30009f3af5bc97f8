/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the path of an opening call in flight lies, beside the thread's mark: another process reads
 * it there (trace/live_process.h), because a bad pointer must stay the caller's EFAULT.
 * Async-signal-safe, no allocation, no system call; the path is not read.
 */
#ifndef STAGEPROF_PRELOAD_MARK_PATH_H
#define STAGEPROF_PRELOAD_MARK_PATH_H

#include "preload/blocks/thread_slots.h"

/* Call it between the begin of a span and the real call. Keeps nothing where STAGEPROF_PATHS allows
 * no part of a path. */
void sp_mark_path_store(struct sp_thread *t, uint64_t start, const char *path);

/* Ends the call that the mark names, if any, as abandoned: the process ends inside of it, in a
 * signal handler. t may be NULL. */
void sp_mark_abandon(struct sp_thread *t);

/* SP_SPAN for a call that opens this path. */
#define SP_SPAN_OPEN(name, t, kind, path)                                                          \
	SP_SPAN(name, t, kind, 0);                                                                 \
	sp_mark_path_store(t, name.start, path)

#endif
