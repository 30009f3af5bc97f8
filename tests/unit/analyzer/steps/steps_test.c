/* SPDX-License-Identifier: Apache-2.0 */
/* Where steps and epochs of a loop of training begin and end. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/common/made_loop.h"
#include "tests/unit/common/suite.h"

START_TEST(a_plain_loop)
{
	const struct sp_steps *s;
	struct sp_account sum;

	for (int i = 0; i < 10; i++)
		train_batch();
	last_batch();
	s = steps();
	ck_assert_uint_eq(s->count, 10);
	ck_assert_uint_eq(s->epoch_count, 1);
	check_whole(s);
	sum = account();
	ck_part(sum, loader_wait, 10 * WAIT_NS + LAST_NS);
	ck_part(sum, forward, 10 * FORWARD_NS);
	ck_part(sum, backward, 10 * BACKWARD_NS);
	ck_part(sum, zero_grad, 10 * ZERO_NS);
	ck_part(sum, optimizer, 10 * OPTIMIZER_NS);
	ck_part(sum, other, 9 * AFTER_NS);
	ck_part(sum, validation, 0);
	ck_assert_int_eq(s->sources[SP_ACCOUNT_loader_wait], SP_FROM_OBSERVED);
	ck_assert_int_eq(s->sources[SP_ACCOUNT_forward], SP_FROM_RESIDUAL);
	ck_assert_int_eq(s->sources[SP_ACCOUNT_backward], SP_FROM_WRAPPED);
	ck_assert_int_eq(s->sources[SP_ACCOUNT_h2d_copy], SP_FROM_NOTHING);
	ck_assert_int_eq(s->sources[SP_ACCOUNT_validation], SP_FROM_NOTHING);
}
END_TEST

/* Without the wrapped call, nodes alone show where backward is. */
START_TEST(backward_of_nodes_alone)
{
	const struct sp_steps *s;
	struct sp_account sum;

	for (int i = 0; i < 10; i++) {
		batch();
		work(FORWARD_NS);
		span(SP_EV_torch_backward, LABEL, NODE_NS, 0);
		work(100);
		span(SP_EV_torch_backward, LABEL, NODE_NS, 0);
		optimize();
	}
	s = steps();
	check_whole(s);
	sum = account();
	ck_part(sum, backward, 10 * BACKWARD_NS);
	ck_part(sum, forward, 10 * FORWARD_NS);
	ck_assert_int_eq(s->sources[SP_ACCOUNT_backward], SP_FROM_OBSERVED);
}
END_TEST

START_TEST(gradients_that_accumulate)
{
	const struct sp_steps *s;
	struct sp_account sum;

	for (int i = 0; i < 5; i++) {
		for (int micro = 0; micro < 4; micro++) {
			batch();
			forward_backward();
			work(AFTER_NS);
		}
		optimize();
		zero_grad();
	}
	last_batch();
	s = steps();
	ck_assert_uint_eq(s->count, 5);
	ck_assert_uint_eq(s->epoch_count, 1);
	check_whole(s);
	sum = account();
	ck_part(sum, loader_wait, 20 * WAIT_NS + LAST_NS);
	ck_part(sum, forward, 20 * FORWARD_NS);
	ck_part(sum, backward, 20 * BACKWARD_NS);
	ck_part(sum, other, 20 * AFTER_NS);
	ck_part(sum, zero_grad, 4 * ZERO_NS);
}
END_TEST

START_TEST(epochs_without_validation)
{
	const struct sp_steps *s;

	for (int epoch = 0; epoch < 4; epoch++) {
		for (int i = 0; i < 5; i++)
			train_batch();
		last_batch();
	}
	s = steps();
	ck_assert_uint_eq(s->count, 20);
	ck_assert_uint_eq(s->epoch_count, 4);
	ck_assert_uint_eq(s->sources[SP_ACCOUNT_validation], SP_FROM_NOTHING);
	check_whole(s);
}
END_TEST

/* A batch that the training thread makes is fetched in the loader's call. */
static void fetched_batch(void)
{
	uint64_t start = m.now_ticks;

	span(SP_EV_python_call, LABEL, WAIT_NS, SP_PHASE_loader_fetch);
	sp_maker_around(&m, SP_EV_torch_range, LOADER, start, 0);
}

START_TEST(epochs_of_batches_made_here)
{
	for (int epoch = 0; epoch < 3; epoch++) {
		for (int i = 0; i < 5; i++) {
			fetched_batch();
			forward_backward();
			optimize();
		}
		last_batch();
	}
	ck_assert_uint_eq(whole_steps(15)->epoch_count, 3);
}
END_TEST

