/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder in a plain program: what was emitted is what the files hold, exactly, however the
 * program ends and whatever fails.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "preload/settings/config.h"
#include "preload/sys/fault.h"
#include "preload/recorder/process.h"
#include "preload/recorder/recorder.h"
#include "preload/settings/run_identity.h"
#include "preload/recorder/run_claim.h"
#include "preload/sys/log_once.h"
#include "preload/sys/sys.h"
#include "preload/recorder/thread.h"
#include "preload/recorder/thread_rusage.h"
#include "tests/unit/recorder/slots.h"
#include "tests/unit/common/stride.h"
#include "tests/unit/common/suite.h"
#include "trace/arenas/arena_collect.h"

static char directory[64];

/* libcheck runs each test in a process of its own, so each has a run of its own. */
static void run_begin(const char *mode)
{
	char output[128];

	snprintf(directory, sizeof(directory), "/tmp/stageprof-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(output, sizeof(output), "%s/run.zst", directory);
	setenv("STAGEPROF_OUTPUT", output, 1);
	setenv("STAGEPROF_MODE", mode, 1);
	sp_log_init();
	sp_config_read(environ);
	ck_assert_int_eq(sp_process_init(), 1);
	sp_thread_init();
}

/* The process that saves a dead thread's memory may put a file between rm's list and its rmdir;
 * libcheck's limit ends a test whose directory never goes. */
static void run_remove(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s 2>/dev/null", directory);
	while (system(command) != 0)
		usleep(10000);
}

static struct slots_count run_read(slots_definition *each, void *argument)
{
	struct slots_count count;

	ck_assert_int_eq(slots_read_directory(sp_run.directory, &count, each, argument), 0);
	return count;
}

static void zstd_accepts(void)
{
	char command[4300];

	snprintf(command, sizeof(command), "zstd -qt %s/*.zst", sp_run.directory);
	ck_assert_int_eq(system(command), 0);
}

static int emit(int64_t value)
{
	struct sp_thread *t = sp_enter();

	if (!t)
		return 0;
	SP_SPAN(span, t, SP_EV_read, 1u << SP_FILE_TYPE_SHIFT | 1);
	sp_span_end(&span, value);
	return 1;
}

/* ck_assert writes to a pipe each time: never in a loop, never in a child of ours. */
static void emit_many(int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		if (!emit(i))
			abort();
}

static const int64_t counts[] = {1, 2, 223, 224, 225, 256, 1000, 5000, 100000, 1000000};

START_TEST(a_finished_thread_has_all)
{
	struct slots_count count;
	int64_t n = counts[_i];

	run_begin("map");
	emit_many(n);
	sp_thread_finish();
	count = run_read(NULL, NULL);
	ck_assert_uint_eq(count.events, n);
	ck_assert_int_eq(count.value_sum, n * (n - 1) / 2);
	ck_assert_uint_eq(count.last_value_in_order, 1);
	ck_assert_uint_eq(count.windows, 0);
	ck_assert_uint_eq(count.ended, 1);
	ck_assert_uint_eq(count.lost, 0);
	zstd_accepts();
	run_remove();
}
END_TEST

/* Not finishing is what SIGKILL leaves. */
START_TEST(a_killed_thread_has_all)
{
	struct slots_count count;
	int64_t n = counts[_i];

	run_begin("map");
	emit_many(n);
	count = run_read(NULL, NULL);
	ck_assert_uint_eq(count.events, n);
	ck_assert_int_eq(count.value_sum, n * (n - 1) / 2);
	ck_assert_uint_eq(count.windows, 1);
	ck_assert_uint_eq(count.holes, 0);
	zstd_accepts();
	run_remove();
}
END_TEST

START_TEST(write_mode_has_all_of_a_finished_thread)
{
	struct slots_count count;
	int64_t n = counts[_i];

	run_begin("write");
	emit_many(n);
	sp_thread_finish();
	count = run_read(NULL, NULL);
	ck_assert_uint_eq(count.events, n);
	ck_assert_int_eq(count.value_sum, n * (n - 1) / 2);
	ck_assert_uint_eq(count.ended, 1);
	zstd_accepts();
	run_remove();
}
END_TEST

static void *emit_thread(void *argument)
{
	emit_many(*(int64_t *)argument);
	return NULL;
}

static void emit_in_threads(unsigned threads, int64_t n)
{
	pthread_t *ids = calloc(threads, sizeof(*ids));

	for (unsigned i = 0; i < threads; i++)
		ck_assert_int_eq(pthread_create(&ids[i], NULL, emit_thread, &n), 0);
	for (unsigned i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	free(ids);
}

START_TEST(threads_have_a_stream_each)
{
	static const struct {
		unsigned threads;
		int64_t n;
	} sizes[] = {{8, 50000}, {500, 20}};
	struct slots_count count;

	run_begin("map");
	emit_in_threads(sizes[_i].threads, sizes[_i].n);
	count = run_read(NULL, NULL);
	ck_assert_uint_le(count.files, sizes[_i].threads);
	ck_assert_uint_eq(count.streams, sizes[_i].threads);
	ck_assert_uint_eq(count.ended, sizes[_i].threads);
	ck_assert_uint_eq(count.events, sizes[_i].threads * (uint64_t)sizes[_i].n);
	ck_assert_uint_eq(count.last_value_in_order, 1);
	zstd_accepts();
	run_remove();
}
END_TEST

START_TEST(a_thread_that_goes_on_after_its_end_begins_another_part)
{
	struct slots_count count;

	run_begin("map");
	for (int i = 0; i < 3; i++) {
		emit_many(300);
		sp_thread_finish();
	}
	count = run_read(NULL, NULL);
	ck_assert_uint_eq(count.files, 1);
	ck_assert_uint_eq(count.streams, 3);
	ck_assert_uint_eq(count.events, 900);
	run_remove();
}
END_TEST

static void in_child(void (*work)(void), int killed)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		work();
		if (killed)
			kill(getpid(), SIGKILL);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(WIFSIGNALED(status), killed);
}

static void emit_and_finish(void)
{
	emit_many(300);
	sp_thread_finish();
}

static void emit_some(void)
{
	emit_many(300);
}

static struct slots_count one_after_another(const char *mode, int how)
{
	int64_t n = 300;

	unshare(CLONE_NEWIPC); /* other programs' runs on the machine collect memory, too */
	run_begin(mode);
	ck_assert_int_ge(sp_run_claim(), 0);
	for (unsigned i = 0; i < 50; i++)
		if (how == 0)
			emit_in_threads(1, n);
		else
			in_child(how == 1 ? emit_and_finish : emit_some, how == 2);
	return run_read(NULL, NULL);
}

/* Threads, processes that end, and processes that are killed, one after another. */
START_TEST(a_file_is_continued_by_whoever_comes_next)
{
	struct slots_count count = one_after_another("map", _i);
	int64_t n = 300;

	ck_assert_uint_eq(count.files, 1);
	ck_assert_uint_eq(count.streams, 50);
	ck_assert_uint_eq(count.events, 50 * n);
	ck_assert_uint_eq(count.ended, _i == 2 ? 0 : 50);
	ck_assert_uint_eq(count.windows, _i == 2 ? 50 : 0);
	ck_assert_uint_eq(count.lost, 0);
	zstd_accepts();
	run_remove();
}
END_TEST

/* The same with files that are written. */
START_TEST(a_written_file_is_continued_by_whoever_comes_next)
{
	struct slots_count count = one_after_another("write", _i);

	ck_assert_uint_eq(count.files, 1);
	ck_assert_uint_eq(count.ended, _i == 2 ? 0 : 50);
	for (int i = 0; i < 1000 && count.events < UINT64_C(50) * 300; i++) {
		in_child(emit_and_finish, 0);
		count = run_read(NULL, NULL);
		count.events -= UINT64_C(300) * ((unsigned)i + 1);
	}
	ck_assert_uint_eq(count.events, 50 * 300);
	ck_assert_uint_eq(count.lost, 0);
	zstd_accepts();
	run_remove();
}
END_TEST

/* Each stands for what may happen to a file that a thread left. */
static void change_file(const char *path, int how)
{
	char other[4400];

	snprintf(other, sizeof(other), "%s.other", path);
	if (how == 0)
		ck_assert_int_eq(link(path, other), 0); /* a backup by hard links */
	else if (how == 1)
		ck_assert_int_eq(rename(path, other), 0);
	else if (how == 2)
		ck_assert_int_eq(truncate(path, 857), 0);
	else
		ck_assert_int_eq(unlink(path), 0);
}

START_TEST(a_file_that_was_changed_is_not_continued)
{
	char path[4300], command[9000];
	struct slots_count count;

	run_begin(_i < 4 ? "map" : "write");
	emit_and_finish();
	snprintf(command, sizeof(command), "ls %s/*.zst | grep -v 0-run-", sp_run.directory);
	FILE *list = popen(command, "r");
	ck_assert_int_eq(fscanf(list, "%4299s", path), 1);
	pclose(list);
	change_file(path, _i % 4);
	snprintf(command, sizeof(command), "mkdir %s/kept; mv %s* %s/kept", directory, path,
		 directory);
	if (_i % 4 == 3)
		emit_and_finish();
	for (int i = 0; i < 2 && _i % 4 != 3; i++) {
		emit_and_finish();
		if (i == 0)
			ck_assert_int_eq(system(command), 0);
	}
	count = run_read(NULL, NULL);
	ck_assert_uint_eq(count.files, 1);
	ck_assert_uint_eq(count.events, _i % 4 == 3 ? 300 : 600);
	zstd_accepts();
	run_remove();
}
END_TEST

static void extra_and_definitions_check(void *argument, uint32_t which, uint32_t id,
					const uint8_t *blob, uint32_t bytes)
{
	unsigned *seen = argument;

	if (which == SP_DEFINE_CPUS || which == SP_DEFINE_RUSAGE)
		return;
	if (which != SP_DEFINE_NAME || id != bytes)
		abort();
	for (uint32_t i = 0; i < bytes; i++)
		if (blob[i] != (uint8_t)(bytes + i))
			abort();
	(*seen)++;
}

START_TEST(definitions_of_every_length_come_back)
{
	static char text[SP_NAME_BYTES_MAX + 100];
	struct slots_count count;
	unsigned seen = 0;

	run_begin("map");
	for (unsigned length = 0; length <= SP_NAME_BYTES_MAX; length++) {
		for (unsigned i = 0; i < length; i++)
			text[i] = (char)(length + i);
		sp_define(sp_enter(), SP_DEFINE_NAME, length, NULL, 0, text, length);
	}
	if (_i)
		sp_thread_finish();
	count = run_read(extra_and_definitions_check, &seen);
	ck_assert_uint_eq(seen, SP_NAME_BYTES_MAX + 1);
	ck_assert_uint_eq(count.events, 0);
	run_remove();
}
END_TEST

struct told {
	struct sp_cpu_metadata cpus;
	struct sp_rusage_metadata usage;
	unsigned cpus_times, usage_times;
	struct sp_step_rusage_metadata first, last;
	unsigned step_times;
};

static void told_take(void *argument, uint32_t which, uint32_t id, const uint8_t *blob,
		      uint32_t bytes)
{
	struct told *told = argument;

	(void)id;
	if (which == SP_DEFINE_CPUS && bytes == sizeof(told->cpus)) {
		memcpy(&told->cpus, blob, bytes);
		told->cpus_times++;
	}
	if (which == SP_DEFINE_STEP_RUSAGE && bytes == sizeof(told->last)) {
		memcpy(&told->last, blob, bytes);
		if (!told->step_times++)
			told->first = told->last;
	}
	if (which == SP_DEFINE_RUSAGE && bytes == sizeof(told->usage)) {
		memcpy(&told->usage, blob, bytes);
		told->usage_times++;
	}
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

START_TEST(cores_and_their_use_are_told)
{
	struct told told = {.cpus_times = 0};
	uint64_t before, after;
	cpu_set_t set;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(set), &set), 0);
	run_begin("map");
	emit_many(1);
	before = thread_cpu_ns();
	while (thread_cpu_ns() - before < 150000000u)
		;
	sp_thread_finish();
	after = thread_cpu_ns();
	run_read(told_take, &told);
	ck_assert_uint_eq(told.cpus_times, 1);
	ck_assert_uint_eq(told.cpus.allowed, (uint32_t)CPU_COUNT(&set));
	ck_assert_uint_eq(told.usage_times, 1);
	/* getrusage counts in ticks of the kernel where it must */
	ck_assert_uint_ge(told.usage.cpu_ns + 10000000u, before + 150000000u);
	ck_assert_uint_le(told.usage.cpu_ns, after + 10000000u);
	ck_assert_uint_ge(told.usage.process_cpu_ns + 10000000u, told.usage.cpu_ns);
#ifdef __SANITIZE_THREAD__
	ck_assert_uint_eq(told.usage.process_threads, 2); /* its own thread */
#else
	ck_assert_uint_eq(told.usage.process_threads, 1);
#endif
	ck_assert_uint_ge(told.usage.process_ready_ns, told.usage.ready_ns);
	run_remove();
}
END_TEST

