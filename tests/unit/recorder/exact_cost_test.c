/* SPDX-License-Identifier: Apache-2.0 */
/* The price of counting, against the thread's own clock: waiting costs nothing. */
#include <check.h>
#include <time.h>

#include "preload/interpreter/exact_cost.h"
#include "preload/recorder/recorder.h"
#include "tests/unit/common/suite.h"
#include "tests/unit/recorder/own_run.h"

#define WORK_NS 1500000u /* shorter than a tick of the kernel, 1 to 10 ms */
#define SLACK_NS 200000u /* of the thread's own time in the calls that measure */

/* A look at the thread's clock updates the kernel's counts, so the work itself has none. */
static void compute(void)
{
	uint64_t begin = sp_clock_ticks();

	while (sp_clock_span_ns(sp_clock_ticks() - begin) < WORK_NS)
		;
}

START_TEST(work_costs_the_threads_time)
{
	run_begin("map");
	for (int i = 0; i < 20; i++) {
		uint64_t before = sp_clock_ns(CLOCK_THREAD_CPUTIME_ID), begun_ns, cost, all;

		begun_ns = sp_exact_work_begin();
		compute();
		cost = sp_clock_span_ns(sp_exact_work_end(begun_ns));
		all = sp_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
		ck_assert_uint_le(cost, all + SLACK_NS);
		ck_assert_uint_ge(cost + SLACK_NS, all);
	}
	run_remove();
}
END_TEST

START_TEST(waiting_costs_nothing)
{
	struct timespec pause = {0, 50000000};
	uint64_t before, begun_ns, took;

	run_begin("map");
	before = sp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	begun_ns = sp_exact_work_begin();
	nanosleep(&pause, NULL);
	took = sp_clock_span_ns(sp_exact_work_end(begun_ns));
	ck_assert_uint_le(took, sp_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before + SLACK_NS);
	run_remove();
}
END_TEST

START_TEST(a_callback_put_off_costs_what_the_longest_does)
{
	ck_assert_uint_eq(sp_exact_callback_cost(1000, 2000), 1000);
	ck_assert_uint_eq(sp_exact_callback_cost(100000, 2000), 100000);
	ck_assert_uint_eq(sp_exact_callback_cost(100001, 2000), 100000);
	ck_assert_uint_eq(sp_exact_callback_cost(UINT64_MAX, 2000), 100000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("exact_cost");
	TCase *tcase = tcase_create("exact_cost");

	tcase_add_test(tcase, work_costs_the_threads_time);
	tcase_add_test(tcase, waiting_costs_nothing);
	tcase_add_test(tcase, a_callback_put_off_costs_what_the_longest_does);
	suite_add_tcase(suite, tcase);
	return sp_suite_run(suite);
}
