/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A system call through libc, for programs of our own that collect arenas
 * (trace/arenas/arena_collect.h). The preload has its own way. Changes errno.
 */
#ifndef STAGEPROF_TRACE_LIBC_CALL_H
#define STAGEPROF_TRACE_LIBC_CALL_H

#include <errno.h>
#include <unistd.h>

/* Returns the call's result, or -errno. */
static inline long sp_libc_call(long n, long a, long b, long c, long d, long e, long f)
{
	long ret = syscall(n, a, b, c, d, e, f);

	return ret == -1 ? -errno : ret;
}

#endif