START_TEST(short_threads_tell_no_use)
{
	struct told told = {.cpus_times = 0};

	run_begin("map");
	emit_many(1);
	sp_thread_finish();
	run_read(told_take, &told);
	ck_assert_uint_eq(told.cpus_times, 0);
	ck_assert_uint_eq(told.usage_times, 0);
	run_remove();
}
END_TEST

/* Steps may come by the thousand a second; their definitions come at growing intervals. */
START_TEST(use_after_steps_is_told_now_and_then)
{
	struct told told = {.cpus_times = 0};
	uint64_t before = thread_cpu_ns();

	run_begin("map");
	emit_many(1);
	while (thread_cpu_ns() - before < 400000000u)
		sp_rusage_define_step();
	run_read(told_take, &told);
	ck_assert_uint_ge(told.step_times, 3);
	ck_assert_uint_le(told.step_times, 60);
	ck_assert_uint_gt(told.last.at, told.first.at);
	ck_assert_uint_ge(told.last.usage.cpu_ns - told.first.usage.cpu_ns + 10000000u, 200000000u);
	ck_assert_uint_ge(told.last.usage.process_threads, 1);
	run_remove();
}
END_TEST

START_TEST(extra_words_come_back)
{
	struct slots_count count;
	uint64_t sum = 0;

	run_begin("map");
	for (uint64_t i = 0; i < 10000; i++) {
		uint64_t extra[3] = {i * i, ~i, i};

		sp_emit_extra(sp_enter(), SP_EV_jpeg_decode, 0, i, 5, (int64_t)i, extra);
		sum += i * i;
	}
	count = run_read(NULL, NULL);
	ck_assert_uint_eq(count.events, 10000);
	ck_assert_uint_eq(count.extra_sum, sum);
	run_remove();
}
END_TEST

