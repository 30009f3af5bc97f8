/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of step.def that no other suite needs: each test fails without the row that names it. */
#include <check.h>

#include "tests/unit/common/made_loop.h"
#include "tests/unit/common/suite.h"

/* A call of no row between an optimizer and the end of its wrapper. */
START_TEST(a_call_of_no_row)
{
	for (int i = 0; i < 5; i++) {
		uint64_t start;

		forward_backward();
		start = m.now_ticks;
		optimize();
		span(SP_EV_python_call, LABEL, 5, SP_PHASE_function);
		work(20);
		sp_maker_around(&m, SP_EV_python_call, LABEL, start, SP_PHASE_optimizer);
	}
	ck_assert_uint_eq(whole_steps(5)->optimizer_count, 5);
	ck_part(account(), optimizer, 5 * (OPTIMIZER_NS + 25));
}
END_TEST

START_TEST(waits_beside_a_loader)
{
	const struct sp_steps *s;

	for (int i = 0; i < 5; i++) {
		train_batch();
		span(SP_EV_sem_wait, 0, WAIT_NS, 0);
	}
	s = whole_steps(5);
	ck_assert_uint_eq(s->steps[2].sum[SP_STEP_SUM_loop_wait], 0);
}
END_TEST

static void capture(void)
{
	span(SP_EV_cudaStreamBeginCapture, 0, 10, 0);
	forward_backward();
	optimize();
	span(SP_EV_cudaStreamEndCapture, 0, 10, 0);
}

static void replay(void)
{
	batch();
	span(SP_EV_cudaGraphLaunch, 0, 500, 0);
}

/* A second shape is captured between the steps. */
START_TEST(a_capture_between_graphs)
{
	capture();
	for (int i = 0; i < 8; i++) {
		if (i == 4)
			capture();
		replay();
	}
	ck_assert_uint_eq(steps()->count, 8);
	ck_part(account(), backward, 0);
}
END_TEST

/* Each step is one launch, and calls no loader. */
START_TEST(a_first_graph_after_its_capture)
{
	forward_backward();
	capture();
	for (int i = 0; i < 8; i++)
		span(SP_EV_cudaGraphLaunch, 0, 500, 0);
	whole_steps(8);
	ck_part(account(), backward, 0);
}
END_TEST

START_TEST(a_loader_that_another_thread_reads)
{
	const struct sp_steps *s;

	for (int i = 0; i < 5; i++) {
		span(SP_EV_sem_wait, 0, WAIT_NS, 0);
		forward_backward();
		optimize();
	}
	sp_maker_put(&m, folder, "trainer.zst");
	thread_begin(11);
	for (int i = 0; i < 5; i++)
		span(SP_EV_loader_next, 0, WAIT_NS, 1 << 1);
	s = steps();
	ck_assert_uint_eq(s->count, 5);
	ck_assert_int_eq(s->steps[0].end_ns - s->steps[0].start_ns,
			 s->steps[1].end_ns - s->steps[1].start_ns);
}
END_TEST

START_TEST(steps_that_are_not_recorded)
{
	const struct sp_steps *s;

	train_batch();
	train_batch();
	span(SP_EV_recording_off, 0, 100000, 3 << 1 | 1);
	train_batch();
	train_batch();
	s = steps();
	ck_assert_uint_eq(s->count, 4);
	ck_assert_uint_eq(sp_step_number(s, 2), 5);
	ck_assert_int_lt(s->steps[2].end_ns - s->steps[2].start_ns, 100000);
}
END_TEST

/* The scaler's method goes on with the next batch, when its optimizer's step is cut. */
START_TEST(a_scaler_that_ends_late)
{
	for (int i = 0; i < 5; i++) {
		uint64_t start;

		forward_backward();
		start = m.now_ticks;
		optimize();
		span(SP_EV_python_call, LABEL, 30, SP_PHASE_bookkeeping);
		sp_maker_around(&m, SP_EV_python_call, LABEL, start, SP_PHASE_scaled_step);
	}
	ck_assert_uint_eq(steps()->optimizer_count, 5);
}
END_TEST

