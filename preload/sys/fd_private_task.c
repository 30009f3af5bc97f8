/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/sys/fd_private_task.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "preload/sys/clock.h"
#include "preload/sys/memory.h"
#include "preload/sys/stack_call.h"
#include "preload/sys/sys.h"

#define TASK_STACK_BYTES (32u * 1024u)
/* Functions have so many open at once, at most. */
#define DESCRIPTORS_MOST 2

struct task {
	void (*function)(void *argument);
	void *argument;
};

enum { NOBODY, CALLER, TASK };

/* At the end of pages of its own, above the task's stack; the argument follows. */
struct sp_timed_task {
	struct task task;
	void (*function)(void *argument);
	size_t bytes;	 /* of the pages */
	uint32_t runs;	 /* the kernel stores 0 and wakes the caller when the task is gone */
	uint32_t parted; /* who came first */
	uint32_t *left;
	uint64_t argument[];
};

__attribute__((unused)) static void task_run(struct task *task)
{
	/* Without close_range (Linux < 5.9) the table is copied instead, and the copies are closed
	 * at exit. */
	if (SP_SYS3(SYS_close_range, 0, ~0u, CLOSE_RANGE_UNSHARE) < 0)
		SP_SYS1(SYS_unshare, CLONE_FILES);
	task->function(task->argument);
}

#ifdef __SANITIZE_THREAD__
/* A task that ThreadSanitizer does not know must not run instrumented code. */
static long clone_and_run(struct task *task, void *stack_top, uint32_t *runs)
{
	(void)stack_top;
	task->function(task->argument);
	if (runs)
		*runs = 0;
	return 0;
}
#else
/* Returns the task's id, or -errno. The new task runs task_run on its own stack and exits. The
 * caller waits for it in the kernel, or goes on where the kernel is to clear `runs`. */
static long clone_and_run(struct task *task, void *stack_top, uint32_t *runs)
{
	unsigned long flags = CLONE_VM | CLONE_THREAD | CLONE_SIGHAND | CLONE_FILES | CLONE_FS |
			      CLONE_SYSVSEM | (runs ? CLONE_CHILD_CLEARTID : CLONE_VFORK);
#if defined(__x86_64__)
	register struct task *argument __asm__("r12") = task;
	register void (*run)(struct task *) __asm__("r13") = task_run;
	register uint32_t *child_tid __asm__("r10") = runs;
	register long tls __asm__("r8") = 0;
	long ret;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "mov %[argument], %%rdi\n\t"
			 "call *%[run]\n\t"
			 "mov %[exit], %%eax\n\t"
			 "xor %%edi, %%edi\n\t"
			 "syscall\n\t"
			 "hlt\n"
			 "1:"
			 : "=a"(ret)
			 : "a"(SYS_clone), "D"(flags), "S"(stack_top), "d"(0), "r"(child_tid),
			   "r"(tls), [argument] "r"(argument), [run] "r"(run), [exit] "i"(SYS_exit)
			 : "rcx", "r11", "memory");
	return ret;
#elif defined(__aarch64__)
	register struct task *argument __asm__("x20") = task;
	register void (*run)(struct task *) __asm__("x21") = task_run;
	register long number __asm__("x8") = SYS_clone;
	register long x0 __asm__("x0") = (long)flags;
	register void *x1 __asm__("x1") = stack_top;
	register long x2 __asm__("x2") = 0;
	register long x3 __asm__("x3") = 0;
	register uint32_t *x4 __asm__("x4") = runs;

	__asm__ volatile("svc 0\n\t"
			 "cbnz x0, 1f\n\t"
			 "mov x29, xzr\n\t"
			 "mov x0, x20\n\t"
			 "blr x21\n\t"
			 "mov x8, %[exit]\n\t"
			 "mov x0, xzr\n\t"
			 "svc 0\n\t"
			 "brk 0\n"
			 "1:"
			 : "+r"(x0)
			 : "r"(number), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(argument),
			   "r"(run), [exit] "i"(SYS_exit)
			 : "memory");
	return x0;
#endif
}
#endif

static int always_in_place;
int sp_fd_table_shared;

void sp_fd_private_task_init(int in_place)
{
	always_in_place = in_place;
}

void sp_fd_table_is_shared(void)
{
	__atomic_store_n(&sp_fd_table_shared, 1, __ATOMIC_RELAXED);
}

/* procfs counts a link for each thread, beside those of any directory. */
static int is_only_thread(void)
{
	struct stat st;

	return SP_SYS4(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &st, 0) == 0 &&
	       st.st_nlink == 3;
}

static int table_has_room(void)
{
	long opened[DESCRIPTORS_MOST];
	int count = 0;

	/* O_PATH of the root asks no file system, and makes no inode as a pipe does */
	while (count < DESCRIPTORS_MOST) {
		opened[count] = SP_SYS4(SYS_openat, AT_FDCWD, "/", O_PATH | O_CLOEXEC, 0);
		if (opened[count] < 0)
			break;
		count++;
	}
	for (int i = 0; i < count; i++)
		SP_SYS1(SYS_close, opened[i]);
	return count == DESCRIPTORS_MOST;
}

static int nobody_can_look(void)
{
	return !__atomic_load_n(&sp_fd_table_shared, __ATOMIC_RELAXED) && is_only_thread() &&
	       table_has_room();
}