#ifndef __SANITIZE_THREAD__
static volatile int64_t handled;
static int64_t handler_burst;

static void handler(int signal)
{
	(void)signal;
	for (int64_t i = 0; i < handler_burst; i++)
		handled += emit(0);
}

static void timer(int microseconds)
{
	struct itimerval every = {{0, microseconds}, {0, microseconds}};

	setitimer(ITIMER_REAL, &every, NULL);
}

/* The handler interrupts everything: taking slots, storing, encoding, compressing, publishing,
 * growing. */
START_TEST(signal_handlers_emit_too)
{
	static const int64_t bursts[] = {1, 40, 2000};
	static const int pauses_us[] = {200, 500, 20000};
	struct slots_count count;
	int64_t n = 3000000;

	run_begin("map");
	handler_burst = bursts[_i];
	ck_assert_ptr_ne(signal(SIGALRM, handler), SIG_ERR);
	timer(pauses_us[_i]);
	emit_many(n);
	timer(0);
	ck_assert_int_gt(handled, 0);
	count = run_read(NULL, NULL);
	ck_assert_uint_eq(count.events + count.lost, (uint64_t)(n + handled));
	zstd_accepts();
	run_remove();
}
END_TEST

static sigjmp_buf back;
static volatile int64_t done;

static void jump(int signal)
{
	(void)signal;
	siglongjmp(back, 1);
}