/* A call that goes on from one step into the next. */
START_TEST(a_call_across_two_steps)
{
	for (int i = 0; i < 5; i++) {
		uint64_t start;

		forward_backward();
		start = m.now_ticks;
		optimize();
		span(SP_EV_python_call, LABEL, 30, SP_PHASE_zero_grad);
		span(SP_EV_python_call, LABEL, 30, SP_PHASE_bookkeeping);
		sp_maker_around(&m, SP_EV_python_call, LABEL, start, SP_PHASE_bookkeeping);
	}
	check_whole(steps());
}
END_TEST

/* Events of a thread may come late: this one ended in a step that is cut. */
START_TEST(a_call_that_comes_late)
{
	for (int i = 0; i < 5; i++) {
		uint64_t now;

		batch();
		now = m.now_ticks;
		forward_backward();
		optimize();
		batch();
		m.now_ticks = now;
		span(SP_EV_python_call, LABEL, 30, SP_PHASE_bookkeeping);
		m.now_ticks = now + FORWARD_NS + BACKWARD_NS + OPTIMIZER_NS + WAIT_NS;
		forward_backward();
		optimize();
	}
	check_whole(whole_steps(10));
	ck_part(account(), bookkeeping, 0);
}
END_TEST

/* A method of the model: training_step() of some frameworks. */
START_TEST(a_method_of_the_model_that_steps)
{
	for (int i = 0; i < 5; i++) {
		uint64_t start;

		batch();
		start = m.now_ticks;
		forward_backward();
		optimize();
		sp_maker_around(&m, SP_EV_python_call, LABEL, start, SP_PHASE_forward);
	}
	whole_steps(5);
	ck_part(account(), backward, 5 * BACKWARD_NS);
	ck_part(account(), optimizer, 5 * OPTIMIZER_NS);
}
END_TEST

/* Two views of a batch, and one loss of both. */
START_TEST(two_calls_before_a_backward)
{
	for (int i = 0; i < 5; i++) {
		batch();
		call_model(SP_PHASE_forward);
		work(70);
		call_model(SP_PHASE_forward);
		work(30);
		backward();
		optimize();
	}
	check_whole(steps());
	ck_part(account(), forward, 5 * 2 * FORWARD_NS);
	ck_part(account(), loss, 5 * 100);
}
END_TEST

/* Pictures are drawn in each fifth step. */
static void draw_now_and_then(void)
{
	for (int i = 0; i < 20; i++) {
		batch();
		call_model(SP_PHASE_forward);
		backward();
		optimize();
		for (int k = 0; i % 5 == 4 && k < 4; k++) {
			call_model(SP_PHASE_forward_no_grad);
			work(k < 3 ? 70 : 0);
		}
	}
}

START_TEST(calls_that_no_backward_follows)
{
	draw_now_and_then();
	check_whole(steps());
	ck_part(account(), evaluation, 4 * (4 * FORWARD_NS + 3 * 70));
}
END_TEST

static void train_epoch(int64_t loader)
{
	for (int i = 0; i < 5; i++) {
		span(SP_EV_loader_next, 0, WAIT_NS, loader);
		forward_backward();
		optimize();
	}
	span(SP_EV_loader_next, 0, LAST_NS, loader | SP_LOADER_ENDED);
}

/* The name of the old iterator is given to the new one, so the old one ends after the begin. */
START_TEST(an_iterator_that_is_dropped)
{
	for (int epoch = 0; epoch < 3; epoch++) {
		int64_t loader = 8 * (epoch + 1);

		span(SP_EV_loader_begin, 0, 10, loader);
		work(600);
		train_epoch(loader);
	}
	check_whole(steps());
	ck_part(account(), loader_wait, 15 * WAIT_NS + 3 * LAST_NS + 3 * 10 + 2 * 600);
}
END_TEST

/* The words of a text, drawn one after the other; the text is learned from twice. */
START_TEST(calls_that_make_a_batch)
{
	for (int i = 0; i < 6; i++) {
		batch();
		for (int word = 0; word < 12; word++) {
			call_model(SP_PHASE_forward_learner);
			work(70);
		}
		for (int pass = 0; pass < 5; pass++)
			call_model(SP_PHASE_forward);
		backward();
		optimize();
	}
	check_whole(steps());
	ck_part(account(), generation, 6 * (12 * FORWARD_NS + 12 * 70));
	ck_part(account(), evaluation, 0);
	ck_part(account(), forward, 6 * 5 * FORWARD_NS);
}
END_TEST

