/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of optimizers: those that end a step, and the time that is theirs. */
#include <check.h>

#include "tests/unit/common/made_loop.h"
#include "tests/unit/common/suite.h"

static void whole_step(void)
{
	uint64_t start = m.now_ticks;

	work(40);
	backward();
	work(30);
	sp_maker_around(&m, SP_EV_python_call, LABEL, start, SP_PHASE_update);
	work(20);
}

/* A discriminator and a generator, each with its optimizer: one step a batch. */
START_TEST(several_optimizers)
{
	struct sp_account sum;

	for (int i = 0; i < 7; i++) {
		batch();
		for (int model = 0; model < 2; model++) {
			zero_grad();
			forward_backward();
			optimize();
		}
	}
	whole_steps(7);
	sum = account();
	ck_part(sum, forward, 14 * FORWARD_NS);
	ck_part(sum, optimizer, 14 * OPTIMIZER_NS);
}
END_TEST

/* An actor, two critics and a temperature learn from each sample of a replay memory. */
START_TEST(several_optimizers_of_a_sample)
{
	for (int i = 0; i < 7; i++) {
		span(SP_EV_python_call, LABEL, WAIT_NS, SP_PHASE_replay);
		for (int model = 0; model < 3; model++) {
			zero_grad();
			forward_backward();
			optimize();
		}
	}
	whole_steps(7);
}
END_TEST

/* A hook of each weight steps an optimizer of its own when its gradient is there. */
START_TEST(optimizers_in_backward)
{
	struct sp_account sum;

	for (int i = 0; i < 7; i++) {
		uint64_t start;

		batch();
		work(FORWARD_NS);
		start = m.now_ticks;
		for (int weight = 0; weight < 5; weight++) {
			uint64_t node = m.now_ticks;

			optimize();
			zero_grad();
			work(NODE_NS);
			sp_maker_around(&m, SP_EV_torch_backward, LABEL, node, 0);
		}
		sp_maker_around(&m, SP_EV_python_call, LABEL, start, SP_PHASE_backward);
		work(AFTER_NS);
	}
	whole_steps(7);
	sum = account();
	ck_part(sum, forward, 7 * FORWARD_NS);
	ck_part(sum, backward, 7 * 5 * NODE_NS);
	ck_part(sum, optimizer, 7 * 5 * OPTIMIZER_NS);
	ck_part(sum, zero_grad, 7 * 5 * ZERO_NS);
}
END_TEST

START_TEST(two_optimizers_after_one_backward)
{
	for (int i = 0; i < 7; i++) {
		forward_backward();
		optimize();
		optimize();
	}
	whole_steps(7);
}
END_TEST

/* The optimizer calls forward and backward: what is left of its range is its own. */
START_TEST(an_optimizer_with_a_closure)
{
	struct sp_account sum;

	for (int i = 0; i < 5; i++) {
		uint64_t start;

		batch();
		start = m.now_ticks;
		zero_grad();
		forward_backward();
		work(OPTIMIZER_NS);
		sp_maker_around(&m, SP_EV_torch_range, ADAM, start, 0);
	}
	whole_steps(5);
	sum = account();
	ck_part(sum, forward, 5 * FORWARD_NS);
	ck_part(sum, backward, 5 * BACKWARD_NS);
	ck_part(sum, optimizer, 5 * OPTIMIZER_NS);
}
END_TEST

/* Time between two calls of the closure is the optimizer's, and no part of "other". */
START_TEST(an_optimizer_with_many_closures)
{
	enum { CALLS = 3 };
	const struct sp_steps *s;
	struct sp_account sum;

	for (int i = 0; i < 5; i++) {
		uint64_t start = m.now_ticks;

		for (int call = 0; call < CALLS; call++) {
			zero_grad();
			forward_backward();
			work(OPTIMIZER_NS);
		}
		sp_maker_around(&m, SP_EV_torch_range, ADAM, start, 0);
	}
	s = whole_steps(5);
	sum = account();
	ck_part(sum, optimizer, 5 * CALLS * OPTIMIZER_NS);
	for (int i = 0; i < 5; i++) {
		ck_assert_uint_eq(s->steps[i].sum[SP_STEP_SUM_cleared], 0);
		ck_assert_uint_eq(s->steps[i].sum[SP_STEP_SUM_between], 0);
	}
}
END_TEST

/* Two rounds of a step by an optimizer's own methods; the second one contains the step. */
START_TEST(methods_of_the_optimizer)
{
	enum { CLIMB_NS = 900 };
	struct sp_account sum;

	for (int i = 0; i < 5; i++) {
		uint64_t start;

		batch();
		forward_backward();
		start = m.now_ticks;
		work(CLIMB_NS);
		zero_grad();
		sp_maker_around(&m, SP_EV_python_call, LABEL, start, SP_PHASE_optimizer_part);
		forward_backward();
		start = m.now_ticks;
		work(CLIMB_NS);
		optimize();
		zero_grad();
		sp_maker_around(&m, SP_EV_python_call, LABEL, start, SP_PHASE_optimizer_part);
	}
	whole_steps(5);
	sum = account();
	ck_part(sum, forward, 10 * FORWARD_NS);
	ck_part(sum, backward, 10 * BACKWARD_NS);
	ck_part(sum, zero_grad, 10 * ZERO_NS);
	ck_part(sum, optimizer, 5 * (OPTIMIZER_NS + 2 * CLIMB_NS));
	ck_part(sum, other, 0);
}
END_TEST

