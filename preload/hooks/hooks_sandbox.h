/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Around a system call by which the host forbids calls to itself (hooks_sandbox.c).
 */
#ifndef STAGEPROF_PRELOAD_HOOKS_SANDBOX_H
#define STAGEPROF_PRELOAD_HOOKS_SANDBOX_H

enum sp_forbidding {
	SP_FORBIDS_NOTHING,
	SP_FORBIDS_ALL_CALLS,
	SP_FORBIDS_SOME_CALLS,
	SP_FORBIDS_COUNTER,
};

/* Before a prctl or a seccomp with these first arguments, made by syscall(2). */
enum sp_forbidding sp_forbidding_begin(long number, long a, long b);

/* After it: ret < 0 where the kernel refused. */
void sp_forbidding_end(enum sp_forbidding what, long ret);

#endif
