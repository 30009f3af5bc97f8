/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path of an opening call in flight, beside the thread's mark: a run that was killed inside of
 * open shows the file. Async-signal-safe, no allocation; one system call for each page that holds
 * the path, because a bad pointer must stay the caller's EFAULT.
 */
#ifndef STAGEPROF_PRELOAD_MARK_PATH_H
#define STAGEPROF_PRELOAD_MARK_PATH_H

#include "preload/recorder/recorder.h"

/* Call it between the begin of a span and the real call. Keeps what STAGEPROF_PATHS allows, and
 * nothing under "hash". */
void sp_mark_path_store(struct sp_thread *t, uint64_t start, const char *path);

/* SP_SPAN for a call that opens this path. */
#define SP_SPAN_OPEN(name, t, kind, path)                                                          \
	SP_SPAN(name, t, kind, 0);                                                                 \
	sp_mark_path_store(t, name.start, path)

#endif
