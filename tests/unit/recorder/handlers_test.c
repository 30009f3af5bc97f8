/* SPDX-License-Identifier: Apache-2.0 */
/* Signal handlers that emit events while the recorder works, and those that leave it by a jump. */
#include <check.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include "preload/sys/fault.h"
#include "tests/unit/common/suite.h"
#include "tests/unit/recorder/own_run.h"

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

/* Each jump may leave one event unrecorded: the one it interrupted.
 * It must not stop the recorder. */
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

int main(void)
{
	Suite *suite = suite_create("handlers");
	TCase *t = tcase_create("handlers");

	tcase_set_timeout(t, 240);
	tcase_add_loop_test(t, signal_handlers_emit_too, 0, 3);
	tcase_add_test(t, a_handler_may_jump_out_of_the_recorder);
	tcase_add_test(t, a_jump_at_any_store_boundary_loses_little);
	suite_add_tcase(suite, t);
	return sp_suite_run(suite);
}
