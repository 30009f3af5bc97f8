/*
 * What a host forbids itself, by prctl(2) and by syscall(2). Strict seccomp kills at our first system call and
 * traps the counter's instruction, so the thread's file is brought to its end and nothing more is recorded. A
 * filter may kill at calls that only we make: from there on we make none, and what that loses is counted.
 * PR_SET_TSC traps the counter alone, in this thread and in what it starts.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "preload/hook.h"
#include "preload/process.h"
#include "preload/symbols.h"
#include "preload/sys.h"

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

/*
 * syscall(2), which libseccomp and others set filters by. The exported one is an assembly stub: it looks at the
 * number and jumps to the next syscall, for a call that clones must come back in its caller's frame.
 */
typedef long sp_syscall_function(long number, long a, long b, long c, long d, long e, long f);

/* The stub's: where it jumps to; NULL until found. */
sp_syscall_function *sp_syscall_target __attribute__((visibility("hidden")));
sp_syscall_function *sp_syscall_target_find(void) __attribute__((visibility("hidden")));
sp_syscall_function sp_syscall_watched __attribute__((visibility("hidden")));

static long not_in_this_libc(long number, long a, long b, long c, long d, long e, long f)
{
	long ret = SP_SYS6(number, a, b, c, d, e, f);

	if (!sp_sys_failed(ret))
		return ret;
	errno = (int)-ret;
	return -1;
}

sp_syscall_function *sp_syscall_target_find(void)
{
	sp_syscall_function *found = (sp_syscall_function *)sp_symbol_after_us("syscall");

	if (!found)
		found = not_in_this_libc;
	__atomic_store_n(&sp_syscall_target, found, __ATOMIC_RELAXED);
	return found;
}

static enum forbidden forbidden_by_syscall(long number, long a, long b)
{
	if (number == SYS_prctl)
		return forbidden_by_prctl(a, b);
	if (a == SECCOMP_SET_MODE_STRICT)
		return ALL_CALLS;
	return a == SECCOMP_SET_MODE_FILTER ? SOME_CALLS : NOTHING;
}

/* Called by the stub for the numbers of prctl and seccomp. */
long sp_syscall_watched(long number, long a, long b, long c, long d, long e, long f)
{
	enum forbidden what = forbidden_by_syscall(number, a, b);
	long ret;

	before_forbidding(what);
	ret = sp_syscall_target(number, a, b, c, d, e, f);
	after_forbidding(what, ret);
	return ret;
}

#if defined(__x86_64__)
__asm__(".text\n"
	".globl syscall\n"
	".type syscall, @function\n"
	"syscall:\n\t"
	".cfi_startproc\n\t"
	"endbr64\n\t"
	"movq sp_syscall_target(%rip), %rax\n\t"
	"testq %rax, %rax\n\t"
	"jz 2f\n"
	"1:\n\t"
	"cmpl $157, %edi\n\t" /* SYS_prctl */
	"je sp_syscall_watched\n\t"
	"cmpl $317, %edi\n\t" /* SYS_seccomp */
	"je sp_syscall_watched\n\t"
	"jmp *%rax\n"
	"2:\n\t"
	"pushq %rdi\n\t"
	".cfi_adjust_cfa_offset 8\n\t"
	"pushq %rsi\n\t"
	".cfi_adjust_cfa_offset 8\n\t"
	"pushq %rdx\n\t"
	".cfi_adjust_cfa_offset 8\n\t"
	"pushq %rcx\n\t"
	".cfi_adjust_cfa_offset 8\n\t"
	"pushq %r8\n\t"
	".cfi_adjust_cfa_offset 8\n\t"
	"pushq %r9\n\t"
	".cfi_adjust_cfa_offset 8\n\t"
	"subq $8, %rsp\n\t"
	".cfi_adjust_cfa_offset 8\n\t"
	"call sp_syscall_target_find\n\t"
	"addq $8, %rsp\n\t"
	".cfi_adjust_cfa_offset -8\n\t"
	"popq %r9\n\t"
	".cfi_adjust_cfa_offset -8\n\t"
	"popq %r8\n\t"
	".cfi_adjust_cfa_offset -8\n\t"
	"popq %rcx\n\t"
	".cfi_adjust_cfa_offset -8\n\t"
	"popq %rdx\n\t"
	".cfi_adjust_cfa_offset -8\n\t"
	"popq %rsi\n\t"
	".cfi_adjust_cfa_offset -8\n\t"
	"popq %rdi\n\t"
	".cfi_adjust_cfa_offset -8\n\t"
	"jmp 1b\n\t"
	".cfi_endproc\n\t"
	".size syscall, . - syscall\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	".globl syscall\n"
	".type syscall, %function\n"
	"syscall:\n\t"
	".cfi_startproc\n\t"
	"adrp x9, sp_syscall_target\n\t"
	"ldr x9, [x9, :lo12:sp_syscall_target]\n\t"
	"cbz x9, 2f\n"
	"1:\n\t"
	"cmp w0, #167\n\t" /* SYS_prctl */
	"b.eq sp_syscall_watched\n\t"
	"cmp w0, #277\n\t" /* SYS_seccomp */
	"b.eq sp_syscall_watched\n\t"
	"br x9\n"
	"2:\n\t"
	"stp x29, x30, [sp, #-80]!\n\t"
	".cfi_def_cfa_offset 80\n\t"
	".cfi_offset 29, -80\n\t"
	".cfi_offset 30, -72\n\t"
	"stp x0, x1, [sp, #16]\n\t"
	"stp x2, x3, [sp, #32]\n\t"
	"stp x4, x5, [sp, #48]\n\t"
	"str x6, [sp, #64]\n\t"
	"bl sp_syscall_target_find\n\t"
	"mov x9, x0\n\t"
	"ldp x0, x1, [sp, #16]\n\t"
	"ldp x2, x3, [sp, #32]\n\t"
	"ldp x4, x5, [sp, #48]\n\t"
	"ldr x6, [sp, #64]\n\t"
	"ldp x29, x30, [sp], #80\n\t"
	".cfi_restore 29\n\t"
	".cfi_restore 30\n\t"
	".cfi_def_cfa_offset 0\n\t"
	"b 1b\n\t"
	".cfi_endproc\n\t"
	".size syscall, . - syscall\n");
#endif