/* Set by a process's only thread, and NULL whenever there may be others. */
static uint8_t *held_stack;

void sp_fd_private_hold(void)
{
	if (!always_in_place && nobody_can_look())
		held_stack = sp_pages_make(TASK_STACK_BYTES);
}

void sp_fd_private_release(void)
{
	if (!held_stack)
		return;
	sp_pages_free(held_stack, TASK_STACK_BYTES);
	held_stack = NULL;
}

void sp_fd_private_task(void (*function)(void *argument), void *argument)
{
	struct task task = {function, argument};
	uint8_t *stack;

	if (held_stack) {
		sp_stack_call(held_stack + TASK_STACK_BYTES, function, argument);
		return;
	}
	stack = always_in_place ? NULL : sp_pages_make(TASK_STACK_BYTES);
	if (!stack)
		function(argument);
	else if (nobody_can_look())
		sp_stack_call(stack + TASK_STACK_BYTES, function, argument);
	else if (clone_and_run(&task, stack + TASK_STACK_BYTES, NULL) < 0)
		function(argument);
	sp_pages_free(stack, TASK_STACK_BYTES);
}

void *sp_timed_task_make(size_t argument_bytes)
{
	size_t bytes = TASK_STACK_BYTES + sizeof(struct sp_timed_task) + argument_bytes;
	uint8_t *pages = sp_pages_make(bytes);
	struct sp_timed_task *t;

	if (!pages)
		return NULL;
	SP_SYS3(SYS_madvise, pages, bytes, MADV_DONTFORK);
	t = (struct sp_timed_task *)(void *)(pages + TASK_STACK_BYTES);
	t->bytes = bytes;
	return t->argument;
}

static struct sp_timed_task *timed(const void *argument)
{
	return (struct sp_timed_task *)((uintptr_t)argument -
					offsetof(struct sp_timed_task, argument));
}

void sp_timed_task_free(void *argument)
{
	sp_pages_free((uint8_t *)timed(argument) - TASK_STACK_BYTES, timed(argument)->bytes);
}

/* The second one to part, of the task and the caller that leaves it, takes it off the count. */
static void timed_part(struct sp_timed_task *t, uint32_t who)
{
	if (__atomic_exchange_n(&t->parted, who, __ATOMIC_ACQ_REL))
		__atomic_sub_fetch(t->left, 1, __ATOMIC_RELEASE);
}

static void timed_run(void *argument)
{
	struct sp_timed_task *t = timed(argument);

	t->function(argument);
	timed_part(t, TASK);
}

int sp_timed_task_wait(void *argument, uint64_t wait_ns)
{
	struct sp_timed_task *t = timed(argument);
	uint64_t end_ns = sp_clock_ns(CLOCK_MONOTONIC) + wait_ns;
	const struct timespec end = {(time_t)(end_ns / 1000000000u), (long)(end_ns % 1000000000u)};
	long error = 0;

	while (__atomic_load_n(&t->runs, __ATOMIC_ACQUIRE) && error != -ETIMEDOUT)
		error = SP_SYS6(SYS_futex, &t->runs, FUTEX_WAIT_BITSET, 1, &end, 0,
				FUTEX_BITSET_MATCH_ANY);
	return __atomic_load_n(&t->runs, __ATOMIC_ACQUIRE) ? -EINPROGRESS : 0;
}

/* A woken caller may still see the task end: a host of one thread may count its threads. */
static void wait_until_only_thread(void)
{
	const struct timespec pause = {0, 20000};

	for (int i = 0; i < 1000 && !is_only_thread(); i++) {
		if (i < 100)
			SP_SYS1(SYS_sched_yield, 0);
		else
			SP_SYS2(SYS_nanosleep, &pause, 0);
	}
}

/* A task was left: a child may find the same file system, and begins with the same care. */
static int was_left;

int sp_timed_task(void *argument, void (*function)(void *argument), uint64_t wait_ns,
		  uint32_t *left)
{
	struct sp_timed_task *t = timed(argument);
	int was_only_thread, ret;

	if (always_in_place) {
		function(argument);
		return 0;
	}
	if (held_stack && !was_left) {
		sp_stack_call((uint8_t *)t, function, argument);
		return 0;
	}
	*t = (struct sp_timed_task){.task = {timed_run, argument},
				    .function = function,
				    .bytes = t->bytes,
				    .runs = 1,
				    .left = left};
	was_only_thread = is_only_thread();
	if (clone_and_run(&t->task, t, &t->runs) < 0) {
		t->runs = 0;
		sp_stack_call((uint8_t *)t, function, argument);
		return 0;
	}
	ret = sp_timed_task_wait(argument, wait_ns);
	if (ret) {
		was_left = 1;
		__atomic_add_fetch(left, 1, __ATOMIC_RELAXED);
		timed_part(t, CALLER);
	} else if (was_only_thread) {
		wait_until_only_thread();
	}
	return ret;
}

unsigned long sp_signals_block(void)
{
	unsigned long all = ~0UL, before = 0;

	SP_SYS4(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof(all));
	return before;
}

void sp_signals_restore(unsigned long before)
{
	SP_SYS4(SYS_rt_sigprocmask, SIG_SETMASK, &before, 0, sizeof(before));
}
