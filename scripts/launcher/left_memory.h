/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared memory that this user's killed processes left, run by run (trace/arenas/arena_collect.h).
 */
#ifndef STAGEPROF_LAUNCHER_LEFT_MEMORY_H
#define STAGEPROF_LAUNCHER_LEFT_MEMORY_H

#include <stdint.h>

#include "trace/arenas/arena_layout.h"

#define SP_LEFT_RUNS 64u

struct sp_left_run {
	char directory[sizeof(((struct sp_arena *)0)->directory)];
	uint32_t segments;
	uint64_t bytes;
};

struct sp_left_memory {
	uint32_t count; /* of `runs`; the last one also has the segments of further runs */
	uint32_t segments;
	uint64_t bytes;
	struct sp_left_run runs[SP_LEFT_RUNS];
};

void sp_left_memory_list(struct sp_left_memory *ret);

/* Writes the memory's events to their runs and frees it; frees the memory of runs that are gone.
 * Memory whose events cannot be written stays. */
void sp_left_memory_free(void);

#endif
