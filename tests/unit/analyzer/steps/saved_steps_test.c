/* SPDX-License-Identifier: Apache-2.0 */
/* Saves and loads: which of them are checkpoints, which input, which the start. */
#include <check.h>

#include "tests/unit/common/made_loop.h"
#include "tests/unit/common/suite.h"

#define REGULAR ((uint32_t)SP_FILE_REGULAR << SP_FILE_TYPE_SHIFT)

static void load_file(uint32_t file)
{
	uint64_t start = m.now_ticks;

	span(SP_EV_read, REGULAR | file, WAIT_NS, 4096);
	sp_maker_around(&m, SP_EV_python_call, LABEL, start, SP_PHASE_checkpoint_load);
}

/* Data that are cached and weights of the start are no checkpoint; weights that are loaded are. A
 * folder made for such data, and a copy of them, are none either. */
START_TEST(saves_before_the_training)
{
	struct sp_account sum;

	span(SP_EV_mkdir, 0, WAIT_NS, 0);
	for (int i = 0; i < 3; i++)
		span(SP_EV_python_call, LABEL, SAVE_NS, SP_PHASE_checkpoint_save);
	span(SP_EV_sendfile, 0, WAIT_NS, 4096);
	span(SP_EV_python_call, LABEL, SAVE_NS, SP_PHASE_checkpoint_load);
	span(SP_EV_loader_begin, 0, 10, 8);
	for (int i = 0; i < 6; i++) {
		span(SP_EV_loader_next, 0, WAIT_NS, 8);
		forward_backward();
		optimize();
	}
	span(SP_EV_python_call, LABEL, SAVE_NS, SP_PHASE_checkpoint_save);
	steps();
	sum = account();
	ck_part(sum, checkpoint, 2 * SAVE_NS);
}
END_TEST

/* A checkpoint now and then makes a step of its own kind, and one in each step is a part of it. */
START_TEST(saves_in_each_step)
{
	enum { STEPS = 20 };
	uint32_t saved = 0, steady = 0;
	const struct sp_steps *s;

	for (int i = 0; i < STEPS; i++) {
		train_batch();
		if (_i == 0 || i % 5 == 0)
			span(SP_EV_python_call, LABEL, SAVE_NS, SP_PHASE_checkpoint_save);
	}
	s = steps();
	ck_assert_uint_eq(s->count, STEPS);
	for (int i = 0; i < STEPS; i++) {
		saved += s->steps[i].kind == SP_STEP_CHECKPOINT;
		steady += s->steps[i].kind == SP_STEP_STEADY;
	}
	ck_assert_uint_eq(saved, _i ? 4 : 0);
	ck_assert_uint_ge(steady, STEPS - 5);
}
END_TEST

/* A new file is written beside the last checkpoint, the oldest is removed ahead of it, and the new
 * one is put on the disk and renamed. A rename elsewhere in the step is none of a save's. */
START_TEST(a_save_by_rename)
{
	enum { STEPS = 10 };

	for (int i = 0; i < STEPS; i++) {
		train_batch();
		if (_i) {
			span(SP_EV_unlink, 0, WAIT_NS, 0);
			span(SP_EV_python_call, LABEL, SAVE_NS, SP_PHASE_checkpoint_save);
			span(SP_EV_fsync, REGULAR | 1, WAIT_NS, 0);
		}
		span(SP_EV_rename, 0, WAIT_NS, 0);
	}
	train_batch();
	steps();
	ck_part(account(), checkpoint, _i ? STEPS * (SAVE_NS + 3 * WAIT_NS) : 0);
}
END_TEST

/* A log that each step opens for writing, which empties it, is no data that is read: with a loader,
 * and without. */
START_TEST(a_log_that_is_emptied)
{
	enum { STEPS = 10 };
	const struct sp_steps *s;
	uint64_t written = 0;

	for (int i = 0; i < STEPS; i++) {
		if (_i)
			batch();
		forward_backward();
		optimize();
		span(_i ? SP_EV_fopen_write : SP_EV_creat, REGULAR | 1, SAVE_NS, 3);
	}
	s = steps();
	for (uint32_t i = 0; i < s->count; i++)
		written += s->steps[i].sum[SP_STEP_SUM_write];
	ck_assert_uint_eq(written, (STEPS - 1) * SAVE_NS);
	ck_part(account(), loader_wait, _i ? STEPS * WAIT_NS : 0);
}
END_TEST

