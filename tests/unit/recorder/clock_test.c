/* SPDX-License-Identifier: Apache-2.0 */
/* Points of the counter and of the kernel's clock fit, whatever comes in between. */
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

#include "preload/recorder/recorder.h"
#include "tests/unit/common/suite.h"

enum { INTERRUPTS = 1000, EACH_US = 200, HANDLER_NS = 50000, FIT_NS = 5000 };

static volatile sig_atomic_t times;

static void interrupt(int number)
{
	uint64_t begin = sp_clock_ns(CLOCK_MONOTONIC);

	(void)number;
	times++;
	while (sp_clock_ns(CLOCK_MONOTONIC) - begin < HANDLER_NS)
		;
}

static void interrupts(int each_us)
{
	struct itimerval timer = {{0, each_us}, {0, each_us}};

	ck_assert_int_eq(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

/* By how much the two clocks differ between two points. */
static int64_t difference_ns(const struct sp_clock_point *a, const struct sp_clock_point *b)
{
	return (int64_t)sp_clock_span_ns(b->ticks - a->ticks) -
	       (int64_t)(b->monotonic_ns - a->monotonic_ns);
}

START_TEST(a_reading_that_is_interrupted)
{
	struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
	struct sp_clock_point points[2];
	int64_t most = 0;

	sp_clock_init(SP_CLOCK_AUTO);
	nanosleep(&(struct timespec){0, 50000000}, NULL); /* for an exact rate */
	sp_clock_calibrate();
	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	interrupts(EACH_US);
	sp_clock_read(&points[0]);
	while (times < INTERRUPTS) {
		int64_t ns;

		sp_clock_read(&points[1]);
		ns = llabs(difference_ns(&points[0], &points[1]));
		most = ns > most ? ns : most;
		points[0] = points[1];
	}
	interrupts(0);
	ck_assert_int_le(most, FIT_NS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("clock");
	TCase *tcase = tcase_create("clock");

	tcase_add_test(tcase, a_reading_that_is_interrupted);
	suite_add_tcase(suite, tcase);
	return sp_suite_run(suite);
}
