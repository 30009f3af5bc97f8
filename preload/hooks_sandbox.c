/*
 * What a host forbids itself, by prctl(2), and by syscall(2), which libseccomp and others set filters by. Strict
 * seccomp kills at our first system call and traps the counter's instruction, so the thread's file is brought to
 * its end and nothing more is recorded. A filter may kill at calls that only we make: from there on we make none,
 * and what that loses is counted. PR_SET_TSC traps the counter alone, in this thread and in what it starts.
 */
#include <linux/seccomp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "preload/hook.h"
#include "preload/process.h"
#include "preload/syscall_stub.h"

enum forbidden { NOTHING, ALL_CALLS, SOME_CALLS, COUNTER };

static const char *const notes[] = {
	[ALL_CALLS] = SP_NOTE_TEXT("a thread entered strict seccomp: its later calls are not observed"),
	[SOME_CALLS] = SP_NOTE_TEXT("a process set a seccomp filter: from then on its new threads and "
				    "children are not observed, nor which files it opens"),
	[COUNTER] = SP_NOTE_TEXT("a thread forbade itself the cycle counter: its later calls are not observed, "
				 "nor the process's new threads and children"),
};

static void before_forbidding(enum forbidden what)
{
	struct sp_thread *t = what == NOTHING ? NULL : sp_enter();

	if (!t)
		return;
	sp_define(t, SP_DEFINE_NOTE, 0, NULL, 0, notes[what], strlen(notes[what]));
	if (what != SOME_CALLS) {
		sp_thread_finish();
		sp_tls.quiet++;
	}
	if (what != ALL_CALLS)
		sp_process_freeze();
}

static void after_forbidding(enum forbidden what, long ret)
{
	if (ret < 0 && what == ALL_CALLS && sp_tls.quiet)
		sp_tls.quiet--;
}

static enum forbidden forbidden_by_prctl(long option, long value)
{
	if (option == PR_SET_SECCOMP)
		return value == SECCOMP_MODE_STRICT ? ALL_CALLS : SOME_CALLS;
	return option == PR_SET_TSC && value == PR_TSC_SIGSEGV ? COUNTER : NOTHING;
}

SP_HOOK(int, prctl, int option, ...)
{
	unsigned long word[4];
	enum forbidden what;
	va_list list;
	int ret;

	va_start(list, option);
	for (int i = 0; i < 4; i++)
		word[i] = va_arg(list, unsigned long);
	va_end(list);
	what = forbidden_by_prctl(option, (long)word[0]);
	before_forbidding(what);
	ret = SP_REAL(prctl)(option, word[0], word[1], word[2], word[3]);
	after_forbidding(what, ret);
	return ret;
}

static enum forbidden forbidden_by_syscall(long number, long a, long b)
{
	if (number == SYS_prctl)
		return forbidden_by_prctl(a, b);
	if (a == SECCOMP_SET_MODE_STRICT)
		return ALL_CALLS;
	return a == SECCOMP_SET_MODE_FILTER ? SOME_CALLS : NOTHING;
}

long sp_syscall_forbidding(long number, long a, long b, long c, long d, long e, long f)
{
	enum forbidden what = forbidden_by_syscall(number, a, b);
	long ret;

	before_forbidding(what);
	ret = sp_syscall_target(number, a, b, c, d, e, f);
	after_forbidding(what, ret);
	return ret;
}
