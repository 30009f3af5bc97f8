/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks that keep the recorder correct rather than measure time: fork, vfork, clone, exec, exit.
 */
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "preload/hooks/hook.h"
#include "preload/recorder/mark_path.h"
#include "preload/recorder/process.h"
#include "preload/recorder/process_image.h"
#include "preload/sampler/sampler_process.h"
#include "preload/recorder/unobserved_exec.h"
#include "preload/sys/fd_private_task.h"

SP_HOOK(pid_t, fork, void)
{
	struct sp_thread *t = sp_enter();
	uint64_t start = t ? sp_clock_ticks() : 0; /* the host may have forbidden the counter */
	pid_t ret = SP_REAL(fork)();

	/* Fork wiped the recorder's state in the child, which begins with its first event. */
	if (ret == 0 && sp_process) {
		sp_process_forked();
		sp_sampler_process_forked();
	} else if (t) {
		sp_emit(t, SP_EV_fork, 0, start, sp_clock_ticks() - start, SP_RESULT(ret));
	}
	return ret;
}

/*
 * A vfork child runs in our memory and our thread: its calls are not recorded, and none of them
 * may change the parent's table of descriptors. No C function can wrap vfork, because the child
 * would return from its frame. This function does what libc's vfork does and raises
 * suppress_depth meanwhile.
 */
_Static_assert(__builtin_offsetof(struct sp_tls, suppress_depth) == 8, "the assembly below says 8");
_Static_assert(__builtin_offsetof(struct sp_tls, vfork_depth) == 16, "the assembly below says 16");
#if defined(__x86_64__)
__asm__(".text\n"
	".globl vfork\n"
	".type vfork, @function\n"
	"vfork:\n\t"
	".cfi_startproc\n\t"
	"endbr64\n\t"
	"movq sp_tls@gottpoff(%rip), %rcx\n\t"
	"addl $1, %fs:16(%rcx)\n\t"
	"addl $1, %fs:8(%rcx)\n\t"
	/* The child's frames overwrite the stack below:
	 * the return address is kept in a register. */
	"popq %rdi\n\t"
	".cfi_adjust_cfa_offset -8\n\t"
	".cfi_register %rip, %rdi\n\t"
	"movl $58, %eax\n\t" /* SYS_vfork */
	"syscall\n\t"
	"pushq %rdi\n\t"
	".cfi_adjust_cfa_offset 8\n\t"
	"testl %eax, %eax\n\t"
	"jz 1f\n\t"
	"movq sp_tls@gottpoff(%rip), %rcx\n\t"
	"subl $1, %fs:8(%rcx)\n\t"
	"subl $1, %fs:16(%rcx)\n\t"
	"testl %eax, %eax\n\t"
	"js 2f\n"
	"1:\n\t"
	"ret\n"
	"2:\n\t"
	"negl %eax\n\t"
	"pushq %rax\n\t"
	".cfi_adjust_cfa_offset 8\n\t"
	"call __errno_location@PLT\n\t"
	"popq %rcx\n\t"
	".cfi_adjust_cfa_offset -8\n\t"
	"movl %ecx, (%rax)\n\t"
	"movl $-1, %eax\n\t"
	"ret\n\t"
	".cfi_endproc\n\t"
	".size vfork, . - vfork\n");
#elif defined(__aarch64__)
/* There is no vfork system call: clone(CLONE_VM | CLONE_VFORK | SIGCHLD, 0). x30 survives it. */
__asm__(".text\n"
	".globl vfork\n"
	".type vfork, %function\n"
	"vfork:\n\t"
	".cfi_startproc\n\t"
	"mrs x9, tpidr_el0\n\t"
	"adrp x10, :gottprel:sp_tls\n\t"
	"ldr x10, [x10, :gottprel_lo12:sp_tls]\n\t"
	"add x9, x9, x10\n\t"
	"ldr w11, [x9, #16]\n\t"
	"add w11, w11, #1\n\t"
	"str w11, [x9, #16]\n\t"
	"ldr w11, [x9, #8]\n\t"
	"add w11, w11, #1\n\t"
	"str w11, [x9, #8]\n\t"
	"mov x0, #0x4111\n\t"
	"mov x1, xzr\n\t"
	"mov x8, #220\n\t"
	"svc #0\n\t"
	"cbz x0, 1f\n\t"
	"ldr w11, [x9, #8]\n\t"
	"sub w11, w11, #1\n\t"
	"str w11, [x9, #8]\n\t"
	"ldr w11, [x9, #16]\n\t"
	"sub w11, w11, #1\n\t"
	"str w11, [x9, #16]\n\t"
	"tbnz x0, #63, 2f\n"
	"1:\n\t"
	"ret\n"
	"2:\n\t"
	"stp x29, x30, [sp, #-32]!\n\t"
	"neg w11, w0\n\t"
	"str w11, [sp, #16]\n\t"
	"bl __errno_location\n\t"
	"ldr w11, [sp, #16]\n\t"
	"str w11, [x0]\n\t"
	"ldp x29, x30, [sp], #32\n\t"
	"mov x0, #-1\n\t"
	"ret\n\t"
	".cfi_endproc\n\t"
	".size vfork, . - vfork\n");
