/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops whose loaders say which iterator they are asked for: a made trace, one tick is one ns.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/common/load.h"
#include "analyzer/training/training_account.h"
#include "tests/unit/common/suite.h"
#include "tests/unit/common/trace_maker.h"

enum { ADAM = 1, LABEL, ZERO };
enum { TRAINING = 0x1000, VALIDATION = 0x2000, OTHER = 0x3000 }; /* iterators */
enum {
	BEGIN_NS = 300,
	WAIT_NS = 1000,
	END_NS = 7,
	DROP_NS = 600, /* workers end where an iterator is dropped */
	FORWARD_NS = 3000,
	BACKWARD_NS = 900,
	STEP_NS = 400,
	SAVE_NS = 70,
	ZERO_NS = 20
};

static char folder[64];
static struct sp_maker m;
static struct sp_load load;

static void setup(void)
{
	sp_folder_make(folder);
	sp_maker_init(&m, 10, 10, 0);
	sp_maker_header(&m);
	sp_maker_define(&m, SP_DEFINE_NAME, ADAM, "Optimizer.step#Adam.step", 24);
	sp_maker_define(&m, SP_DEFINE_NAME, LABEL, "label", 5);
	sp_maker_define(&m, SP_DEFINE_NAME, ZERO, "Optimizer.zero_grad#Adam.zero_grad", 34);
}

static void teardown(void)
{
	sp_load_finish(&load);
	sp_folder_remove(folder);
}

static void span(uint32_t kind, uint32_t arg, uint64_t ns, int64_t value)
{
	uint64_t start = m.now_ticks;

	m.now_ticks += ns;
	sp_maker_around(&m, kind, arg, start, value);
}

static void begin(int64_t iterator)
{
	span(SP_EV_loader_begin, LABEL, BEGIN_NS, iterator);
}

static void batch(int64_t iterator)
{
	span(SP_EV_loader_next, LABEL, WAIT_NS, iterator);
}

static void end(int64_t iterator)
{
	span(SP_EV_loader_next, LABEL, END_NS, iterator | 1);
}

static void train(void)
{
	m.now_ticks += FORWARD_NS;
	span(SP_EV_python_call, LABEL, BACKWARD_NS, SP_PHASE_backward);
	span(SP_EV_torch_range, ADAM, STEP_NS, 0);
}

static const struct sp_steps *steps(void)
{
	sp_maker_put(&m, folder, "a.zst");
	sp_load_one(&load, folder);
	ck_assert_uint_eq(load.report.training.count, 1);
	return &load.report.training.trainers[0].steps;
}

