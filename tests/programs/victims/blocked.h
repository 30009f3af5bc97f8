/* SPDX-License-Identifier: Apache-2.0 */
/* A thread's arrival in a system call: a test that gives it some time instead rests on how busy the
 * machine is. No hook sees the calls made here. */
#ifndef STAGEPROF_TESTS_BLOCKED_H
#define STAGEPROF_TESTS_BLOCKED_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* thread: its kernel's number, of this process; call: as SYS_read. */
static inline int is_blocked_in(int thread, long call)
{
	char path[64], said[32] = "", *end;
	long fd, number;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", thread);
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
	if (syscall(SYS_read, fd, said, sizeof(said) - 1) < 0)
		said[0] = 0;
	syscall(SYS_close, fd);
	number = strtol(said, &end, 10);
	return end != said && number == call; /* "running": in none */
}

static inline void wait_until_blocked_in(int thread, long call)
{
	while (!is_blocked_in(thread, call))
		syscall(SYS_sched_yield);
}

#endif
