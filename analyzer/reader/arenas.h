/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tails of running threads in shared memory of this machine (trace/arenas/arena_layout.h), copied
 * as they are. Those of processes that have ended become files of the run first
 * (trace/arenas/arena_files.h).
 */
#ifndef STAGEPROF_ANALYZER_ARENAS_H
#define STAGEPROF_ANALYZER_ARENAS_H

#include <stdint.h>

/*
 * A copy of the tails that are in use, as one trace: a descriptor of a file in memory, or -1 where
 * there are none. To be taken before the files of the run are read: what is written into them
 * meanwhile is then seen twice and counted once.
 */
int sp_arenas_copy(const char *directory, const uint64_t run_token[2]);

#endif
