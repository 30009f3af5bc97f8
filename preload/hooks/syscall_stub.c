/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/hooks/syscall_stub.h"

#include <errno.h>
#include <sys/syscall.h>

#include "preload/hooks/hooks_sandbox.h"
#include "preload/recorder/fd_table.h"
#include "preload/recorder/process.h"
#include "preload/recorder/recorder.h"
#include "preload/sys/elf_symbols.h"
#include "preload/sys/fd_private_task.h"
#include "preload/sys/hidden.h"
#include "preload/sys/sys.h"

sp_syscall_function *sp_syscall_target;
sp_syscall_function *sp_syscall_target_find(void) SP_HIDDEN;
sp_syscall_function sp_syscall_watched SP_HIDDEN;

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

/* A number that is closed here and opened again unseen must not keep its old file. */
static long closing(long number, long a, long b, long c, long d, long e, long f)
{
	int is_ours = sp_process && !sp_tls.suppress_depth;
	long ret;

	if (is_ours && number == SYS_close)
		sp_fd_unregister((int)a);
	if (is_ours && number == SYS_close_range)
		sp_fd_unregister_range((unsigned)a, (unsigned)b);
	ret = sp_syscall_target(number, a, b, c, d, e, f);
	if (is_ours && number != SYS_close && number != SYS_close_range)
		sp_fd_unregister(
			(int)b); /* dup2, dup3: the file of `b` was closed; the number is open */
	return ret;
}

static const char ring_note[] = SP_NOTE_TEXT("a process uses io_uring: what it reads and writes by "
					     "it is not observed");
static const char queue_note[] = SP_NOTE_TEXT("a process uses the kernel's asynchronous I/O "
					      "(io_submit): what it "
					      "reads and writes by it is not observed");

/* Once for each process. */
static void report_unseen(long number)
{
	int is_ring = number == SYS_io_uring_setup, kept = errno;
	uint32_t bit = is_ring ? 1 : 2;
	struct sp_thread *t = sp_enter();

	if (t && !(__atomic_fetch_or(&sp_process->unseen_reported, bit, __ATOMIC_RELAXED) & bit))
		sp_define(t, SP_DEFINE_NOTE, 0, NULL, 0, is_ring ? ring_note : queue_note,
			  is_ring ? sizeof(ring_note) - 1 : sizeof(queue_note) - 1);
	errno = kept;
}

static long forbidding(long number, long a, long b, long c, long d, long e, long f)
{
	enum sp_forbidding what = sp_forbidding_begin(number, a, b);
	long ret = sp_syscall_target(number, a, b, c, d, e, f);

	sp_forbidding_end(what, ret);
	return ret;
}

long sp_syscall_watched(long number, long a, long b, long c, long d, long e, long f)
{
	long ret;

	if (number == SYS_prctl || number == SYS_seccomp)
		return forbidding(number, a, b, c, d, e, f);
	if (number != SYS_io_setup && number != SYS_io_uring_setup)
		return closing(number, a, b, c, d, e, f);
	ret = sp_syscall_target(number, a, b, c, d, e, f);
	if (ret >= 0)
		report_unseen(number);
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
	"cmpl $3, %edi\n\t" /* SYS_close */
	"je sp_syscall_watched\n\t"
	"cmpl $33, %edi\n\t" /* SYS_dup2 */
	"je sp_syscall_watched\n\t"
	"cmpl $292, %edi\n\t" /* SYS_dup3 */
	"je sp_syscall_watched\n\t"
	"cmpl $436, %edi\n\t" /* SYS_close_range */
	"je sp_syscall_watched\n\t"
	"cmpl $206, %edi\n\t" /* SYS_io_setup */
	"je sp_syscall_watched\n\t"
	"cmpl $425, %edi\n\t" /* SYS_io_uring_setup */
	"je sp_syscall_watched\n\t"
	"cmpl $56, %edi\n\t" /* SYS_clone: with CLONE_FILES */
	"jne 3f\n\t"
	"testl $0x400, %esi\n\t"
	"jnz 4f\n"
	"3:\n\t"
	"cmpl $435, %edi\n\t" /* SYS_clone3: whatever is asked for */
	"jne 5f\n"
	"4:\n\t"
	"movl $1, sp_fd_table_shared(%rip)\n"
	"5:\n\t"
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
	"cmp w0, #57\n\t" /* SYS_close */
	"b.eq sp_syscall_watched\n\t"
	"cmp w0, #24\n\t" /* SYS_dup3 */
	"b.eq sp_syscall_watched\n\t"
	"cmp w0, #436\n\t" /* SYS_close_range */
	"b.eq sp_syscall_watched\n\t"
	"cmp w0, #0\n\t" /* SYS_io_setup */
	"b.eq sp_syscall_watched\n\t"
	"cmp w0, #425\n\t" /* SYS_io_uring_setup */
	"b.eq sp_syscall_watched\n\t"
	"cmp w0, #220\n\t" /* SYS_clone: with CLONE_FILES */
	"b.ne 3f\n\t"
	"tbnz w1, #10, 4f\n"
	"3:\n\t"
	"cmp w0, #435\n\t" /* SYS_clone3: whatever is asked for */
	"b.ne 5f\n"
	"4:\n\t"
	"adrp x10, sp_fd_table_shared\n\t"
	"mov w11, #1\n\t"
	"str w11, [x10, :lo12:sp_fd_table_shared]\n"
	"5:\n\t"
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