/* Each jump may leave one event unrecorded: the one it interrupted. It must not stop the recorder.
 */
START_TEST(a_handler_may_jump_out_of_the_recorder)
{
	struct slots_count count;
	volatile uint64_t jumps = 0;

	run_begin("map");
	ck_assert_ptr_ne(signal(SIGALRM, jump), SIG_ERR);
	emit(0);
	if (sigsetjmp(back, 1))
		jumps++;
	else
		timer(300);
	while (jumps < 1000)
		done += emit(0);
	timer(0);
	for (int i = 0; i < 100000; i++)
		emit(0);
	count = run_read(NULL, NULL);
	/* An interrupted event may be recorded and not counted, or not recorded and not counted. */
	ck_assert_uint_ge(count.events + count.lost, (uint64_t)done + 100001);
	ck_assert_uint_le(count.events + count.lost, (uint64_t)done + 100001 + jumps);
	/* A frame that was left is taken for an interrupted one for a while, not for good. */
	ck_assert_uint_le(count.lost, jumps * 64);
	zstd_accepts();
	run_remove();
}
END_TEST

/* A handler comes there only where the recorder has not blocked signals. */
static void jump_where_handlers_run(void)
{
	sigset_t blocked;

	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	if (!sigismember(&blocked, SIGALRM))
		siglongjmp(back, 1);
}

