/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second thread of the trainer's process, in made traces: it may make the batches, or it computes
 * for the model.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/common/judged_trace.h"
#include "tests/unit/common/suite.h"

enum {
	STEPS = 40,
	ADAM = 1,
	OTHER_NS = 3000000,
	WORK_NS = 300000,
	UPDATE_NS = 100000,
	WAIT_NS = 200000
};

static void setup(void)
{
	judged_trace_begin();
	name(ADAM, "Optimizer.step#Adam.step");
}

/* Steps of which a third is the loop's own code, and a process that computes on a second thread. */
static void loop_beside(uint32_t kind)
{
	struct sp_step_rusage_metadata usage = {.usage.process_threads = 2};
	uint64_t end;

	for (int i = 0; i < STEPS; i++) {
		m.now_ticks += OTHER_NS;
		span(SP_EV_cond_wait, ADAM, WAIT_NS, 0);
		span(SP_EV_python_call, 0, 3 * WORK_NS, SP_PHASE_forward);
		span(SP_EV_torch_backward, ADAM, 10 * WORK_NS, 0);
		span(SP_EV_torch_range, ADAM, UPDATE_NS, 0);
		usage.at = m.now_ticks;
		sp_maker_define(&m, SP_DEFINE_STEP_RUSAGE, 0, &usage, sizeof(usage));
		usage.usage.cpu_ns = m.now_ticks / 2;
		usage.usage.process_cpu_ns = m.now_ticks;
	}
	end = m.now_ticks;
	sp_maker_put(&m, folder, "trainer.zst");
	thread_begin(11);
	name(ADAM, "Optimizer.step#Adam.step");
	while (m.now_ticks < end) {
		m.now_ticks += WORK_NS;
		span(kind, ADAM, WORK_NS, 0);
	}
}

static void check_wait_source(const char *source)
{
	char *text = sp_load_print(&load, "summary", SP_FORMAT_TABLE);

	ck_assert_msg(strstr(text, source) != NULL, "no \"%s\" in\n%s", source, text);
	free(text);
}

START_TEST(autograd_s_thread_makes_no_batches)
{
	loop_beside(SP_EV_torch_backward);
	ck_assert_str_eq(judge(), "loop-bound");
	ck_assert(!v.metrics.is_fed_by_thread);
	check_wait_source("no DataLoader here: queues");
}
END_TEST

START_TEST(another_thread_may_make_batches)
{
	loop_beside(SP_EV_cond_wait);
	ck_assert_str_eq(judge(), "unexplained");
	ck_assert(v.metrics.is_fed_by_thread);
	check_wait_source("residual: another thread computes");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("feeding threads");
	TCase *c = tcase_create("traces");

	tcase_add_checked_fixture(c, setup, judged_trace_end);
	tcase_add_test(c, autograd_s_thread_makes_no_batches);
	tcase_add_test(c, another_thread_may_make_batches);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
