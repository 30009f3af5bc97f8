/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about another process while it lives. It goes on running: a fact may be torn, and is
 * checked. The launcher and the report read them; the preload does not.
 */
#ifndef STAGEPROF_TRACE_LIVE_PROCESS_H
#define STAGEPROF_TRACE_LIVE_PROCESS_H

#include <stddef.h>
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

/* A system call that a thread sleeps in. Equal sleeps a second apart are nearly surely one. */
struct sp_live_sleep {
	int64_t call;
	uint64_t arguments[6], stack;
};

/* Returns 0, -ESRCH where the thread runs or has ended, or -EPERM where the kernel refuses. */
int sp_live_sleep_read(uint32_t pid, uint32_t tid, struct sp_live_sleep *ret);

/* Keeps the end of a long path, after "...". */
void sp_live_text(char ret[SP_LIVE_PATH_BYTES], const char *text, size_t bytes);

/* The parent's pid; 0: not known. */
uint32_t sp_live_parent(uint32_t pid);

/* The first line of a file of /proc. Returns 0 or -errno. */
int sp_live_line(const char *path, char *ret, size_t room);

#endif