/* The jump lands above the recorder's frame or, with `deeper`, where it is taken for a handler's
 * victim. */
__attribute__((noinline)) static void emit_below(unsigned deeper, int64_t n)
{
	volatile char below[2048];

	below[0] = (char)deeper;
	if (deeper)
		emit_below(deeper - 1, n);
	else
		for (int64_t i = 0; i < n; i++)
			done += emit(below[0]);
}

START_TEST(a_jump_at_any_store_boundary_loses_little)
{
	struct slots_count count;
	volatile long boundary = 0, boundaries = 1;

	run_begin("map");
	done = 0;
	while (boundary++ < boundaries) {
		sp_fault = (struct sp_fault){.act_at = boundary, .act = jump_where_handlers_run};
		if (!sigsetjmp(back, 1))
			emit_below(0, 20000);
		sp_fault.act_at = 0;
		emit_below(3, 20000);
		boundaries = sp_fault.boundaries > boundaries ? sp_fault.boundaries : boundaries;
	}
	ck_assert_int_gt(boundaries, 10);
	count = run_read(NULL, NULL);
	ck_assert_uint_ge(count.events + count.lost, (uint64_t)done);
	ck_assert_uint_le(count.events + count.lost, (uint64_t)(done + boundaries));
	ck_assert_uint_le(count.lost, (uint64_t)boundaries * 64);
	zstd_accepts();
	run_remove();
}
END_TEST

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

#endif

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

