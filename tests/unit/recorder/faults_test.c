/* SPDX-License-Identifier: Apache-2.0 */
/* Failing system calls, full disks, no memory, and SIGKILL at any store or call. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "preload/recorder/run_claim.h"
#include "preload/recorder/thread.h"
#include "preload/settings/run_identity.h"
#include "preload/sys/fault.h"
#include "preload/sys/sys.h"
#include "tests/unit/common/suite.h"
#include "tests/unit/recorder/own_run.h"
#include "trace/arenas/arena_collect.h"

/* A sanitizer reports each error, call and kill alike: some of them are enough. ThreadSanitizer has
 * the test with a second thread only. */
#ifdef __SANITIZE_ADDRESS__
#define ERRORS 2
#define NEXT_CALL 3
#define NEXT_KILL 5
#else
#define ERRORS 10
#define NEXT_CALL 1
#define NEXT_KILL 1
#endif

#ifndef __SANITIZE_THREAD__
START_TEST(a_file_that_cannot_grow_counts_what_is_lost)
{
	struct slots_count count;
	struct rlimit limit = {1u << 17, RLIM_INFINITY};
	int64_t n = 2000000;

	run_begin(_i ? "write" : "map");
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	emit_many(n);
	limit.rlim_cur = RLIM_INFINITY;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	sp_thread_finish();
	count = run_read(NULL, NULL);
	ck_assert_uint_gt(count.lost, 0);
	ck_assert_uint_eq(count.events + count.lost, (uint64_t)n);
	zstd_accepts();
	run_remove();
}
END_TEST

/* Emits under a failing system call; the caller compares. Returns how many. */
static int64_t emit_under_fault(long nth, long on, int error, int continues)
{
	int64_t emitted = 20000;

	if (continues)
		emit_and_finish();
	sp_fault = (struct sp_fault){.fail_at = nth, .fail_on = on, .fail_errno = error};
	for (int64_t i = 0; i < emitted; i++)
		emit(i);
	sp_thread_finish();
	sp_fault.fail_at = 0;
	return emitted + (continues ? 300 : 0);
}

/* The arena has the rest of an append that failed. */
static void collect_all(void)
{
	static struct sp_collect_paths paths;
	struct sp_collect collect = {.sys = sp_sys, .paths = &paths};

	collect.uid = geteuid();
	sp_arenas_collect(&collect, sp_run.token);
}

static void fault_check(const char *made, int64_t emitted, int transient, long n, int is_written)
{
	struct slots_count count;

	if (!made[0])
		return;
	strcpy(sp_run.directory, made);
	if (is_written)
		collect_all();
	count = run_read(NULL, NULL);
	zstd_accepts();
	/* Without any file there is nowhere to count the loss. A tail's header counts it again. */
	if (count.files && transient)
		ck_assert_msg(count.events + count.lost == (uint64_t)emitted ||
				      (is_written &&
				       count.events + count.lost > (uint64_t)emitted &&
				       count.events <= (uint64_t)emitted),
			      "call %ld: %lu recorded, %lu lost, %ld emitted", n,
			      (unsigned long)count.events, (unsigned long)count.lost,
			      (long)emitted);
}

/* The Nth call of the recorder fails: each N in turn, until a run has fewer calls. From case 10 on
 * the thread continues a file, and from case 20 on the same twenty write their files. */
START_TEST(any_system_call_may_fail)
{
	static const int errors[] = {ENOSPC, EMFILE, ENOMEM, EINTR, EPERM};
	long calls = 1;

	for (long n = 1; n <= calls && n < 200; n += NEXT_CALL) {
		int64_t *shared =
			mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		pid_t child;
		int status;

		run_forget();
		run_begin(_i < 20 ? "map" : "write");
		if ((child = fork()) == 0) {
			close(2); /* it has something to say each time */
			shared[0] = emit_under_fault(n, _i & 1, errors[_i / 2 % 5], _i % 20 >= 10);
			shared[1] = sp_fault.calls;
			strcpy((char *)&shared[2], sp_run.directory);
			_exit(0);
		}
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert_msg(status == 0, "call %ld, case %d: status %x", n, _i, (unsigned)status);
		calls = shared[1] > calls ? shared[1] : calls;
		fault_check((char *)&shared[2], shared[0], !(_i & 1), n, _i >= 20);
		run_remove();
		munmap(shared, 4096);
	}
	ck_assert_int_gt(calls, 10);
}
END_TEST

/* Stores to files fail from the Nth on, cutting a file does not: a full copy-on-write disk. */
static void emit_while_full(long nth, int is_free_again)
{
	sp_fault = (struct sp_fault){.fail_at = nth,
				     .fail_on = 1,
				     .fail_errno = ENOSPC,
				     .fail_writes = 1};
	emit_many(20000);
	if (is_free_again) {
		sp_fault.fail_at = 0;
		emit_many(5000); /* more than the recorder waits until it tries again */
		sp_thread_finish();
	}
}

START_TEST(a_disk_may_be_full_at_any_store)
{
	const char *mode = _i & 1 ? "write" : "map";
	long *calls = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	for (long n = 3; n < 100 && n <= *calls + 3; n += NEXT_CALL) {
		struct slots_count count;
		pid_t child;
		int status;

		run_forget();
		run_begin(mode);
		ck_assert_int_ge(sp_run_claim(), 0);
		if ((child = fork()) == 0) {
			close(2);
			emit_while_full(n, _i & 2);
			*calls = sp_fault.calls > *calls ? sp_fault.calls : *calls;
			_exit(0);
		}
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert_int_eq(status, 0);
		zstd_accepts();
		/* Shared memory has the rest of a killed thread, and other processes may be making
		 * a file of that memory by now. */
		if (_i & 2) {
			count = run_read(NULL, NULL);
			ck_assert_uint_eq(count.events + count.lost, 25000);
		}
		run_remove();
	}
	ck_assert_int_gt(*calls, 3);
}
END_TEST

