/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread of the launcher that looks once a second for opening calls that have been in flight
 * since its last look, and for threads that wait for a lock. It reads the path of such a call, and
 * the holder of such a lock, and leaves them in the run, in a CALL frame: when the job is killed,
 * nobody can read them any more. The host does not notice.
 */
#ifndef STAGEPROF_WATCH_CALL_WATCH_H
#define STAGEPROF_WATCH_CALL_WATCH_H

#include <stdbool.h>

struct call_watch; /* of call_watch.c */

struct sp_call_watch {
	/* True where sp_run names the run's directory; called in the thread. */
	bool (*is_ready)(void *context);
	/* After each look at a run that is ready; called in the thread. */
	void (*looked)(void *context);
	void *context;
	struct call_watch *thread; /* NULL: it does not run */
};

/* The caller has blocked all signals. Without memory nothing is watched. */
void sp_call_watch_start(struct sp_call_watch *watch);

/* Looks at once, at every call in flight, because the job may end now; waits for the look, at most
 * a tenth of a second. */
void sp_call_watch_look(struct sp_call_watch *watch);

void sp_call_watch_stop(struct sp_call_watch *watch);

#endif
