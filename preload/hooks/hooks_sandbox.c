/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls that restrict the host itself: prctl(2), and syscall(2), by which libseccomp and
 * others set filters. Strict seccomp kills at our first system call and traps the counter's
 * instruction, so the thread's file is ended cleanly and nothing more is recorded. A filter may
 * kill at calls that only the recorder makes: from there on the recorder makes none, and counts
 * the events that this loses. PR_SET_TSC traps only the counter, in this thread and its children.
 */
#include <linux/seccomp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "preload/hooks/hook.h"
#include "preload/hooks/hooks_sandbox.h"
#include "preload/sys/freeze.h"

static const char *const notes[] = {
	[SP_FORBIDS_ALL_CALLS] = SP_NOTE_TEXT("a thread entered strict seccomp: its later calls "
					      "are not observed"),
	[SP_FORBIDS_SOME_CALLS] = SP_NOTE_TEXT("a process set a seccomp filter: from then on its "
					       "new threads and children are not "
					       "observed, nor which files it opens"),
	[SP_FORBIDS_COUNTER] = SP_NOTE_TEXT("a thread forbade itself the cycle counter: its later "
					    "calls are not observed, nor "
					    "the process's new threads and children"),
};

static void before_forbidding(enum sp_forbidding what)
{
	struct sp_thread *t = what == SP_FORBIDS_NOTHING ? NULL : sp_enter();

	if (!t)
		return;
	sp_define(t, SP_DEFINE_NOTE, 0, NULL, 0, notes[what], strlen(notes[what]));
	if (what != SP_FORBIDS_SOME_CALLS) {
		sp_thread_finish();
		sp_tls.suppress_depth++;
	}
	if (what != SP_FORBIDS_ALL_CALLS)
		sp_process_freeze();
}

void sp_forbidding_end(enum sp_forbidding what, long ret)
{
	if (ret < 0 && what == SP_FORBIDS_ALL_CALLS && sp_tls.suppress_depth)
		sp_tls.suppress_depth--;
}

static enum sp_forbidding forbidden_by_prctl(long option, long value)
{
	if (option == PR_SET_SECCOMP)
		return value == SECCOMP_MODE_STRICT ? SP_FORBIDS_ALL_CALLS : SP_FORBIDS_SOME_CALLS;
	return option == PR_SET_TSC && value == PR_TSC_SIGSEGV ? SP_FORBIDS_COUNTER
							       : SP_FORBIDS_NOTHING;
}

SP_HOOK(int, prctl, int option, ...)
{
	unsigned long word[4];
	enum sp_forbidding what;
	va_list list;
	int ret;

	va_start(list, option);
	for (int i = 0; i < 4; i++)
		word[i] = va_arg(list, unsigned long);
	va_end(list);
	what = forbidden_by_prctl(option, (long)word[0]);
	before_forbidding(what);
	ret = SP_REAL(prctl)(option, word[0], word[1], word[2], word[3]);
	sp_forbidding_end(what, ret);
	return ret;
}

static enum sp_forbidding forbidden_by_syscall(long number, long a, long b)
{
	if (number == SYS_prctl)
		return forbidden_by_prctl(a, b);
	if (a == SECCOMP_SET_MODE_STRICT)
		return SP_FORBIDS_ALL_CALLS;
	return a == SECCOMP_SET_MODE_FILTER ? SP_FORBIDS_SOME_CALLS : SP_FORBIDS_NOTHING;
}

enum sp_forbidding sp_forbidding_begin(long number, long a, long b)
{
	enum sp_forbidding what = forbidden_by_syscall(number, a, b);

	before_forbidding(what);
	return what;
}
