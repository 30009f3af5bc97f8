/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a function whose descriptors the host never sees. In a process of one thread that is any
 * function that closes what it opens, because the caller blocks all signals. In others the function
 * gets a descriptor table of its own: it runs in a short-lived task that shares this process's
 * memory, while the calling thread waits in the kernel.
 *
 * clone(2): CLONE_VM | CLONE_VFORK | CLONE_THREAD without a copy of the host's descriptors. The
 * descriptors are shared for an instant and then dropped by close_range(2) CLOSE_RANGE_UNSHARE,
 * so that no NFS or FUSE file sees the flush that closing a copy would cause. The task is a
 * thread, not a child: no wait(2) sees it and no SIGCHLD comes. If a sandbox forbids the clone,
 * the function runs in place.
 *
 * The function must use only preload/sys/sys.h, touch no thread-local variable and return
 * quickly, with two descriptors open at once at most. The caller has blocked all signals. Cost: a
 * task takes about 50 to 200 µs.
 */
#ifndef STAGEPROF_PRELOAD_FD_PRIVATE_TASK_H
#define STAGEPROF_PRELOAD_FD_PRIVATE_TASK_H

#include <stddef.h>
#include <stdint.h>

#include "preload/sys/hidden.h"

void sp_fd_private_task(void (*function)(void *argument), void *argument);

/*
 * The same for a function that may wait for a file system that does not answer: the caller waits
 * for `wait_ns` at most, and leaves the task then, which the host sees as a thread of its own. It
 * is a task in a process of one thread, too. Returns 0 when the function has run, or -EINPROGRESS:
 * it runs, and `left` counts it until it ends. A forked child has neither the task nor the
 * argument.
 */
int sp_timed_task(void *argument, void (*function)(void *argument), uint64_t wait_ns,
		  uint32_t *left);

/* Waits again for a task that was left. Returns 0 or -EINPROGRESS. */
int sp_timed_task_wait(void *argument, uint64_t wait_ns);

/* Memory for the argument of a timed task, zeroed. NULL on failure. Freed when it does not run. */
void *sp_timed_task_make(size_t argument_bytes);
void sp_timed_task_free(void *argument);

/* Until the release no code of the host runs in this thread: what was found out about the process
 * for the first function holds for the next ones. For a process that begins. */
void sp_fd_private_hold(void);
void sp_fd_private_release(void);

/* Constructor: 1 makes every task run in place, because valgrind ends a program that calls clone
 * so. */
void sp_fd_private_task_init(int in_place);

/* The host made a process that shares its descriptor table: from now on a task each time. A clone
 * by the program's own instruction goes unnoticed unless it makes a thread. */
void sp_fd_table_is_shared(void);

/* The same by a store, for assembly. */
extern int sp_fd_table_shared SP_HIDDEN;

/* Blocks all signals, and restores them. Without libc, so that no hook and no cancellation is
 * involved. */
unsigned long sp_signals_block(void);
void sp_signals_restore(unsigned long before);

#endif
