/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The windows of the run's threads, in its files and in shared memory, read while the threads go
 * on. A walk reads only those parts of a file that grew since the last one.
 */
#ifndef STAGEPROF_WATCH_WINDOW_WALK_H
#define STAGEPROF_WATCH_WINDOW_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "scripts/sampler/id_map.h"
#include "trace/arenas/arena_collect.h"
#include "trace/format.h"

struct window_place; /* of window_walk.c */

/* A window as it was a moment ago: the thread goes on. */
struct sp_seen_window {
	uint32_t id; /* of its file or its tail: small, and the same in each walk */
	struct sp_window_header window;
	int fd; /* of its file; -1: it is in shared memory */
	uint64_t at;
	const struct sp_window_header *live;
};

/* A walk of zeros with `see` and `context` is ready. */
struct sp_window_walk {
	void (*see)(void *context, const struct sp_seen_window *seen);
	void *context;
	/* the walk's own */
	struct sp_id_map ids;
	struct window_place *places;
	uint32_t room;
	struct sp_collect collect;
};

/* Calls `see` for each window of sp_run; `directory` is a descriptor of its folder. */
void sp_window_walk(struct sp_window_walk *walk, int directory);

/* The same window now. False: it is not there any more. Only within `see`. */
bool sp_window_again(const struct sp_seen_window *seen, struct sp_window_header *ret);

void sp_window_walk_finish(struct sp_window_walk *walk);

#endif
