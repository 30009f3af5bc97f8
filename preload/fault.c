/*
 * Test builds only. STAGEPROF_TEST_FAIL=N[+][:ERRNO] fails the Nth system call of the recorder (with +,
 * all from the Nth on); STAGEPROF_TEST_KILL=N ends the process at the Nth store boundary.
 */
#include "preload/fault.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "preload/sys.h"

static long call, fail_at, fail_on, fail_errno = EIO;
static long boundary, kill_at;

__attribute__((constructor(101))) static void fault_read(void)
{
	const char *fail = getenv("STAGEPROF_TEST_FAIL"), *at = getenv("STAGEPROF_TEST_KILL");
	char *rest;

	if (fail) {
		fail_at = strtol(fail, &rest, 10);
		fail_on = *rest == '+';
		rest += fail_on;
		if (*rest == ':')
			fail_errno = strtol(rest + 1, NULL, 10);
	}
	if (at)
		kill_at = strtol(at, NULL, 10);
}

/* Calls that cannot fail, or whose failure the kernel does not know. */
static int is_spared(long number)
{
	return number == SYS_getpid || number == SYS_gettid || number == SYS_getppid ||
	       number == SYS_rt_sigprocmask || number == SYS_sched_yield || number == SYS_munmap ||
	       number == SYS_close || number == SYS_prctl;
}

long sp_fault_syscall(long number)
{
	long now;

	if (!fail_at || is_spared(number))
		return 0;
	now = __atomic_add_fetch(&call, 1, __ATOMIC_RELAXED);
	return now == fail_at || (fail_on && now > fail_at) ? -fail_errno : 0;
}

void sp_fault_store(void)
{
	if (kill_at && __atomic_add_fetch(&boundary, 1, __ATOMIC_RELAXED) == kill_at)
		sp_sys6(SYS_kill, sp_sys6(SYS_getpid, 0, 0, 0, 0, 0, 0), SIGKILL, 0, 0, 0, 0);
}