/* A handler of a signal saves while the model computes. */
START_TEST(a_save_inside_of_a_forward)
{
	struct sp_account sum;

	for (int i = 0; i < 4; i++) {
		uint64_t start;

		batch();
		start = m.now_ticks;
		work(FORWARD_NS);
		if (i > 0)
			span(SP_EV_python_call, LABEL, SAVE_NS, SP_PHASE_checkpoint_save);
		sp_maker_around(&m, SP_EV_python_call, LABEL, start, SP_PHASE_forward);
		backward();
		optimize();
	}
	whole_steps(4);
	sum = account();
	ck_part(sum, checkpoint, 3 * SAVE_NS);
	ck_part(sum, forward, 4 * FORWARD_NS);
}
END_TEST

/* A file of torch.save for each batch, or weights that are loaded now and then. */
START_TEST(loads_of_batches)
{
	struct sp_account sum;
	uint64_t loads = 0;

	for (int i = 0; i < 32; i++) {
		if (_i || i % 16 == 15) {
			span(SP_EV_python_call, LABEL, WAIT_NS, SP_PHASE_checkpoint_load);
			loads++;
		}
		forward_backward();
		optimize();
	}
	whole_steps(32);
	sum = account();
	/* The first one is ahead of the steps, and the next may be of weights. */
	ck_part(sum, loader_wait, _i ? (loads - 2) * WAIT_NS : 0);
	ck_part(sum, checkpoint, _i ? WAIT_NS : loads * WAIT_NS);
}
END_TEST

/* Between epochs: another shard of data, the weights of the start again, or those that were just
 * saved; and shards beside a loader. */
START_TEST(loads_between_epochs)
{
	enum { EPOCHS = 4, STEPS = 12, WEIGHTS = 7 };
	const struct sp_steps *s;
	struct sp_account sum;
	uint64_t loads = 0;

	for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
		uint32_t saved = WEIGHTS + 1 + epoch;

		if (_i == 2 && epoch) {
			uint64_t start = m.now_ticks;

			span(SP_EV_write, REGULAR | saved, 10, 4096);
			sp_maker_around(&m, SP_EV_python_call, LABEL, start,
					SP_PHASE_checkpoint_save);
		}
		load_file(_i == 0 || _i == 3 ? 1 + epoch : _i == 1 ? WEIGHTS : saved);
		for (int i = 0; i < STEPS; i++) {
			if (_i == 3)
				batch();
			forward_backward();
			optimize();
		}
	}
	s = whole_steps(EPOCHS * STEPS);
	for (uint32_t i = 0; i < s->count; i++)
		loads += s->steps[i].sum[SP_STEP_SUM_load];
	ck_assert_uint_eq(loads, _i == 0 ? 0 : 3 * WAIT_NS);
	sum = account();
	/* The first one is ahead of the steps. */
	if (_i != 3)
		ck_part(sum, loader_wait, _i == 0 ? 3 * WAIT_NS : 0);
	ck_part(sum, checkpoint, _i == 0 ? 0 : _i == 2 ? 3 * (WAIT_NS + 10) : 3 * WAIT_NS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("saved_steps");
	TCase *c = tcase_create("saved_steps");

	tcase_add_checked_fixture(c, loop_begin, judged_trace_end);
	tcase_add_test(c, saves_before_the_training);
	tcase_add_loop_test(c, saves_in_each_step, 0, 2);
	tcase_add_loop_test(c, a_log_that_is_emptied, 0, 2);
	tcase_add_loop_test(c, a_save_by_rename, 0, 2);
	tcase_add_test(c, a_save_inside_of_a_forward);
	tcase_add_loop_test(c, loads_of_batches, 0, 2);
	tcase_add_loop_test(c, loads_between_epochs, 0, 4);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
