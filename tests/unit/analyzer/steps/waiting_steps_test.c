/* SPDX-License-Identifier: Apache-2.0 */
/* Waits of a loop, each with its object: a batch, a server, an answer, or a lock. */
#include <check.h>

#include "tests/unit/common/made_loop.h"
#include "tests/unit/common/suite.h"

enum { SERVER = SP_FILE_NET << SP_FILE_TYPE_SHIFT };

static void ask(int64_t sent, int64_t answered)
{
	span(SP_EV_sendto, SERVER, NODE_NS, sent);
	work(AFTER_NS);
	span(SP_EV_poll, 0, WAIT_NS, 1);
	span(SP_EV_recv, SERVER, NODE_NS, answered);
}

enum { ASK_NS = 2 * NODE_NS + AFTER_NS + WAIT_NS };

/* The last batch's memory goes when the next batch is there; what forward unmaps is its own. */
START_TEST(batches_in_shared_memory)
{
	const struct sp_steps *s;
	struct sp_account sum;

	for (int i = 0; i < 5; i++) {
		batch();
		span(SP_EV_munmap, 0, 250, 0);
		span(SP_EV_munmap, 0, 30, 0);
		work(FORWARD_NS - 70);
		zero_grad();
		span(SP_EV_munmap, 0, 70, 0);
		backward();
		optimize();
	}
	s = steps();
	check_whole(s);
	sum = account();
	ck_part(sum, loader_wait, 5 * WAIT_NS);
	ck_part(sum, forward, 5 * FORWARD_NS);
	ck_part(sum, backward, 5 * BACKWARD_NS);
	ck_part(sum, other, 5 * (250 + 30));
}
END_TEST

/* A decoder that is kept takes what a picture needs in one batch and gives it in the next. */
START_TEST(pictures_from_batch_to_batch)
{
	struct sp_account sum;
	uint64_t begun = 0;

	for (int i = 0; i < 10; i++) {
		uint64_t start = m.now_ticks;

		work(WAIT_NS / 2);
		if (begun)
			sp_maker_around(&m, SP_EV_video_frame, 0, begun, 480);
		begun = m.now_ticks;
		work(WAIT_NS / 2);
		sp_maker_around(&m, SP_EV_torch_range, LOADER, start, 0);
		zero_grad();
		forward_backward();
		optimize();
		work(AFTER_NS);
	}
	whole_steps(10);
	sum = account();
	ck_part(sum, loader_wait, 10 * WAIT_NS);
	ck_part(sum, forward, 10 * FORWARD_NS);
	ck_part(sum, backward, 10 * BACKWARD_NS);
	ck_part(sum, optimizer, 10 * OPTIMIZER_NS);
}
END_TEST

/* Ahead of a backward, where no loader is seen, it is input; after the last backward it is work of
 * others on gradients. */
START_TEST(waits_without_a_loader)
{
	struct sp_account sum;
	const struct sp_steps *s;

	for (int i = 0; i < 5; i++) {
		zero_grad();
		span(SP_EV_sem_wait, 0, WAIT_NS, 0);
		forward_backward();
		span(SP_EV_sem_wait, 0, 2 * WAIT_NS, 0);
		optimize();
	}
	s = steps();
	check_whole(s);
	ck_assert_uint_eq(s->steps[2].sum[SP_STEP_SUM_awaited], WAIT_NS);
	sum = account();
	ck_part(sum, loader_wait, 5 * WAIT_NS);
	ck_part(sum, forward, 5 * FORWARD_NS);
	ck_part(sum, other, 5 * 2 * WAIT_NS);
}
END_TEST

/* A model may decode or tokenise its own data, where a loader feeds it, too. */
START_TEST(data_inside_of_the_model)
{
	const struct sp_steps *s;
	struct sp_account sum;

	for (int i = 0; i < 5; i++) {
		uint64_t start;

		if (_i)
			batch();
		start = m.now_ticks;
		span(SP_EV_python_call, LABEL, WAIT_NS, SP_PHASE_tokenize);
		work(FORWARD_NS - WAIT_NS);
		sp_maker_around(&m, SP_EV_python_call, LABEL, start, SP_PHASE_forward);
		backward();
		optimize();
	}
	s = steps();
	check_whole(s);
	ck_assert_uint_eq(s->steps[2].sum[SP_STEP_SUM_model_data], WAIT_NS);
	ck_assert_uint_eq(s->steps[2].sum[SP_STEP_SUM_own_input], 0);
	sum = account();
	ck_part(sum, forward, 5 * FORWARD_NS);
	ck_part(sum, loader_wait, _i ? 5 * WAIT_NS : 0);
}
END_TEST

/* A short answer to a long request is no batch. */
START_TEST(messages_to_a_server)
{
	struct sp_account sum;
	const struct sp_steps *s;

	for (int i = 0; i < 5; i++) {
		ask(500, 200);
		call_model(SP_PHASE_forward);
		ask(500, 1999);
		backward();
		optimize();
	}
	s = steps();
	check_whole(s);
	ck_assert_uint_eq(s->steps[2].sum[SP_STEP_SUM_message], 2 * (ASK_NS - AFTER_NS));
	sum = account();
	ck_part(sum, loader_wait, 0);
	ck_part(sum, forward, 5 * FORWARD_NS);
}
END_TEST

START_TEST(messages_beside_a_loader)
{
	const struct sp_steps *s;

	for (int i = 0; i < 5; i++) {
		batch();
		ask(500, 200);
		call_model(SP_PHASE_forward);
		backward();
		optimize();
	}
	s = steps();
	check_whole(s);
	ck_assert_uint_eq(s->steps[2].sum[SP_STEP_SUM_message], ASK_NS - AFTER_NS);
	ck_part(s->steps[2].account, loader_wait, WAIT_NS);
}
END_TEST

START_TEST(batches_of_a_server)
{
	const struct sp_steps *s;

	for (int i = 0; i < 5; i++) {
		ask(500, 100000);
		call_model(SP_PHASE_forward);
		span(SP_EV_sem_wait, 0, WAIT_NS, 0); /* the loss waits, and not for a batch */
		backward();
		optimize();
	}
	s = steps();
	check_whole(s);
	ck_part(s->steps[2].account, loader_wait, ASK_NS);
	ck_part(s->steps[2].account, loss, WAIT_NS);
}
END_TEST

/* The interpreter's lock is such a condition. */
START_TEST(waits_on_a_condition)
{
	const struct sp_steps *s;

	for (int i = 0; i < 5; i++) {
		span(SP_EV_cond_wait, 0, WAIT_NS, 0);
		call_model(SP_PHASE_forward);
		backward();
		optimize();
	}
	s = steps();
	check_whole(s);
	ck_part(s->steps[2].account, loader_wait, WAIT_NS);
	ck_part(s->steps[2].account, grad_sync, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("waiting_steps");
	TCase *c = tcase_create("waiting_steps");

	tcase_add_checked_fixture(c, loop_begin, judged_trace_end);
	tcase_add_test(c, batches_in_shared_memory);
	tcase_add_test(c, pictures_from_batch_to_batch);
	tcase_add_test(c, waits_without_a_loader);
	tcase_add_loop_test(c, data_inside_of_the_model, 0, 2);
	tcase_add_test(c, messages_to_a_server);
	tcase_add_test(c, messages_beside_a_loader);
	tcase_add_test(c, batches_of_a_server);
	tcase_add_test(c, waits_on_a_condition);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
