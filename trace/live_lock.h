/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock that a thread waits for without a call that is recorded, and who holds it: a lock of a
 * file (flock(2), lockf(3), fcntl(2)), or a mutex of glibc. The kernel names the holder of the
 * first; the second is inferred from the mutex's bytes in the process's memory. Semaphores, which
 * are Python's locks, and locks of malloc and OpenMP have no holder; but nobody releases one that
 * the only thread of its process waits for.
 */
#ifndef STAGEPROF_TRACE_LIVE_LOCK_H
#define STAGEPROF_TRACE_LIVE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/live_process.h"

/* True where the thread sleeps in a call that may wait for a lock. */
bool sp_live_sleep(uint32_t pid, uint32_t tid, struct sp_live_sleep *ret);

enum sp_live_lock_what {
	SP_LIVE_LOCK_NONE,
	SP_LIVE_LOCK_FILE,
	SP_LIVE_LOCK_MUTEX,
	SP_LIVE_LOCK_COPIED, /* a mutex that a thread of the parent held at the fork */
	SP_LIVE_LOCK_SHARED, /* a mutex of several processes, which another one holds; holder 0 and
				holder_tid: that thread has ended */
	SP_LIVE_LOCK_ALONE,  /* any lock or condition inside of the process, whose only thread waits
				for it; holder: the parent */
};

#define SP_LIVE_NAME_BYTES 16u

struct sp_live_lock {
	enum sp_live_lock_what what;
	uint32_t holder;		    /* pid; 0: not known */
	uint32_t holder_tid;		    /* of a mutex; 0: not known */
	char holder_is[SP_LIVE_NAME_BYTES]; /* its name; "": not known, or it has ended */
	char file[SP_LIVE_PATH_BYTES];	    /* "": not known; "..." before the end of a long one */
};

/* The caller has compared the process's start. Where the kernel does not tell this user about the
 * process's threads, a file lock is that of any of its threads. Returns 0, or -ESRCH where the
 * thread waits for no lock that is known. */
int sp_live_lock(uint32_t pid, uint32_t tid, struct sp_live_lock *ret);

#endif
