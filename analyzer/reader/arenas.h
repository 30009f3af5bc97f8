/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tails of threads in shared memory of this machine (trace/arena_layout.h). The tails of processes
 * that have ended become files of their run; the tails of running processes are copied as they are.
 */
#ifndef STAGEPROF_ANALYZER_ARENAS_H
#define STAGEPROF_ANALYZER_ARENAS_H

#include <stdint.h>

/* Makes files of the tails of this run's killed processes, if the directory is the user's own. */
void sp_arenas_to_files(const char *directory, const uint64_t run_token[2]);

/*
 * A copy of the tails that are in use, as one trace: a descriptor of a file in memory, or -1 where
 * there are none. To be taken before the files of the run are read: what is written into them
 * meanwhile is then seen twice and counted once.
 */
int sp_arenas_copy(const char *directory, const uint64_t run_token[2]);

#endif
