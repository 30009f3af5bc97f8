/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that sleeps in one wait for a lock at two looks: the lock and its holder come into the
 * run's file of CALL frames, and so does the end of that wait.
 */
#ifndef STAGEPROF_WATCH_LOCK_WATCH_H
#define STAGEPROF_WATCH_LOCK_WATCH_H

#include <stdbool.h>

#include "scripts/watch/call_file.h"
#include "trace/live_lock.h"

/* A thread; zeros at first. */
struct sp_lock_watch {
	struct sp_live_sleep sleep; /* at the last look */
	uint64_t noted;		    /* a hash of the lock and its holder; 0: none */
	uint32_t generation;	    /* of the file that has it */
};

/* One look at the window's thread. is_last: there may be no second one. */
void sp_lock_watch(struct sp_lock_watch *it, struct sp_call_file *file, int directory,
		   const struct sp_window_header *window, bool is_last);

#endif
