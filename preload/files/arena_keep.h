/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tails of an arena go into a file that other threads of the run have left, so a process that
 * is killed, or that ends while threads of it live, adds no file to the run.
 */
#ifndef STAGEPROF_PRELOAD_ARENA_KEEP_H
#define STAGEPROF_PRELOAD_ARENA_KEEP_H

#include "preload/files/run_file.h"
#include "preload/files/spare_files.h"
#include "trace/arenas/arena_collect.h"

struct sp_arena_keeper {
	struct sp_run_directory directory;
	const uint64_t *run_token;
	const struct sp_spare_files *spares;
};

/* Inside of sp_fd_private_task(). 0: every tail is in a file now. Otherwise -errno, and some of
 * them may be: readers leave out what is there twice. */
long sp_arena_keep(const struct sp_arena_keeper *keeper, const struct sp_arena_view *view);

#endif
