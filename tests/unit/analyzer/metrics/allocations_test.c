/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations and frees of device memory in each step, in made traces: the part of their time in
 * which the device worked, did not, or may have worked. One tick is one ns.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/verdict/verdict_text.h"
#include "tests/unit/common/judged_trace.h"
#include "tests/unit/common/suite.h"

enum { STEPS = 40, ADAM = 1, WORK_NS = 300000, US = 1000 };

static void setup(void)
{
	judged_trace_begin();
	name(ADAM, "Optimizer.step#Adam.step");
}

/* The stretch of a phase on the device: launched from `from` to now, until behind_ns later. */
static void stretch(uint64_t from, uint64_t behind_ns, enum sp_phase phase)
{
	uint64_t launched = m.now_ticks;

	m.now_ticks += behind_ns;
	sp_maker_around(&m, SP_EV_gpu_span, 0, from, phase);
	sp_maker_extra(&m, 0, launched - from, 0);
	m.now_ticks = launched;
}

/*
 * Forward takes memory twice, for 2 ms each; then backward, whose work lasts behind_ns longer than
 * it, and the optimizer, and a free of 4 ms at the step's end.
 */
static void step(bool allocates, uint64_t behind_ns)
{
	uint64_t from;

	span(SP_EV_cudaFree, 1, 4000 * US, 0);
	from = m.now_ticks;
	for (int i = 0; i < 2; i++) {
		span(SP_EV_cudaLaunchKernel, 0, 10 * US, 0);
		if (allocates)
			span(SP_EV_cudaMalloc, 1, 2000 * US, 4096);
	}
	sp_maker_around(&m, SP_EV_python_call, 0, from, SP_PHASE_forward);
	stretch(from, 0, SP_PHASE_none);
	from = m.now_ticks;
	span(SP_EV_cudaLaunchKernel, 0, 10 * US, 0);
	m.now_ticks += WORK_NS;
	sp_maker_around(&m, SP_EV_torch_backward, ADAM, from, 0);
	span(SP_EV_torch_range, ADAM, 100 * US, 0);
	stretch(from, behind_ns, SP_PHASE_backward);
}

/* The work of backward explains the wait in the free: it is no code of the loop's own. */
START_TEST(a_free_that_waits_for_backward_is_the_model_s)
{
	for (int i = 0; i < STEPS; i++)
		step(false, 3990 * US);
	ck_assert_str_eq(judge(), "compute-bound");
	ck_assert_double_lt(value(SP_METRIC_loop_share), 0.01);
	ck_assert_double_lt(value(SP_METRIC_allocation_open_share), 0.05);
	ck_assert_double_gt(value(SP_METRIC_model_share), 0.95);
}
END_TEST

/* The device is done in a quarter of the free's time. */
START_TEST(a_free_that_outlasts_all_work_is_a_cost)
{
	for (int i = 0; i < STEPS; i++)
		step(false, 1000 * US);
	ck_assert_str_eq(judge(), "allocation-bound");
	ck_assert_int_eq(v.id, SP_VERDICT_allocation);
	ck_assert_double_eq_tol(value(SP_METRIC_allocation_cost_share), 3000.0 / 4430, 0.03);
}
END_TEST

/* Both at once: idleness that is not known is no rival of idleness that is measured. */
START_TEST(the_measured_cost_is_named)
{
	for (int i = 0; i < STEPS; i++)
		step(true, 2500 * US);
	ck_assert_str_eq(judge(), "allocation-bound");
	ck_assert_int_eq(v.id, SP_VERDICT_allocation);
	ck_assert(v.holds[SP_VERDICT_allocation_wait]);
	ck_assert(!v.doubts[SP_DOUBT_rival]);
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_HIGH);
}
END_TEST

/* Two allocations between the launches of forward: the stretch of forward hides what the device
 * did. */
START_TEST(allocations_inside_of_a_stretch_are_not_known)
{
	char text[1024];

	for (int i = 0; i < STEPS; i++)
		step(true, 3990 * US);
	ck_assert_str_eq(judge(), "allocation-bound");
	ck_assert_int_eq(v.id, SP_VERDICT_allocation_wait);
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_LOW);
	ck_assert_double_eq_tol(value(SP_METRIC_allocation_open_share), 4000.0 / 8450, 0.03);
	ck_assert_double_lt(value(SP_METRIC_allocation_cost_share), 0.05);
	ck_assert_int_eq(v.advice_count, 1);
	sp_advice_text(&v, v.advice[0], text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "empty_cache"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("allocations");
	TCase *c = tcase_create("traces");

	tcase_add_checked_fixture(c, setup, judged_trace_end);
	tcase_add_test(c, a_free_that_waits_for_backward_is_the_model_s);
	tcase_add_test(c, a_free_that_outlasts_all_work_is_a_cost);
	tcase_add_test(c, the_measured_cost_is_named);
	tcase_add_test(c, allocations_inside_of_a_stretch_are_not_known);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