/* A scaler skips the optimizer where gradients are infinite:
 * the iteration is a step all the same. */
START_TEST(a_scaler_that_skips)
{
	enum { CHECK_NS = 60 };
	const struct sp_steps *s;

	for (int i = 0; i < 6; i++) {
		uint64_t start;

		batch();
		forward_backward();
		start = m.now_ticks;
		work(CHECK_NS);
		if (i % 3 != 2)
			optimize();
		sp_maker_around(&m, SP_EV_python_call, LABEL, start, SP_PHASE_scaled_step);
		zero_grad();
	}
	s = steps();
	ck_assert_uint_eq(s->count, 6);
	for (uint32_t i = 0; i < s->count; i++)
		ck_assert_int_eq(s->steps[i].is_skipped, i % 3 == 2);
	ck_part(account(), optimizer, 4 * OPTIMIZER_NS + 6 * CHECK_NS);
}
END_TEST

START_TEST(a_wrapper_around_the_optimizer)
{
	struct sp_account sum;

	for (int i = 0; i < 5; i++) {
		uint64_t start;

		forward_backward();
		start = m.now_ticks;
		work(30);
		optimize();
		work(20);
		sp_maker_around(&m, SP_EV_python_call, LABEL, start, SP_PHASE_optimizer);
	}
	whole_steps(5);
	sum = account();
	ck_part(sum, optimizer, 5 * (OPTIMIZER_NS + 50));
}
END_TEST

/* Compiled functions that take gradients make each batch (0), or the program trains with them first
 * (1), and then with an optimizer. */
START_TEST(compiled_calls_beside_an_optimizer)
{
	const struct sp_steps *s;

	for (int i = 0; _i && i < 5; i++)
		span(SP_EV_python_call, LABEL, WAIT_NS, SP_PHASE_update);
	for (int i = 0; i < 8; i++) {
		for (int sample = 0; !_i && sample < 3; sample++)
			span(SP_EV_python_call, LABEL, WAIT_NS, SP_PHASE_update);
		forward_backward();
		optimize();
	}
	s = steps();
	ck_assert_uint_eq(s->count, _i ? 13 : 8);
	ck_assert_int_eq(s->has_whole_calls, _i);
	ck_part(account(), update, _i ? 5 * WAIT_NS : 0);
}
END_TEST

/* Keras: batches of fit come from a loader, those of train_on_batch do not. */
START_TEST(whole_steps_of_a_loader_and_of_none)
{
	for (int i = 0; i < 6; i++) {
		if (i < 4)
			batch();
		whole_step();
	}
	whole_steps(6);
}
END_TEST

/* A backward inside the call is no part of the step beside it. */
START_TEST(a_call_that_makes_the_whole_step)
{
	struct sp_account sum;

	for (int i = 0; i < 5; i++) {
		batch();
		whole_step();
	}
	whole_steps(5);
	sum = account();
	ck_part(sum, update, 5 * (BACKWARD_NS + 70));
	ck_part(sum, backward, 0);
}
END_TEST

/* Neither a backward nor a batch makes a round part of the step before it. */
START_TEST(rounds_of_boosting_beside_steps)
{
	struct sp_account sum;

	for (int i = 0; i < 5; i++) {
		train_batch();
		span(SP_EV_python_call, LABEL, 60, SP_PHASE_round);
		span(SP_EV_python_call, LABEL, 60, SP_PHASE_round);
	}
	ck_assert_uint_eq(whole_steps(15)->rounds, 10);
	sum = account();
	ck_part(sum, optimizer, 5 * OPTIMIZER_NS);
	ck_part(sum, update, 5 * 2 * 60);
}
END_TEST

START_TEST(rounds_of_boosting_with_evaluation)
{
	struct sp_account sum;

	for (int i = 0; i < 10; i++) {
		span(SP_EV_python_call, LABEL, 60, SP_PHASE_round);
		span(SP_EV_python_call, LABEL, 20, SP_PHASE_forward_no_grad);
	}
	whole_steps(10);
	sum = account();
	ck_part(sum, evaluation, 10 * 20);
	ck_part(sum, forward, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("optimizer_steps");
	TCase *c = tcase_create("optimizer_steps");

	tcase_add_checked_fixture(c, loop_begin, judged_trace_end);
	tcase_add_test(c, several_optimizers);
	tcase_add_test(c, several_optimizers_of_a_sample);
	tcase_add_test(c, optimizers_in_backward);
	tcase_add_test(c, two_optimizers_after_one_backward);
	tcase_add_test(c, an_optimizer_with_a_closure);
	tcase_add_test(c, an_optimizer_with_many_closures);
	tcase_add_test(c, methods_of_the_optimizer);
	tcase_add_test(c, a_scaler_that_skips);
	tcase_add_test(c, a_wrapper_around_the_optimizer);
	tcase_add_loop_test(c, compiled_calls_beside_an_optimizer, 0, 2);
	tcase_add_test(c, whole_steps_of_a_loader_and_of_none);
	tcase_add_test(c, a_call_that_makes_the_whole_step);
	tcase_add_test(c, rounds_of_boosting_beside_steps);
	tcase_add_test(c, rounds_of_boosting_with_evaluation);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