#endif

static void *emit_without_memory(void *argument)
{
	long *calls = argument, before = sp_fault.calls;
	struct timespec pause = {0, 50000000};

	sp_fault = (struct sp_fault){.calls = before,
				     .fail_at = before + 1,
				     .fail_on = 1,
				     .fail_errno = ENOMEM};
	for (int64_t i = 0; i < 10000; i++)
		if (emit(i))
			abort();
	*calls = sp_fault.calls - before;
	sp_fault.fail_at = 0;
	nanosleep(&pause, NULL);
	emit_many(1000);
	return NULL;
}

START_TEST(a_thread_without_memory_asks_seldom_and_is_recorded_later)
{
	struct slots_count count;
	pthread_t id;
	long calls;

	run_begin("map");
	emit_many(1);
	ck_assert_int_eq(pthread_create(&id, NULL, emit_without_memory, &calls), 0);
	pthread_join(id, NULL);
	sp_thread_finish();
	ck_assert_int_gt(calls, 0);
	ck_assert_int_lt(calls, 500);
	count = run_read(NULL, NULL);
	ck_assert_uint_eq(count.files, 2);
	ck_assert_uint_eq(count.events, 1001);
	ck_assert_uint_eq(count.lost, 10000);
	run_remove();
}
END_TEST

#ifndef __SANITIZE_THREAD__
/* Emits in a child; `emitted` is shared with it. Returns 0 where it came to its end. */
static int is_killed(const struct sp_fault *fault, volatile int64_t *emitted)
{
	int status;
	pid_t child;

	*emitted = 0;
	child = fork();
	if (child == 0) {
		sp_fault = *fault;
		for (int64_t i = 0; i < 8000; i++) {
			emit(i);
			*emitted = i + 1;
		}
		sp_thread_finish();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status);
}

/* SIGKILL before and after each store that changes what a file is. */
START_TEST(a_kill_at_any_store_boundary_leaves_a_whole_file)
{
	volatile int64_t *emitted =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int killed = 1;

	run_begin("map");
	for (long n = 1; killed && n < 400; n += NEXT_KILL) {
		struct slots_count before = {0}, count;

		if (sp_run.directory[0])
			before = run_read(NULL, NULL);
		killed = is_killed(&(struct sp_fault){.kill_at = n}, emitted);
		ck_assert_int_ge(sp_run_claim(), 0);
		count = run_read(NULL, NULL);
		ck_assert_uint_ge(count.events - before.events, (uint64_t)*emitted);
		ck_assert_uint_le(count.events - before.events, (uint64_t)*emitted + 1);
		zstd_accepts();
	}
	ck_assert(!killed);
	ck_assert_uint_eq(run_read(NULL, NULL).files, 1);
	run_remove();
}
END_TEST

/* The same before each system call of a thread whose file is written. Shared memory has the rest,
 * which a later process collects. */
START_TEST(a_kill_at_any_call_leaves_a_whole_file)
{
	volatile int64_t *emitted =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int killed = 1;

	unshare(CLONE_NEWIPC);
	run_begin("write");
	ck_assert_int_ge(sp_run_claim(), 0);
	for (long n = 1; killed && n < 400; n += NEXT_KILL) {
		struct slots_count count = run_read(NULL, NULL);
		uint64_t before = count.events;

		killed = is_killed(&(struct sp_fault){.kill_at_call = n}, emitted);
		for (int i = 0; i < 100 && (i == 0 || count.events < before + (uint64_t)*emitted);
		     i++) {
			in_child(emit_and_finish, 0);
			before += 300;
			count = run_read(NULL, NULL);
		}
		ck_assert_uint_ge(count.events - before, (uint64_t)*emitted);
		ck_assert_uint_le(count.events - before, (uint64_t)*emitted + 1);
	}
	ck_assert(!killed);
	ck_assert_uint_le(run_read(NULL, NULL).files, 2);
	zstd_accepts();
	run_remove();
}
END_TEST
#endif

int main(void)
{
	Suite *suite = suite_create("faults");
	TCase *t = tcase_create("faults");

	tcase_set_timeout(t, 240);
#ifndef __SANITIZE_THREAD__
	tcase_add_loop_test(t, a_file_that_cannot_grow_counts_what_is_lost, 0, 2);
	tcase_add_loop_test(t, any_system_call_may_fail, 0, ERRORS);
	tcase_add_loop_test(t, any_system_call_may_fail, 10, 12);
	tcase_add_loop_test(t, any_system_call_may_fail, 20, 22);
	tcase_add_loop_test(t, any_system_call_may_fail, 30, 32);
	tcase_add_loop_test(t, a_disk_may_be_full_at_any_store, 0, 4);
	tcase_add_test(t, a_kill_at_any_store_boundary_leaves_a_whole_file);
	tcase_add_test(t, a_kill_at_any_call_leaves_a_whole_file);
#endif
	tcase_add_test(t, a_thread_without_memory_asks_seldom_and_is_recorded_later);
	suite_add_tcase(suite, t);
	return sp_suite_run(suite);
}
