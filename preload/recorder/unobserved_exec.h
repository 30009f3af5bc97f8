/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that are started without this library in LD_PRELOAD. Neither they nor their children
 * are recorded; the trace names each program. A dormant program that starts no other program is
 * left out.
 */
#ifndef STAGEPROF_PRELOAD_UNOBSERVED_EXEC_H
#define STAGEPROF_PRELOAD_UNOBSERVED_EXEC_H

/*
 * Before an exec or spawn of `path` with this environment. Both belong to the host, and execve(2)
 * may refuse them. Safe in signal handlers and vfork children; uses only the stack (less than 1
 * KiB).
 */
void sp_unobserved_exec_notice(const char *path, char *const envp[]);

struct sp_thread;

/* Writes a note for each name that was not reported yet: each name once for a process image. */
void sp_unobserved_exec_report(struct sp_thread *t);

#endif
