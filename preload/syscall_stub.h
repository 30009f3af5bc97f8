/*
 * syscall(2). What a program does by it is not recorded; but a few of its calls change what we know or may do:
 * a descriptor is closed, a filter is set, or reading goes on where no hook sees it, which the report has to say.
 *
 * The exported syscall is an assembly stub: it looks at the number and jumps to the next syscall, for a call that
 * clones must come back in its caller's frame.
 */
#ifndef STAGEPROF_PRELOAD_SYSCALL_STUB_H
#define STAGEPROF_PRELOAD_SYSCALL_STUB_H

typedef long sp_syscall_function(long number, long a, long b, long c, long d, long e, long f);

#pragma GCC visibility push(hidden)

/* The stub's: where it jumps to; NULL until found. */
extern sp_syscall_function *sp_syscall_target;
sp_syscall_function *sp_syscall_target_find(void);

/* The stub comes here for the numbers that matter. */
sp_syscall_function sp_syscall_watched;

/* prctl and seccomp (hooks_sandbox.c). */
sp_syscall_function sp_syscall_forbidding;

#pragma GCC visibility pop

#endif