#endif

/*
 * A clone that shares our memory and, without CLONE_SETTLS, this thread's variables: its calls
 * would go into this thread's window. With CLONE_VFORK this thread waits meanwhile, as in vfork.
 * Without it, parent and child cannot be distinguished from now on, and neither is recorded.
 */
static int before_clone(int flags)
{
	static const char note[] = "a thread cloned a process into its own memory and thread "
				   "pointer: its later "
				   "calls are not observed";
	struct sp_thread *t = sp_enter();

	if ((flags & (CLONE_VM | CLONE_SETTLS)) != CLONE_VM)
		return 0;
	if (t && !(flags & CLONE_VFORK)) {
		sp_define(t, SP_DEFINE_NOTE, 0, NULL, 0, note, sizeof(note) - 1);
		sp_thread_finish();
	}
	sp_tls.vfork_depth += (flags & CLONE_VFORK) != 0;
	sp_tls.suppress_depth++;
	return 1;
}

SP_HOOK(int, clone, int (*function)(void *), void *stack, int flags, void *argument, ...)
{
	int shares = before_clone(flags), ret;
	void *more[3];

	if (flags & CLONE_FILES)
		sp_fd_table_is_shared();
	va_list list;

	va_start(list, argument);
	for (int i = 0; i < 3; i++)
		more[i] = va_arg(list, void *);
	va_end(list);
	ret = SP_REAL(clone)(function, stack, flags, argument, more[0], more[1], more[2]);
	if (shares && (ret < 0 || flags & CLONE_VFORK))
		sp_tls.suppress_depth--;
	if (shares && flags & CLONE_VFORK)
		sp_tls.vfork_depth--;
	return ret;
}
SP_ALIAS(__clone, clone);

/* The thread's events become durable before the image ends. If exec fails, the thread's next event
 * begins another segment. */
static void before_exec(const char *path, char *const envp[])
{
	struct sp_thread *t = sp_enter();

	sp_unobserved_exec_notice(path, envp);
	if (!t)
		return;
	sp_emit(t, SP_EV_exec, 0, sp_clock_ticks(), 0, 0);
	sp_thread_finish();
	sp_process_end();
}

SP_HOOK(int, execve, const char *path, char *const argv[], char *const envp[])
{
	before_exec(path, envp);
	return SP_REAL(execve)(path, argv, envp);
}

SP_HOOK(int, execv, const char *path, char *const argv[])
{
	before_exec(path, environ);
	return SP_REAL(execv)(path, argv);
}

SP_HOOK(int, execvp, const char *file, char *const argv[])
{
	before_exec(file, environ);
	return SP_REAL(execvp)(file, argv);
}

SP_HOOK(int, execvpe, const char *file, char *const argv[], char *const envp[])
{
	before_exec(file, envp);
	return SP_REAL(execvpe)(file, argv, envp);
}

SP_HOOK(int, fexecve, int fd, char *const argv[], char *const envp[])
{
	before_exec("fexecve", envp);
	return SP_REAL(fexecve)(fd, argv, envp);
}

/* No events: their cost is in the child's own account. The order of arguments is libc's. */
SP_HOOK(int, posix_spawn, pid_t *ret_pid, const char *path,
	const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
	char *const argv[], char *const envp[])
{
	sp_unobserved_exec_notice(path, envp);
	return SP_REAL(posix_spawn)(ret_pid, path, actions, attributes, argv, envp);
}

SP_HOOK(int, posix_spawnp, pid_t *ret_pid, const char *file,
	const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
	char *const argv[], char *const envp[])
{
	sp_unobserved_exec_notice(file, envp);
	return SP_REAL(posix_spawnp)(ret_pid, file, actions, attributes, argv, envp);
}

/* Loader workers end here, often inside a signal handler. Nothing is done if the handler
 * interrupted the recorder. */
static void end_by(enum sp_original which, int status) __attribute__((noreturn));
static void end_by(enum sp_original which, int status)
{
	sp_process_ending(status);
	sp_mark_abandon(sp_enter());
	sp_thread_finish();
	sp_process_end();
	((void (*)(int))sp_original(which))(status);
	__builtin_unreachable();
}

SP_HOOK(void, _exit, int status)
{
	end_by(SP_ORIGINAL__exit, status);
}

SP_HOOK(void, _Exit, int status)
{
	end_by(SP_ORIGINAL__Exit, status);
}