/* A second run in one process is what no program has: the tests' children need it. */
static void run_forget(void)
{
	unsetenv("STAGEPROF_RUN");
	memset(&sp_config, 0, sizeof(sp_config));
	memset(&sp_run, 0, sizeof(sp_run));
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

	for (long n = 1; n <= calls && n < 200; n++) {
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

	for (long n = 3; n < 100 && n <= *calls + 3; n++) {
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

/* SIGKILL before and after each store that changes what a file is. */
START_TEST(a_kill_at_any_store_boundary_leaves_a_whole_file)
{
	volatile int64_t *emitted =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int killed = 1;

	run_begin("map");
	for (long n = 1; killed && n < 400; n++) {
		struct slots_count before = {0}, count;
		int status;
		pid_t child;

		if (sp_run.directory[0])
			before = run_read(NULL, NULL);
		*emitted = 0;
		child = fork();
		if (child == 0) {
			sp_fault = (struct sp_fault){.kill_at = n};
			for (int64_t i = 0; i < 8000; i++) {
				emit(i);
				*emitted = i + 1;
			}
			sp_thread_finish();
			_exit(0);
		}
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		killed = WIFSIGNALED(status);
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
	for (long n = 1; killed && n < 400; n++) {
		struct slots_count count = run_read(NULL, NULL);
		uint64_t before = count.events;
		int status;
		pid_t child;

		*emitted = 0;
		child = fork();
		if (child == 0) {
			sp_fault = (struct sp_fault){.kill_at_call = n};
			for (int64_t i = 0; i < 8000; i++) {
				emit(i);
				*emitted = i + 1;
			}
			sp_thread_finish();
			_exit(0);
		}
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		killed = WIFSIGNALED(status);
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

static int is_there(int id)
{
	struct shmid_ds ds;

	return shmctl(id, IPC_STAT, &ds) == 0;
}

/* Memory of a process that has ended, with `number` at `at` where that is not 0. */
static int memory_left(key_t key, size_t bytes, size_t at, uint64_t number)
{
	static int *shared;
	int id;

	if (!shared)
		shared =
			mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fork() == 0) {
		*shared = shmget(key, bytes, IPC_CREAT | IPC_EXCL | 0600);
		if (at)
			memcpy((char *)shmat(*shared, NULL, 0) + at, &number, sizeof(number));
		_exit(0);
	}
	wait(NULL);
	id = *shared;
	ck_assert_int_ge(id, 0);
	return id;
}

static void collect_later(const uint64_t *token, unsigned seconds)
{
	static struct sp_collect_paths paths;
	struct sp_collect collect = {.sys = sp_sys, .paths = &paths, .uid = geteuid()};

	collect.now_s = (uint64_t)time(NULL) + seconds;
	sp_arenas_collect(&collect, token);
}

/* A process that is killed while it makes an arena leaves memory that says nothing yet. */
START_TEST(memory_that_was_never_an_arena_goes)
{
	const uint64_t token[2] = {1, 2};
	const size_t bytes = sp_arena_segment_bytes(2, token);
	int none = memory_left(IPC_PRIVATE, bytes, 0, 0),
	    numbered = memory_left(IPC_PRIVATE, bytes, offsetof(struct sp_arena, units), 2);

	collect_later(token, 0);
	ck_assert(is_there(none)); /* its process may be about to attach it */
	collect_later(token, 100);
	ck_assert(!is_there(none));
	ck_assert(!is_there(numbered));
}
END_TEST

START_TEST(memory_of_other_programs_stays)
{
	const uint64_t token[2] = {1, 2};
	const size_t bytes = sp_arena_segment_bytes(2, token);
	const int theirs[] = {
		shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600), /* this process lives */
		memory_left(IPC_PRIVATE, sp_arena_bytes(2), 0, 0),
		memory_left(IPC_PRIVATE, bytes, sizeof(struct sp_arena), 1),
		memory_left(IPC_PRIVATE, bytes, bytes - 8, 1),
		memory_left((key_t)getpid(), bytes, 0, 0),
	};

	collect_later(token, 100);
	for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++) {
		ck_assert_msg(is_there(theirs[i]), "memory %zu", i);
		shmctl(theirs[i], IPC_RMID, NULL);
	}
}
END_TEST

/* A host may enter another IPC namespace, where memory of its own has the arena's number. */
START_TEST(an_arena_leaves_memory_of_its_number_alone)
{
	struct sp_arena_pool pool = {.count = 0};
	struct sp_arena_identity identity = {.header = &(struct sp_file_header){.run_token = {1}},
					     .name = "",
					     .directory = ""};
	struct sp_arena_keeper keeper = {.run_token = identity.header->run_token};
	struct sp_tail tail = sp_tail_take(&pool, &identity, SP_ARENA_UNIT_BYTES);
	int theirs = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600), ours = pool.list[0].id;

	ck_assert_int_ge(ours, 0);
	sp_tail_give(&pool, &tail);
	pool.list[0].id = theirs;
	sp_arenas_end(&pool, &keeper);
	ck_assert(is_there(theirs));
	shmctl(theirs, IPC_RMID, NULL);
	shmctl(ours, IPC_RMID, NULL);
}
END_TEST

START_TEST(a_forked_child_is_an_image_of_its_own)
{
	struct slots_count count;
	int status;
	pid_t child;

	run_begin("map");
	emit_many(1000);
	child = fork();
	if (child == 0) {
		emit_many(2000);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	emit_many(500);
	count = run_read(NULL, NULL);
	ck_assert_uint_eq(count.files, 2);
	ck_assert_uint_eq(count.events, 3500);
	run_remove();
}
END_TEST

START_TEST(own_cost_is_told)
{
	struct timespec begin, end;
	struct slots_count count;
	uint64_t wall_ns;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	run_begin("map");
	emit_many(100000);
	sp_thread_finish();
	clock_gettime(CLOCK_MONOTONIC, &end);
	wall_ns = (uint64_t)(end.tv_sec - begin.tv_sec) * 1000000000u + (uint64_t)end.tv_nsec -
		  (uint64_t)begin.tv_nsec;
	count = run_read(NULL, NULL);
	/* Two readings of the clock and a slot: a nanosecond would be a wrong unit, and 10 µs too.
	 */
	ck_assert_uint_gt(count.event_ps, 1000);
	ck_assert_uint_lt(count.event_ps, 10000000);
	ck_assert_uint_gt(count.stall_ns, 0);
	ck_assert_uint_lt(count.stall_ns, count.own_ns);
	ck_assert_uint_lt(count.own_ns, wall_ns + wall_ns / 20);
	run_remove();
}
END_TEST

static const struct place_case {
	const char *variables[4];
	struct sp_run_ranks place;
} places[] = {
	{{NULL}, {0, 0, 0}},
	{{"RANK=0", "LOCAL_RANK=0", "WORLD_SIZE=1"}, {1, 1, 1}},
	{{"RANK=5", "LOCAL_RANK=1", "WORLD_SIZE=8", "SLURM_PROCID=2"}, {6, 2, 8}},
	{{"SLURM_PROCID=2", "SLURM_LOCALID=0", "SLURM_NTASKS=4", "WORLD_SIZE=9"}, {3, 1, 4}},
	{{"RANK=two", "LOCAL_RANK=-1", "WORLD_SIZE="}, {0, 0, 0}},
	{{"RANK=99999999999999999999", "LOCAL_RANK=1x"}, {0, 0, 0}},
};

START_TEST(ranks_are_told)
{
	const struct place_case *c = &places[_i];
	struct slots_count count;

	for (int i = 0; i < 4 && c->variables[i]; i++)
		ck_assert_int_eq(putenv((char *)(uintptr_t)c->variables[i]), 0);
	run_begin("map");
	emit_many(1);
	sp_thread_finish();
	count = run_read(NULL, NULL);
	ck_assert_uint_eq(count.rank, c->place.rank);
	ck_assert_uint_eq(count.local_rank, c->place.local_rank);
	ck_assert_uint_eq(count.world_size, c->place.world_size);
	run_remove();
}
END_TEST

START_TEST(no_descriptor_is_taken)
{
	int before, after;

	run_begin("map");
	before = dup(0);
	close(before);
	emit_many(200000);
	after = dup(0);
	ck_assert_int_eq(before, after);
	sp_thread_finish();
	run_remove();
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("recorder");
	TCase *t = tcase_create("recorder"), *handlers = tcase_create("handlers");
	TCase *disks = tcase_create("disks"), *written = tcase_create("written");
	/* The longest is the one before it ten times over, and each error is reported alike: no
	 * more threads in either. */
	int sizes = sizeof(counts) / sizeof(counts[0]) - (SP_STRIDE > 1);
	int faults = SP_STRIDE > 1 ? 2 : 12;

	tcase_set_timeout(t, 240);
	tcase_set_timeout(handlers, 240);
	tcase_set_timeout(disks, 240);
	tcase_set_timeout(written, 240);
	tcase_add_loop_test(t, a_finished_thread_has_all, 0, sizes);
	tcase_add_loop_test(t, a_killed_thread_has_all, 0, sizes);
	tcase_add_loop_test(t, write_mode_has_all_of_a_finished_thread, 0, sizes);
	tcase_add_loop_test(t, threads_have_a_stream_each, 0, 2);
	tcase_add_test(t, a_thread_that_goes_on_after_its_end_begins_another_part);
	tcase_add_loop_test(t, a_file_is_continued_by_whoever_comes_next, 0, 3);
	tcase_add_loop_test(written, a_written_file_is_continued_by_whoever_comes_next, 0, 3);
	tcase_add_loop_test(t, a_file_that_was_changed_is_not_continued, 0, 8);
	tcase_add_loop_test(t, definitions_of_every_length_come_back, 0, 2);
	tcase_add_test(t, cores_and_their_use_are_told);
	tcase_add_test(t, short_threads_tell_no_use);
	tcase_add_test(t, use_after_steps_is_told_now_and_then);
	tcase_add_test(t, extra_words_come_back);
#ifndef __SANITIZE_THREAD__
	/* ThreadSanitizer delays signals to its own points and takes RLIMIT_FSIZE for itself. */
	tcase_add_loop_test(handlers, signal_handlers_emit_too, 0, 3);
	tcase_add_test(handlers, a_handler_may_jump_out_of_the_recorder);
	tcase_add_test(handlers, a_jump_at_any_store_boundary_loses_little);
	tcase_add_loop_test(t, a_file_that_cannot_grow_counts_what_is_lost, 0, 2);
#endif
	tcase_add_loop_test(t, any_system_call_may_fail, 0, faults);
	tcase_add_loop_test(written, any_system_call_may_fail, 20, 22);
	tcase_add_loop_test(written, any_system_call_may_fail, 30, 32);
	tcase_add_loop_test(disks, a_disk_may_be_full_at_any_store, 0, 4);
	tcase_add_test(t, a_thread_without_memory_asks_seldom_and_is_recorded_later);
	tcase_add_test(t, a_kill_at_any_store_boundary_leaves_a_whole_file);
	tcase_add_test(written, a_kill_at_any_call_leaves_a_whole_file);
	tcase_add_test(t, memory_that_was_never_an_arena_goes);
	tcase_add_test(t, memory_of_other_programs_stays);
	tcase_add_test(t, an_arena_leaves_memory_of_its_number_alone);
	tcase_add_test(t, a_forked_child_is_an_image_of_its_own);
	tcase_add_test(t, no_descriptor_is_taken);
	tcase_add_test(t, own_cost_is_told);
	tcase_add_loop_test(t, ranks_are_told, 0, (int)(sizeof(places) / sizeof(places[0])));
	suite_add_tcase(s, t);
	suite_add_tcase(s, handlers);
	suite_add_tcase(s, disks);
	suite_add_tcase(s, written);
	return s;
}

int main(void)
{
	return sp_suite_run(suite());
}
