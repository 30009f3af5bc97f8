/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall(2). Calls made by it are not recorded. A few of them matter to the recorder: a
 * descriptor is closed, a filter is set, another process shares the descriptors from now on, or
 * reads continue where no hook sees them, which the report must show.
 *
 * The exported syscall is an assembly stub. It looks at the number and jumps to the next syscall,
 * because a call that clones must return in its caller's frame.
 */
#ifndef STAGEPROF_PRELOAD_SYSCALL_STUB_H
#define STAGEPROF_PRELOAD_SYSCALL_STUB_H

typedef long sp_syscall_function(long number, long a, long b, long c, long d, long e, long f);

#pragma GCC visibility push(hidden)

/* The stub's jump target; NULL until found. */
extern sp_syscall_function *sp_syscall_target;
sp_syscall_function *sp_syscall_target_find(void);

/* The stub calls this for the numbers that matter. */
sp_syscall_function sp_syscall_watched;

#pragma GCC visibility pop

#endif
