/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about another process while it lives. It goes on running: a fact may be torn, and is
 * checked. The launcher and the report read them; the preload does not.
 */
#ifndef STAGEPROF_TRACE_LIVE_PROCESS_H
#define STAGEPROF_TRACE_LIVE_PROCESS_H

#include <stdint.h>

/* The state letter of proc(5) of the process that had this pid at this time (CLOCK_REALTIME); 0:
 * it is gone, and its number may be another process's. */
char sp_live_state(uint32_t pid, int64_t start_ns);

#define SP_LIVE_PATH_BYTES 449u /* with the final NUL */

/*
 * The path of the opening call that this thread is inside of now; path_at as in struct
 * sp_mark_address. "..." stands before the end of a long path. The kernel has to say that the
 * thread is in such a call with this very pointer, so nothing else of the process can be read.
 * The caller has compared the process's start. Returns 0, -ESRCH where the thread is in another
 * call or has ended, -EPERM where the kernel refuses, or -EFAULT.
 */
int sp_live_path(uint32_t pid, uint32_t tid, uint64_t path_at, char ret[SP_LIVE_PATH_BYTES]);

/* A file lock that a process waits for: flock(2), lockf(3) or fcntl(2). */
struct sp_live_lock {
	uint32_t holder;    /* pid; 0: no process of this machine that is seen from here */
	char holder_is[16]; /* the name of its main thread; "": not known */
};

/* Returns 0, or -ESRCH where the process waits for none. The caller has compared its start. */
int sp_live_lock(uint32_t pid, struct sp_live_lock *ret);

#endif
