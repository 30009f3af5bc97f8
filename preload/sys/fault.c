/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/sys/fault.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

struct sp_fault sp_fault = {.fail_errno = EIO};

__attribute__((constructor(101))) static void fault_read(void)
{
	const char *fail = getenv("STAGEPROF_TEST_FAIL"), *at = getenv("STAGEPROF_TEST_KILL");
	char *rest;

	if (fail) {
		sp_fault.fail_at = strtol(fail, &rest, 10);
		sp_fault.fail_on = *rest == '+';
		rest += sp_fault.fail_on;
		if (*rest == ':')
			sp_fault.fail_errno = strtol(rest + 1, NULL, 10);
	}
	if (at)
		sp_fault.kill_at = strtol(at, NULL, 10);
}

/* Calls that cannot fail, or whose failure has no consequence. */
static int is_spared(long number)
{
	return number == SYS_getpid || number == SYS_gettid || number == SYS_getppid ||
	       number == SYS_rt_sigprocmask || number == SYS_sched_yield || number == SYS_munmap ||
	       number == SYS_close || number == SYS_prctl;
}

static int is_write(long number)
{
	return number == SYS_pwrite64 || number == SYS_pwritev;
}

long sp_fault_syscall(long number)
{
	long now;

	if (is_spared(number) || (sp_fault.fail_writes && !is_write(number)))
		return 0;
	now = __atomic_add_fetch(&sp_fault.calls, 1, __ATOMIC_RELAXED);
	if (sp_fault.kill_at_call && now == sp_fault.kill_at_call)
		kill(getpid(), SIGKILL);
	if (!sp_fault.fail_at)
		return 0;
	return now == sp_fault.fail_at || (sp_fault.fail_on && now > sp_fault.fail_at)
		       ? -sp_fault.fail_errno
		       : 0;
}

void sp_fault_store(void)
{
	long now = __atomic_add_fetch(&sp_fault.boundaries, 1, __ATOMIC_RELAXED);

	if (sp_fault.kill_at && now == sp_fault.kill_at)
		kill(getpid(), SIGKILL);
	if (sp_fault.act_at && now == sp_fault.act_at)
		sp_fault.act();
}
