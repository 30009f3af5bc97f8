/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a device within the steps. */
#include <check.h>

#include "tests/unit/common/made_loop.h"
#include "tests/unit/common/suite.h"

/* Two backwards warm up and two are captured, each with its forward; a step's own backward is the
 * launch of a graph. Both callables are captured. */
static void capture(void)
{
	for (int i = 0; i < 2; i++) {
		span(SP_EV_cudaStreamBeginCapture, 0, 10, 0);
		backward();
		span(SP_EV_cudaStreamEndCapture, 0, 10, 0);
	}
}

static void replay(void)
{
	zero_grad();
	work(FORWARD_NS);
	span(SP_EV_cudaGraphLaunch, 0, 10, 0);
	backward();
	optimize();
}

/* Copies, syncs and collectives are taken out of what they lie in. */
START_TEST(calls_of_cuda)
{
	const struct sp_steps *s;
	struct sp_account sum;

	for (int i = 0; i < 5; i++) {
		uint64_t start;

		batch();
		span(SP_EV_cudaMemcpyAsync, SP_COPY_TO_DEVICE, 60, 1024);
		work(FORWARD_NS);
		start = m.now_ticks;
		work(BACKWARD_NS);
		span(SP_EV_ncclAllReduce, 0, 80, 1024);
		sp_maker_around(&m, SP_EV_python_call, LABEL, start, SP_PHASE_backward);
		start = m.now_ticks;
		span(SP_EV_cudaMemcpyAsync, SP_COPY_TO_HOST, 5, 4);
		span(SP_EV_cudaStreamSynchronize, 0, 40, 0);
		work(OPTIMIZER_NS);
		sp_maker_around(&m, SP_EV_torch_range, ADAM, start, 0);
	}
	s = steps();
	check_whole(s);
	sum = account();
	ck_part(sum, h2d_copy, 5 * 60);
	ck_part(sum, forward, 5 * FORWARD_NS);
	ck_part(sum, backward, 5 * BACKWARD_NS);
	ck_part(sum, grad_sync, 5 * 80);
	ck_part(sum, sync_wait, 5 * 40);
	ck_part(sum, optimizer, 5 * (OPTIMIZER_NS + 5));
	ck_part(sum, other, 0);
}
END_TEST

START_TEST(a_warm_up_ahead_of_a_capture_is_no_step)
{
	const struct sp_steps *s;

	forward_backward();
	forward_backward();
	capture();
	for (int i = 0; i < 6; i++)
		replay();
	s = steps();
	ck_assert_uint_eq(s->count, 6);
	for (int i = 0; i < 6; i++)
		ck_assert_uint_eq(s->steps[i].account.ns[SP_ACCOUNT_backward], BACKWARD_NS);
	ck_assert_int_eq(s->steps[0].end_ns - s->steps[0].start_ns,
			 s->steps[1].end_ns - s->steps[1].start_ns);
}
END_TEST

/* Parts of the model that are captured in a step are the step's, as compiling is. */
START_TEST(a_capture_behind_a_step_stays_in_the_next)
{
	const struct sp_steps *s;

	replay();
	forward_backward();
	capture();
	for (int i = 0; i < 5; i++)
		replay();
	s = steps();
	ck_assert_uint_eq(s->count, 6);
	ck_assert_uint_eq(s->steps[1].account.ns[SP_ACCOUNT_backward], 4 * BACKWARD_NS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("device_steps");
	TCase *c = tcase_create("device_steps");

	tcase_add_checked_fixture(c, loop_begin, judged_trace_end);
	tcase_add_test(c, calls_of_cuda);
	tcase_add_test(c, a_warm_up_ahead_of_a_capture_is_no_step);
	tcase_add_test(c, a_capture_behind_a_step_stays_in_the_next);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