/* A batch that is embedded in parts, first without gradients; images whose labels are guessed. */
START_TEST(calls_that_make_no_batch)
{
	static const int learners[] = {16, 2}, forwards[] = {16, 3};

	for (int i = 0; i < 6; i++) {
		batch();
		for (int part = 0; part < learners[_i]; part++)
			call_model(SP_PHASE_forward_learner);
		for (int part = 0; part < forwards[_i]; part++)
			call_model(SP_PHASE_forward);
		backward();
		optimize();
	}
	check_whole(steps());
	ck_part(account(), generation, 0);
	ck_part(account(), forward, 6 * (learners[_i] + forwards[_i]) * FORWARD_NS);
}
END_TEST

/* A call that generates has the calls of the model inside: ahead of a step, or after one. */
START_TEST(a_call_that_generates)
{
	static const uint64_t text_ns = 5 * FORWARD_NS + 40;

	for (int i = 0; i < 6; i++) {
		uint64_t start;

		if (!_i)
			batch();
		start = m.now_ticks;
		for (int word = 0; word < 5; word++)
			call_model(SP_PHASE_forward_no_grad);
		work(40);
		sp_maker_around(&m, SP_EV_python_call, LABEL, start, SP_PHASE_generate);
		call_model(SP_PHASE_forward);
		backward();
		optimize();
	}
	check_whole(steps());
	ck_part(account(), generation, 6 * text_ns);
	ck_part(account(), evaluation, 0);
	ck_part(account(), forward, 6 * FORWARD_NS);
}
END_TEST

START_TEST(steps_with_pictures)
{
	const struct sp_steps *s;

	draw_now_and_then();
	s = steps();
	ck_assert_int_eq(s->steps[4].kind, SP_STEP_STEADY);
	ck_assert_int_eq(s->steps[5].kind, SP_STEP_INTERRUPTED);
}
END_TEST

/* The last batch of an epoch has half as many samples. */
START_TEST(a_short_last_batch)
{
	const struct sp_steps *s;

	for (int epoch = 0; epoch < 2; epoch++) {
		for (int i = 0; i < 7; i++)
			train_batch();
		batch();
		work(FORWARD_NS / 4);
		span(SP_EV_python_call, LABEL, BACKWARD_NS / 4, SP_PHASE_backward);
		optimize();
		last_batch();
	}
	s = steps();
	ck_assert_uint_eq(s->count, 16);
	ck_assert_int_eq(s->steps[7].kind, SP_STEP_TAIL);
	ck_assert_int_eq(s->steps[6].kind, SP_STEP_STEADY);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("step_rules");
	TCase *c = tcase_create("step_rules");

	tcase_add_checked_fixture(c, loop_begin, judged_trace_end);
	tcase_add_test(c, a_call_of_no_row);
	tcase_add_test(c, waits_beside_a_loader);
	tcase_add_test(c, a_capture_between_graphs);
	tcase_add_test(c, a_first_graph_after_its_capture);
	tcase_add_test(c, a_loader_that_another_thread_reads);
	tcase_add_test(c, steps_that_are_not_recorded);
	tcase_add_test(c, a_scaler_that_ends_late);
	tcase_add_test(c, a_call_across_two_steps);
	tcase_add_test(c, a_call_that_comes_late);
	tcase_add_test(c, a_method_of_the_model_that_steps);
	tcase_add_test(c, two_calls_before_a_backward);
	tcase_add_test(c, calls_that_no_backward_follows);
	tcase_add_test(c, an_iterator_that_is_dropped);
	tcase_add_test(c, calls_that_make_a_batch);
	tcase_add_loop_test(c, calls_that_make_no_batch, 0, 2);
	tcase_add_loop_test(c, a_call_that_generates, 0, 2);
	tcase_add_test(c, steps_with_pictures);
	tcase_add_test(c, a_short_last_batch);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