#define ck_part(part, expected)                                                                    \
	ck_assert_uint_eq(sp_trainer_account(&load.report.training,                                \
					     &load.report.training.trainers[0])                    \
				  .ns[SP_ACCOUNT_##part],                                          \
			  (expected))

START_TEST(validation_that_is_left_early)
{
	const struct sp_steps *s;

	begin(TRAINING);
	for (int i = 0; i < 6; i++) {
		batch(TRAINING);
		train();
		if (i != 2)
			continue;
		begin(VALIDATION);
		for (int k = 0; k < 2; k++) {
			batch(VALIDATION);
			m.now_ticks += FORWARD_NS;
		}
	}
	s = steps();
	ck_assert_uint_eq(s->count, 6);
	ck_assert_uint_eq(s->epoch_count, 1);
	/* Where the last forward ends is not seen. */
	ck_part(validation, BEGIN_NS + 2 * WAIT_NS + FORWARD_NS);
	ck_part(other, FORWARD_NS);
	ck_part(loader_wait, BEGIN_NS + 6 * WAIT_NS);
	ck_part(forward, 6 * FORWARD_NS);
}
END_TEST

static void validate(int batches)
{
	begin(VALIDATION);
	for (int i = 0; i < batches; i++) {
		batch(VALIDATION);
		span(SP_EV_python_call, LABEL, FORWARD_NS, SP_PHASE_forward_no_grad);
	}
	end(VALIDATION);
}

/* Trains with calls of the model that are seen. */
static void epoch_of(int batches)
{
	begin(TRAINING);
	for (int i = 0; i < batches; i++) {
		batch(TRAINING);
		span(SP_EV_python_call, LABEL, FORWARD_NS, SP_PHASE_forward);
		span(SP_EV_python_call, LABEL, BACKWARD_NS, SP_PHASE_backward);
		span(SP_EV_torch_range, ADAM, STEP_NS, 0);
	}
	end(TRAINING);
}

/* Three epochs and a validation after the last one: the last of three, longer than two before it,
 * or the only one. */
START_TEST(validation_at_the_end)
{
	enum { USUAL = 2, LONG = 4, EPOCHS = 3, STEPS = 3 };
	const uint64_t lone_ns[] = {0, (LONG - USUAL) * (WAIT_NS + FORWARD_NS),
				    BEGIN_NS + USUAL * (WAIT_NS + FORWARD_NS) + END_NS};

	for (int epoch = 0; epoch < EPOCHS; epoch++) {
		begin(TRAINING);
		for (int i = 0; i < STEPS; i++) {
			batch(TRAINING);
			train();
		}
		end(TRAINING);
		if (epoch + 1 == EPOCHS || _i < 2)
			validate(epoch + 1 == EPOCHS && _i == 1 ? LONG : USUAL);
	}
	ck_assert_uint_eq(steps()->count, EPOCHS * STEPS);
	ck_assert_uint_eq(sp_training_lone_validation(&load.report.training), lone_ns[_i]);
}
END_TEST

/* A batch of test images now and then, for which the model is called with gradients that no
 * backward asks for; or, where _i, after each step, which may be a second batch that is trained on.
 */
START_TEST(pictures_now_and_then)
{
	enum { EVERY = 3, STEPS = 6, PICTURES = STEPS / EVERY };

	begin(TRAINING);
	for (int i = 0; i < STEPS; i++) {
		batch(TRAINING);
		span(SP_EV_python_call, LABEL, FORWARD_NS, SP_PHASE_forward);
		span(SP_EV_python_call, LABEL, BACKWARD_NS, SP_PHASE_backward);
		span(SP_EV_torch_range, ADAM, STEP_NS, 0);
		if ((i % EVERY && !_i) || i + 1 == STEPS)
			continue;
		begin(VALIDATION + 16 * i);
		batch(VALIDATION + 16 * i);
		span(SP_EV_python_call, LABEL, FORWARD_NS, SP_PHASE_forward);
		span(SP_EV_python_call, LABEL, FORWARD_NS, SP_PHASE_forward);
	}
	ck_assert_uint_eq(steps()->count, STEPS);
	if (_i) {
		ck_part(forward, (STEPS + 2 * (STEPS - 1)) * FORWARD_NS);
		return;
	}
	ck_part(forward, STEPS * FORWARD_NS);
	ck_part(validation, PICTURES * (BEGIN_NS + WAIT_NS + 2 * FORWARD_NS));
}
END_TEST

/* A pass ahead of training that takes the data's mean, or one that validates the first weights. */
START_TEST(a_pass_ahead_of_training)
{
	const struct sp_steps *s;

	begin(VALIDATION);
	for (int i = 0; i < 4; i++) {
		batch(VALIDATION);
		if (_i)
			span(SP_EV_python_call, LABEL, FORWARD_NS, SP_PHASE_forward_no_grad);
		else
			m.now_ticks += FORWARD_NS;
	}
	end(VALIDATION);
	m.now_ticks += SAVE_NS;
	begin(TRAINING);
	for (int i = 0; i < 4; i++) {
		batch(TRAINING);
		span(SP_EV_python_call, LABEL, FORWARD_NS, SP_PHASE_forward);
		span(SP_EV_torch_backward, ADAM, BACKWARD_NS, 0);
		span(SP_EV_torch_range, ADAM, STEP_NS, 0);
	}
	s = steps();
	ck_assert_uint_eq(s->count, 4);
	ck_assert_uint_eq(s->epoch_count, 1);
	ck_part(validation, _i ? BEGIN_NS + 4 * (WAIT_NS + FORWARD_NS) + END_NS : 0);
	ck_part(loader_wait, BEGIN_NS + 4 * WAIT_NS);
	if (!_i)
		ck_assert_uint_eq((uint64_t)(s->epochs[0].end_ns - s->epochs[0].start_ns),
				  BEGIN_NS + 4 * (WAIT_NS + FORWARD_NS + BACKWARD_NS + STEP_NS));
}
END_TEST

/* Neighbours of validation stay what they are: a pass that takes the data's mean, the making of
 * the model, code between two validations at the end, and between two of an epoch. */
START_TEST(neighbours_of_validation)
{
	enum { MADE_NS = 5000000, CODE_NS = 2000000, EPOCHS = 2, BATCHES = 3 };
	const uint64_t one_ns = BEGIN_NS + BATCHES * (WAIT_NS + FORWARD_NS) + END_NS;
	const struct sp_steps *s;

	begin(TRAINING);
	for (int i = 0; i < BATCHES; i++)
		batch(TRAINING);
	end(TRAINING);
	m.now_ticks += MADE_NS / 2;
	span(SP_EV_python_call, ZERO, FORWARD_NS, SP_PHASE_forward); /* the model tries a part */
	m.now_ticks += MADE_NS / 2;
	validate(BATCHES);
	for (int epoch = 0; epoch < EPOCHS; epoch++) {
		epoch_of(BATCHES);
		validate(BATCHES);
		m.now_ticks += CODE_NS;
		validate(BATCHES);
	}
	s = steps();
	ck_assert_uint_eq(s->count, EPOCHS * BATCHES);
	ck_part(validation, (1 + 2 * EPOCHS) * one_ns);
	ck_part(forward, EPOCHS * BATCHES * FORWARD_NS);
	ck_part(other, (EPOCHS - 1) * CODE_NS); /* after the last step no code counts */
	ck_part(evaluation, 0);
}
END_TEST

/* A pass between epochs that no model is called in is no validation: its batches are waited for. */
START_TEST(a_pass_that_reads)
{
	enum { EPOCHS = 2, BATCHES = 3 };

	for (int epoch = 0; epoch < EPOCHS; epoch++) {
		epoch_of(BATCHES);
		begin(OTHER);
		for (int i = 0; i < BATCHES; i++)
			batch(OTHER);
		end(OTHER);
	}
	ck_assert_uint_eq(steps()->count, EPOCHS * BATCHES);
	ck_part(validation, 0);
	ck_part(loader_wait, 2 * EPOCHS * (BEGIN_NS + BATCHES * WAIT_NS + END_NS));
}
END_TEST

/* A batch of validation after each step, by an iterator of its own. */
START_TEST(a_long_pass_among_short_ones)
{
	enum { STEPS = 150 };
	const struct sp_steps *s;

	for (int epoch = 0; epoch < 2; epoch++) {
		begin(TRAINING);
		for (int i = 0; i < STEPS; i++) {
			batch(TRAINING);
			train();
			begin(VALIDATION + 16 * (i % 3));
			batch(VALIDATION + 16 * (i % 3));
			span(SP_EV_python_call, LABEL, FORWARD_NS, SP_PHASE_forward_no_grad);
		}
		end(TRAINING);
	}
	s = steps();
	ck_assert_uint_eq(s->count, 2 * STEPS);
	ck_assert_uint_eq(s->epoch_count, 2);
}
END_TEST

/* Each epoch leaves both loaders early: their workers end where the iterators are dropped. */
START_TEST(workers_of_a_validation_that_is_left_early)
{
	enum { EPOCHS = 3, VALIDATION_NS = BEGIN_NS + 2 * (WAIT_NS + FORWARD_NS) + DROP_NS };

	for (int epoch = 0; epoch < EPOCHS; epoch++) {
		begin(TRAINING);
		for (int i = 0; i < 2; i++) {
			batch(TRAINING);
			train();
		}
		span(SP_EV_python_call, LABEL, DROP_NS, SP_PHASE_loader_end);
		begin(VALIDATION);
		for (int i = 0; i < 2; i++) {
			batch(VALIDATION);
			span(SP_EV_python_call, LABEL, FORWARD_NS, SP_PHASE_forward_no_grad);
		}
		span(SP_EV_python_call, LABEL, DROP_NS, SP_PHASE_loader_end);
	}
	ck_assert_uint_eq(steps()->count, EPOCHS * 2);
	ck_part(validation, EPOCHS * VALIDATION_NS);
	ck_part(loader_wait, EPOCHS * (BEGIN_NS + 2 * WAIT_NS + DROP_NS));
	ck_part(other, 0);
}
END_TEST

static void attack(int64_t iterator, bool clears)
{
	begin(iterator);
	for (int i = 0; i < 3; i++) {
		batch(iterator);
		if (clears)
			span(SP_EV_torch_range, ZERO, ZERO_NS, 0);
		m.now_ticks += FORWARD_NS;
		span(SP_EV_python_call, LABEL, BACKWARD_NS, SP_PHASE_backward);
	}
	end(iterator);
}

/*
 * Validation against attacks takes gradients, and so does a pass that weighs parameters: no step
 * uses them. They are cleared ahead of the next one, or the run ends.
 */
START_TEST(validation_with_gradients)
{
	enum { EPOCHS = 2, PASS_NS = BEGIN_NS + 3 * (WAIT_NS + FORWARD_NS + BACKWARD_NS) + END_NS };
	const struct sp_steps *s;

	for (int epoch = 0; epoch < EPOCHS; epoch++) {
		begin(TRAINING);
		for (int i = 0; i < 4; i++) {
			batch(TRAINING);
			span(SP_EV_torch_range, ZERO, ZERO_NS, 0);
			train();
		}
		end(TRAINING);
		attack(VALIDATION, false);
	}
	s = steps();
	ck_assert_uint_eq(s->count, EPOCHS * 4);
	ck_assert_uint_eq(s->epoch_count, EPOCHS);
	ck_part(validation, EPOCHS * PASS_NS);
	ck_part(backward, EPOCHS * 4 * BACKWARD_NS);
	ck_part(loader_wait, EPOCHS * (BEGIN_NS + 4 * WAIT_NS + END_NS));
}
END_TEST

/* Two batches make a step, and an epoch has five: the last one is in no step. The validation that
 * follows is in none either: without gradients, or where these are cleared after it or in it. */
START_TEST(a_batch_left_over_before_validation)
{
	enum { EPOCHS = 3, EVALUATION_NS = BEGIN_NS + 3 * (WAIT_NS + FORWARD_NS) + END_NS };

	for (int epoch = 0; epoch < EPOCHS; epoch++) {
		begin(TRAINING);
		for (int i = 0; i < 5; i++) {
			batch(TRAINING);
			m.now_ticks += FORWARD_NS;
			span(SP_EV_python_call, LABEL, BACKWARD_NS, SP_PHASE_backward);
			if (i % 2 == 0)
				continue;
			span(SP_EV_torch_range, ADAM, STEP_NS, 0);
			span(SP_EV_torch_range, ZERO, ZERO_NS, 0);
		}
		end(TRAINING);
		if (_i) {
			span(SP_EV_torch_range, ZERO, ZERO_NS, 0);
			attack(VALIDATION, _i == 2);
			if (_i == 1)
				span(SP_EV_torch_range, ZERO, ZERO_NS, 0);
			continue;
		}
		begin(VALIDATION);
		for (int i = 0; i < 3; i++) {
			batch(VALIDATION);
			m.now_ticks += FORWARD_NS;
		}
		end(VALIDATION);
	}
	ck_assert_uint_eq(steps()->count, EPOCHS * 2);
	ck_assert_uint_eq(load.report.training.trainers[0].steps.epoch_count, EPOCHS);
	ck_part(validation, EPOCHS * (EVALUATION_NS + (_i ? 3 * BACKWARD_NS : 0) +
				      (_i == 2 ? 3 * ZERO_NS : 0)));
	/* The batch that is left over after the last step counts nowhere. */
	ck_part(backward, (EPOCHS * 5 - 1) * BACKWARD_NS);
}
END_TEST

/* The gradients of whole passes accumulate, and one step uses them all. */
START_TEST(a_step_of_whole_passes)
{
	enum { STEPS = 4, PASSES = 2 };

	for (int i = 0; i < STEPS; i++) {
		span(SP_EV_torch_range, ZERO, ZERO_NS, 0);
		for (int k = 0; k < PASSES; k++)
			attack(TRAINING + 0x1000 * k, false);
		span(SP_EV_torch_range, ADAM, STEP_NS, 0);
	}
	ck_assert_uint_eq(steps()->count, STEPS);
	ck_part(validation, 0);
	ck_part(backward, STEPS * PASSES * 3 * BACKWARD_NS);
}
END_TEST

/* An iterator for each batch, as next(iter(loader)) makes it: its workers end before the step. */
START_TEST(an_iterator_for_each_step)
{
	const struct sp_steps *s;

	for (int i = 0; i < 5; i++) {
		begin(16 * (i + 1));
		batch(16 * (i + 1));
		span(SP_EV_python_call, LABEL, DROP_NS, SP_PHASE_loader_end);
		train();
	}
	s = steps();
	ck_assert_uint_eq(s->count, 5);
	ck_assert_uint_eq(s->trained_passes, 5);
	ck_assert_uint_eq(s->single_passes, 5);
	ck_part(loader_wait, 5 * (BEGIN_NS + WAIT_NS + DROP_NS));
	ck_part(other, 0);
}
END_TEST

/* Two tasks take turns, a step each, and each loader begins again when it is over. */
START_TEST(loaders_in_turns)
{
	const int64_t task[2] = {TRAINING, OTHER};
	const struct sp_steps *s;

	for (int i = 0; i < 24; i++) {
		if (i >= 8 && i % 8 < 2)
			end(task[i % 2]);
		if (i % 8 < 2)
			begin(task[i % 2]);
		batch(task[i % 2]);
		train();
	}
	s = steps();
	ck_assert_uint_eq(s->count, 24);
	ck_assert_uint_eq(s->epoch_count, 3);
	ck_assert_uint_eq(s->steps[7].epoch, 0);
	ck_assert_uint_eq(s->steps[8].epoch, 1);
}
END_TEST

/* After each epoch some steps take batches of a loader that never ends. */
START_TEST(steps_of_an_endless_loader)
{
	const struct sp_steps *s;

	begin(OTHER);
	for (int epoch = 0; epoch < 3; epoch++) {
		begin(TRAINING);
		for (int i = 0; i < 8; i++) {
			batch(TRAINING);
			train();
		}
		end(TRAINING);
		for (int i = 0; i < 2; i++) {
			batch(OTHER);
			train();
		}
	}
	s = steps();
	ck_assert_uint_eq(s->count, 30);
	ck_assert_uint_eq(s->epoch_count, 3);
}
END_TEST

/* The next batch is fetched before this one is trained on. */
START_TEST(batches_ahead)
{
	const struct sp_steps *s;

	for (int epoch = 0; epoch < 2; epoch++) {
		begin(TRAINING);
		batch(TRAINING);
		for (int i = 0; i < 2; i++) {
			batch(TRAINING);
			train();
		}
		end(TRAINING);
		train();
	}
	s = steps();
	ck_assert_uint_eq(s->count, 6);
	ck_assert_uint_eq(s->epoch_count, 2);
	ck_assert_uint_eq(s->epochs[1].steps, 3);
	ck_part(validation, 0);
	/* The batch ahead of the first is the first step's, too. */
	ck_part(loader_wait, 2 * (BEGIN_NS + 3 * WAIT_NS + END_NS));
}
END_TEST

/* Two backwards a step, whose batches are taken before; a checkpoint after each epoch, the last
 * one too. */
START_TEST(epochs_from_loader_to_loader)
{
	const uint64_t step_ns = 2 * WAIT_NS + 2 * (FORWARD_NS + BACKWARD_NS) + STEP_NS;
	const struct sp_steps *s;

	for (int epoch = 0; epoch < 2; epoch++) {
		begin(TRAINING);
		for (int i = 0; i < 2; i++) {
			batch(TRAINING);
			batch(TRAINING);
			m.now_ticks += FORWARD_NS;
			span(SP_EV_python_call, LABEL, BACKWARD_NS, SP_PHASE_backward);
			train();
		}
		end(TRAINING);
		span(SP_EV_python_call, LABEL, SAVE_NS, SP_PHASE_checkpoint_save);
	}
	s = steps();
	ck_assert_uint_eq(s->count, 4);
	ck_assert_uint_eq(s->epoch_count, 2);
	for (int epoch = 0; epoch < 2; epoch++) {
		const struct sp_epoch *e = &s->epochs[epoch];

		ck_assert_uint_eq((uint64_t)(e->end_ns - e->start_ns),
				  BEGIN_NS + 2 * step_ns + END_NS + SAVE_NS);
		ck_assert_uint_eq(e->training_ns, BEGIN_NS + 2 * step_ns + END_NS);
		ck_assert_uint_eq(e->wait_ns, BEGIN_NS + 4 * WAIT_NS + END_NS);
		ck_assert_uint_eq(e->checkpoint_ns, SAVE_NS);
	}
}
END_TEST

/* Each epoch validates before it trains: the loader's last call and the checkpoint are of the epoch
 * that they end. */
START_TEST(epochs_from_validation_to_checkpoint)
{
	const uint64_t validation_ns = BEGIN_NS + 2 * (WAIT_NS + FORWARD_NS) + END_NS;
	const uint64_t training_ns =
		BEGIN_NS + 3 * (WAIT_NS + FORWARD_NS + BACKWARD_NS + STEP_NS) + END_NS;
	const struct sp_steps *s;

	for (int epoch = 0; epoch < 3; epoch++) {
		begin(VALIDATION + epoch * 16);
		for (int i = 0; i < 2; i++) {
			batch(VALIDATION + epoch * 16);
			m.now_ticks += FORWARD_NS;
		}
		end(VALIDATION + epoch * 16);
		begin(TRAINING);
		for (int i = 0; i < 3; i++) {
			batch(TRAINING);
			train();
		}
		end(TRAINING);
		span(SP_EV_python_call, LABEL, SAVE_NS, SP_PHASE_checkpoint_save);
	}
	s = steps();
	ck_assert_uint_eq(s->count, 9);
	ck_assert_uint_eq(s->epoch_count, 3);
	for (int epoch = 0; epoch < 3; epoch++) {
		const struct sp_epoch *e = &s->epochs[epoch];

		ck_assert_uint_eq((uint64_t)(e->end_ns - e->start_ns),
				  validation_ns + training_ns + SAVE_NS);
		ck_assert_uint_eq(e->validation_ns, validation_ns);
		ck_assert_uint_eq(e->validation_wait_ns, BEGIN_NS + 2 * WAIT_NS + END_NS);
		ck_assert_uint_eq(e->training_ns, training_ns);
		ck_assert_uint_eq(e->checkpoint_ns, SAVE_NS);
		ck_assert_uint_eq(e->wait_ns, BEGIN_NS + 3 * WAIT_NS + END_NS);
	}
}
END_TEST

/* No loader is asked after the last step. */
START_TEST(checkpoint_at_the_end)
{
	const struct sp_steps *s;

	begin(TRAINING);
	batch(TRAINING);
	train();
	span(SP_EV_python_call, LABEL, SAVE_NS, SP_PHASE_checkpoint_save);
	s = steps();
	ck_assert_uint_eq(s->count, 1);
	ck_assert_uint_eq(s->epochs[0].checkpoint_ns, SAVE_NS);
	ck_part(checkpoint, SAVE_NS);
}
END_TEST

/* The run is stopped in a step whose second batch is the first one of a pass (and, _i, whose first
 * one is), in the call of the model: no row has that step. */
START_TEST(stopped_within_a_step)
{
	const struct sp_steps *s;

	begin(TRAINING);
	for (int i = 0; i < 4; i++) {
		batch(TRAINING);
		train();
	}
	if (_i == 0) {
		batch(TRAINING);
		span(SP_EV_python_call, LABEL, FORWARD_NS, SP_PHASE_forward);
		span(SP_EV_torch_backward, ADAM, BACKWARD_NS, 0);
	}
	end(TRAINING);
	begin(OTHER);
	batch(OTHER);
	span(SP_EV_python_call, LABEL, FORWARD_NS, SP_PHASE_forward);
	m.now_ticks += SAVE_NS;
	span(SP_EV_python_call, LABEL, DROP_NS, SP_PHASE_loader_end);
	s = steps();
	ck_assert_uint_eq(s->count, 4);
	ck_part(validation, 0);
	ck_part(evaluation, 0);
}
END_TEST

/* A model is traced when it is first called, backwards of made gradients included: none of it is
 * the step's. */
START_TEST(model_is_compiled)
{
	uint64_t start;

	begin(TRAINING);
	batch(TRAINING);
	start = m.now_ticks;
	span(SP_EV_python_call, LABEL, BACKWARD_NS, SP_PHASE_backward);
	m.now_ticks += FORWARD_NS;
	sp_maker_around(&m, SP_EV_python_call, LABEL, start, SP_PHASE_compile);
	train();
	steps();
	ck_part(compile, BACKWARD_NS + FORWARD_NS);
	ck_part(forward, FORWARD_NS);
	ck_part(backward, BACKWARD_NS);
}
END_TEST

/* The second loader is longer, and goes on where it was. */
START_TEST(loaders_side_by_side)
{
	const struct sp_steps *s;

	begin(OTHER);
	for (int epoch = 0; epoch < 3; epoch++) {
		begin(TRAINING);
		for (int i = 0; i < 4; i++) {
			batch(TRAINING);
			batch(OTHER);
			train();
		}
		end(TRAINING);
	}
	s = steps();
	ck_assert_uint_eq(s->count, 12);
	ck_assert_uint_eq(s->epoch_count, 3);
	ck_assert_uint_eq(s->steps[4].epoch, 1);
	ck_part(validation, 0);
}
END_TEST

/* A trainer that knows the number of batches never asks the longer loader for one more. */
START_TEST(loaders_side_by_side_without_an_end)
{
	enum { STEPS = 6, SHORT = 2 };
	const struct sp_steps *s;

	for (int epoch = 0; epoch < 2; epoch++) {
		begin(TRAINING);
		begin(OTHER);
		for (int i = 0; i < STEPS; i++) {
			batch(TRAINING);
			if (i && i % SHORT == 0) {
				end(OTHER);
				begin(OTHER);
			}
			batch(OTHER);
			train();
		}
	}
	s = steps();
	ck_assert_uint_eq(s->count, 2 * STEPS);
	ck_assert_uint_eq(s->epoch_count, 2);
}
END_TEST

/* Nothing else loads: what is validated is not trained on. */
START_TEST(validation_has_the_only_loader)
{
	const struct sp_steps *s;

	for (int i = 0; i < 4; i++) {
		begin(VALIDATION);
		batch(VALIDATION);
		m.now_ticks += FORWARD_NS;
		end(VALIDATION);
		train();
		train();
	}
	s = steps();
	ck_assert_uint_eq(s->count, 8);
	ck_assert_uint_eq(s->epoch_count, 1);
	ck_part(validation, 4 * (BEGIN_NS + WAIT_NS + FORWARD_NS + END_NS));
	ck_part(forward, 8 * FORWARD_NS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("passes");
	TCase *c = tcase_create("passes");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, validation_that_is_left_early);
	tcase_add_loop_test(c, validation_at_the_end, 0, 3);
	tcase_add_loop_test(c, a_pass_ahead_of_training, 0, 2);
	tcase_add_loop_test(c, pictures_now_and_then, 0, 2);
	tcase_add_test(c, a_long_pass_among_short_ones);
	tcase_add_test(c, workers_of_a_validation_that_is_left_early);
	tcase_add_test(c, validation_with_gradients);
	tcase_add_loop_test(c, a_batch_left_over_before_validation, 0, 3);
	tcase_add_test(c, a_step_of_whole_passes);
	tcase_add_test(c, neighbours_of_validation);
	tcase_add_test(c, a_pass_that_reads);
	tcase_add_test(c, an_iterator_for_each_step);
	tcase_add_test(c, loaders_in_turns);
	tcase_add_test(c, steps_of_an_endless_loader);
	tcase_add_test(c, batches_ahead);
	tcase_add_test(c, epochs_from_loader_to_loader);
	tcase_add_test(c, epochs_from_validation_to_checkpoint);
	tcase_add_test(c, checkpoint_at_the_end);
	tcase_add_loop_test(c, stopped_within_a_step, 0, 2);
	tcase_add_test(c, model_is_compiled);
	tcase_add_test(c, loaders_side_by_side);
	tcase_add_test(c, loaders_side_by_side_without_an_end);
	tcase_add_test(c, validation_has_the_only_loader);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