START_TEST(epochs_of_new_workers)
{
	for (int epoch = 0; epoch < 3; epoch++) {
		span(SP_EV_fork, 0, FORK_NS, 99);
		for (int i = 0; i < 5; i++)
			train_batch();
		last_batch();
	}
	ck_assert_uint_eq(whole_steps(15)->epoch_count, 3);
}
END_TEST

/* Two loaders in step: the first one's batches are no ends of epochs. */
START_TEST(two_loaders)
{
	const struct sp_steps *s;
	struct sp_account sum;

	for (int i = 0; i < 8; i++) {
		batch();
		train_batch();
	}
	s = steps();
	ck_assert_uint_eq(s->count, 8);
	ck_assert_uint_eq(s->epoch_count, 1);
	check_whole(s);
	sum = account();
	ck_part(sum, validation, 0);
	ck_part(sum, loader_wait, 16 * WAIT_NS);
}
END_TEST

START_TEST(no_loader)
{
	const struct sp_steps *s;
	struct sp_account sum;

	work(100000);
	for (int i = 0; i < 6; i++) {
		zero_grad();
		forward_backward();
		optimize();
	}
	s = whole_steps(6);
	sum = account();
	ck_part(sum, forward, 6 * FORWARD_NS);
	ck_part(sum, zero_grad, 6 * ZERO_NS);
	ck_part(sum, loader_wait, 0);
	ck_part(sum, other, 0);
	ck_assert_int_eq(s->sources[SP_ACCOUNT_loader_wait], SP_FROM_NOTHING);
}
END_TEST

/* A head that trains on features in memory, after a stage with a loader. */
START_TEST(a_stage_without_a_loader)
{
	for (int i = 0; i < 7; i++) {
		batch();
		forward_backward();
		optimize();
	}
	for (int i = 0; i < 9; i++) {
		forward_backward();
		optimize();
	}
	whole_steps(7 + 9);
}
END_TEST

START_TEST(steps_that_are_chosen)
{
	struct sp_account sum;
	const struct sp_steps *s;

	for (int i = 0; i < 10; i++)
		train_batch();
	s = steps();
	load.report.training.selection.from = 2;
	load.report.training.selection.to = 8;
	load.report.training.selection.warmup = 3;
	sum = account();
	ck_assert_uint_eq(sp_account_total(&sum),
			  (uint64_t)(s->steps[7].end_ns - s->steps[3].start_ns));
	ck_part(sum, optimizer, 5 * OPTIMIZER_NS);
}
END_TEST

START_TEST(no_optimizer)
{
	const struct sp_steps *s;
	char *text;

	for (int i = 0; i < 5; i++) {
		batch();
		work(FORWARD_NS);
	}
	sp_maker_put(&m, folder, "a.zst");
	sp_load_one(&load, folder);
	ck_assert_uint_eq(load.report.training.count, 1);
	s = &load.report.training.trainers[0].steps;
	ck_assert_int_eq(s->end, SP_STEP_BY_BATCH);
	ck_assert_uint_eq(s->count, 4); /* the last batch's work has no known end */
	for (uint32_t i = 0; i < s->count; i++) {
		ck_part(s->steps[i].account, loader_wait, WAIT_NS);
		ck_part(s->steps[i].account, forward, 0);
	}
	text = sp_load_print(&load, "summary", SP_FORMAT_TABLE);
	ck_assert_ptr_nonnull(strstr(text, "each is a batch that the loop took"));
	ck_assert_ptr_nonnull(strstr(text, "Cannot tell: a DataLoader gave batches"));
	free(text);
}
END_TEST

START_TEST(no_optimizer_and_a_model)
{
	for (int i = 0; i < 5; i++) {
		batch();
		sp_maker_event(&m, SP_EV_python_call, 0, FORWARD_NS, SP_PHASE_forward_no_grad);
	}
	sp_maker_put(&m, folder, "a.zst");
	sp_load_one(&load, folder);
	ck_assert_uint_eq(load.report.training.count, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("steps");
	TCase *c = tcase_create("steps");

	tcase_add_checked_fixture(c, loop_begin, judged_trace_end);
	tcase_add_test(c, a_plain_loop);
	tcase_add_test(c, backward_of_nodes_alone);
	tcase_add_test(c, gradients_that_accumulate);
	tcase_add_test(c, epochs_without_validation);
	tcase_add_test(c, epochs_of_batches_made_here);
	tcase_add_test(c, epochs_of_new_workers);
	tcase_add_test(c, two_loaders);
	tcase_add_test(c, no_loader);
	tcase_add_test(c, a_stage_without_a_loader);
	tcase_add_test(c, steps_that_are_chosen);
	tcase_add_test(c, no_optimizer);
	tcase_add_test(c, no_optimizer_and_a_model);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
