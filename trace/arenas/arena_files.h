/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arenas of a run's killed processes become files of the run. The report does this, and the
 * launcher at the end of its command. These functions allocate; the recorder has its own
 * (files/arena_keep).
 */
#ifndef STAGEPROF_TRACE_ARENA_FILES_H
#define STAGEPROF_TRACE_ARENA_FILES_H

#include <stdint.h>

#include "trace/arenas/arena_collect.h"

/* For arenas of the run in this directory; NULL: of the user. Returns 0, or -errno where this user
 * makes no file in it: -EACCES where it is another user's. */
int sp_arena_files_init(struct sp_collect *c, const char *directory);

/* Makes files of the tails of this run's killed processes, if the directory is the user's own. They
 * are freed where it is gone. Both NULL: of all runs of this user. */
void sp_arenas_to_files(const char *directory, const uint64_t run_token[2]);

#endif
