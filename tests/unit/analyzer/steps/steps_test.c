/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops of training as made traces, whose account is known to the ns: one tick is one ns.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/common/load.h"
#include "analyzer/training/training_account.h"
#include "tests/unit/common/suite.h"
#include "tests/unit/common/trace_maker.h"

enum { LOADER = 1, ZERO, ADAM, LABEL };

enum {
	WAIT_NS = 1000,
	ZERO_NS = 20,
	FORWARD_NS = 3000,
	NODE_NS = 700,
	BACKWARD_NS = 2 * NODE_NS + 100, /* and a gap between two nodes */
	OPTIMIZER_NS = 400,
	AFTER_NS = 50, /* from a step's end to the loader */
	LAST_NS = 7,   /* the loader's call that finds no more */
	FORK_NS = 90,
	SAVE_NS = 5000,
};

static char folder[64];
static struct sp_maker m;
static struct sp_load load;

static void name(uint32_t id, const char *text)
{
	sp_maker_define(&m, SP_DEFINE_NAME, id, text, strlen(text));
}

static void setup(void)
{
	sp_folder_make(folder);
	sp_maker_init(&m, 10, 10, 0);
	sp_maker_header(&m);
	name(LOADER, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
	name(ZERO, "Optimizer.zero_grad#Adam.zero_grad");
	name(ADAM, "Optimizer.step#Adam.step");
	name(LABEL, "my label");
}

static void teardown(void)
{
	sp_load_finish(&load);
	sp_folder_remove(folder);
}

static void work(uint64_t ns)
{
	m.now_ticks += ns;
}

static void span(uint32_t kind, uint32_t arg, uint64_t ns, int64_t value)
{
	uint64_t start = m.now_ticks;

	work(ns);
	sp_maker_around(&m, kind, arg, start, value);
}

static void batch(void)
{
	span(SP_EV_torch_range, LOADER, WAIT_NS, 0);
}

static void last_batch(void)
{
	span(SP_EV_torch_range, LOADER, LAST_NS, 0);
}

static void zero_grad(void)
{
	span(SP_EV_torch_range, ZERO, ZERO_NS, 0);
}

static void backward(void)
{
	uint64_t start = m.now_ticks;

	span(SP_EV_torch_backward, LABEL, NODE_NS, 0);
	work(100);
	span(SP_EV_torch_backward, LABEL, NODE_NS, 0);
	sp_maker_around(&m, SP_EV_python_call, LABEL, start, SP_PHASE_backward);
}

static void optimize(void)
{
	span(SP_EV_torch_range, ADAM, OPTIMIZER_NS, 0);
}

static void forward_backward(void)
{
	work(FORWARD_NS);
	backward();
}

static void train_batch(void)
{
	batch();
	zero_grad();
	forward_backward();
	optimize();
	work(AFTER_NS);
}

static const struct sp_steps *steps(void)
{
	sp_maker_put(&m, folder, "a.zst");
	sp_load_one(&load, folder);
	ck_assert_uint_eq(load.report.training.count, 1);
	return &load.report.training.trainers[0].steps;
}

static struct sp_account account(void)
{
	return sp_trainer_account(&load.report.training, &load.report.training.trainers[0]);
}

/* Before the first step and after the last one. */
static uint64_t known_at_ends(const struct sp_steps *s)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < s->pause_count; i++)
		if (!s->pauses[i].step || s->pauses[i].step == s->count)
			ns += s->pauses[i].account.ns[SP_ACCOUNT_loader_wait] +
			      s->pauses[i].account.ns[SP_ACCOUNT_validation] +
			      s->pauses[i].account.ns[SP_ACCOUNT_checkpoint] +
			      s->pauses[i].account.ns[SP_ACCOUNT_evaluation];
	return ns;
}

static void check_whole(const struct sp_steps *s)
{
	struct sp_account sum = account();

	ck_assert_uint_eq(sp_account_total(&sum),
			  (uint64_t)(s->steps[s->count - 1].end_ns - s->steps[0].start_ns) +
				  known_at_ends(s));
	for (uint32_t i = 0; i < s->count; i++)
		ck_assert_uint_eq(sp_account_total(&s->steps[i].account),
				  (uint64_t)(s->steps[i].end_ns - s->steps[i].start_ns));
}

/* The steps of the made trace: `count` of them, each whole. */
static const struct sp_steps *whole_steps(uint32_t count)
{
	const struct sp_steps *s = steps();

	ck_assert_uint_eq(s->count, count);
	check_whole(s);
	return s;
}

#define ck_part(sum, part, expected) ck_assert_uint_eq((sum).ns[SP_ACCOUNT_##part], (expected))

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

static void validate(int batches)
{
	for (int i = 0; i < batches; i++) {
		batch();
		work(FORWARD_NS);
	}
	last_batch();
}

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

/* Data that are cached and weights of the start are no checkpoint; weights that are loaded are. */
START_TEST(saves_before_the_training)
{
	struct sp_account sum;

	for (int i = 0; i < 3; i++)
		span(SP_EV_python_call, LABEL, SAVE_NS, SP_PHASE_checkpoint_save);
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

/* A constructor tries a part of the model; the model itself, called so, is evaluated. */
START_TEST(a_call_ahead_of_the_loader)
{
	const uint32_t part = ADAM; /* any other name */
	const struct sp_steps *s;
	struct sp_account sum;

	span(SP_EV_python_call, _i ? LABEL : part, 9 * FORWARD_NS, SP_PHASE_forward_no_grad);
	work(5000);
	span(SP_EV_loader_begin, 0, 10, 8);
	for (int i = 0; i < 6; i++) {
		span(SP_EV_loader_next, 0, WAIT_NS, 8);
		span(SP_EV_python_call, LABEL, FORWARD_NS, SP_PHASE_forward);
		backward();
		optimize();
	}
	s = steps();
	ck_assert_uint_eq(s->count, 6);
	sum = account();
	ck_part(sum, evaluation, _i ? 9 * FORWARD_NS : 0);
	ck_part(sum, other, 0);
	ck_part(sum, forward, 6 * FORWARD_NS);
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

START_TEST(validation_after_each_epoch)
{
	enum { VALIDATION_NS = 4 * (WAIT_NS + FORWARD_NS) + LAST_NS };
	const struct sp_steps *s;
	struct sp_account sum;

	for (int epoch = 0; epoch < 3; epoch++) {
		for (int i = 0; i < 6; i++)
			train_batch();
		last_batch();
		validate(4);
		span(SP_EV_python_call, LABEL, SAVE_NS, SP_PHASE_checkpoint_save);
	}
	s = steps();
	ck_assert_uint_eq(s->count, 18);
	ck_assert_uint_eq(s->epoch_count, 3);
	check_whole(s);
	sum = account();
	ck_part(sum, loader_wait, 18 * WAIT_NS + 3 * LAST_NS);
	ck_part(sum, validation, 3 * VALIDATION_NS);
	ck_part(sum, checkpoint, 3 * SAVE_NS);
	ck_part(sum, forward, 18 * FORWARD_NS);
	ck_part(sum, other, 17 * AFTER_NS);
	for (int epoch = 0; epoch < 3; epoch++) {
		ck_assert_uint_eq(s->epochs[epoch].steps, 6);
		ck_assert_uint_eq(s->epochs[epoch].validation_ns, VALIDATION_NS);
	}
	ck_assert_uint_eq(s->steps[6].epoch, 1);
	ck_assert_int_eq(s->steps[6].kind, SP_STEP_EPOCH_FIRST);
}
END_TEST

/* The loader that is validated with forks its workers; the one that is trained with goes on. */
START_TEST(validation_within_an_epoch)
{
	const struct sp_steps *s;
	struct sp_account sum;

	for (int i = 0; i < 12; i++) {
		train_batch();
		if (i == 3 || i == 7) {
			span(SP_EV_fork, 0, FORK_NS, 99);
			validate(2);
		}
	}
	s = steps();
	ck_assert_uint_eq(s->count, 12);
	ck_assert_uint_eq(s->epoch_count, 1);
	check_whole(s);
	sum = account();
	ck_part(sum, validation, 2 * (2 * (WAIT_NS + FORWARD_NS) + LAST_NS));
	ck_part(sum, loader_wait, 12 * WAIT_NS);
}
END_TEST

START_TEST(validation_before_each_epoch)
{
	const struct sp_steps *s;

	for (int epoch = 0; epoch < 2; epoch++) {
		validate(2);
		for (int i = 0; i < 5; i++)
			train_batch();
		last_batch();
	}
	s = steps();
	ck_assert_uint_eq(s->count, 10);
	ck_assert_uint_eq(s->epoch_count, 2);
	check_whole(s);
	for (int epoch = 0; epoch < 2; epoch++)
		ck_assert_uint_eq(s->epochs[epoch].validation_ns,
				  2 * (WAIT_NS + FORWARD_NS) + LAST_NS);
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

#define REGULAR ((uint32_t)SP_FILE_REGULAR << SP_FILE_TYPE_SHIFT)

static void load_file(uint32_t file)
{
	uint64_t start = m.now_ticks;

	span(SP_EV_read, REGULAR | file, WAIT_NS, 4096);
	sp_maker_around(&m, SP_EV_python_call, LABEL, start, SP_PHASE_checkpoint_load);
}

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
		loads += s->steps[i].load_ns;
	ck_assert_uint_eq(loads, _i == 0 ? 0 : 3 * WAIT_NS);
	sum = account();
	/* The first one is ahead of the steps. */
	if (_i != 3)
		ck_part(sum, loader_wait, _i == 0 ? 3 * WAIT_NS : 0);
	ck_part(sum, checkpoint, _i == 0 ? 0 : _i == 2 ? 3 * (WAIT_NS + 10) : 3 * WAIT_NS);
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

/* A scaler skips the optimizer where gradients are infinite: the iteration is a step all the same.
 */
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

static void call_model(enum sp_phase phase)
{
	span(SP_EV_python_call, LABEL, FORWARD_NS, phase);
}

/* The model that trains acts or is tested; another one without gradients is a teacher. */
START_TEST(a_learner_without_gradients)
{
	struct sp_account sum;

	for (int i = 0; i < 5; i++) {
		call_model(SP_PHASE_forward_learner);
		call_model(SP_PHASE_forward_no_grad);
		call_model(SP_PHASE_forward);
		backward();
		optimize();
	}
	check_whole(steps());
	sum = account();
	ck_part(sum, evaluation, 6 * FORWARD_NS); /* the first step shows a teacher */
	ck_part(sum, forward, 9 * FORWARD_NS);
}
END_TEST

/* Text is generated by the model that learns from it; a teacher sees it once. */
START_TEST(a_batch_that_the_model_makes)
{
	const struct sp_steps *s;
	struct sp_account sum;

	for (int i = 0; i < 5; i++) {
		batch();
		for (int word = 0; word < 8; word++)
			call_model(SP_PHASE_forward_learner);
		call_model(SP_PHASE_forward_no_grad);
		call_model(SP_PHASE_forward);
		backward();
		optimize();
	}
	s = steps();
	check_whole(s);
	sum = account();
	ck_part(sum, evaluation, 5 * 8 * FORWARD_NS);
	ck_part(sum, forward, 5 * 2 * FORWARD_NS);
	ck_assert_int_eq(s->sources[SP_ACCOUNT_forward], SP_FROM_RESIDUAL);
}
END_TEST

/* A solver calls the model without gradients, and backward calls it again; a test follows. */
START_TEST(a_forward_without_gradients)
{
	const struct sp_steps *s;
	struct sp_account sum;

	for (int i = 0; i < 5; i++) {
		batch();
		for (int call = 0; call < 8; call++)
			call_model(SP_PHASE_forward_learner);
		backward();
		optimize();
		call_model(SP_PHASE_forward_learner);
	}
	s = steps();
	check_whole(s);
	sum = account();
	ck_part(sum, forward, 5 * 8 * FORWARD_NS);
	ck_part(sum, evaluation, 5 * FORWARD_NS);
	ck_assert_int_eq(s->sources[SP_ACCOUNT_forward], SP_FROM_RESIDUAL);
}
END_TEST

/* Evolution: gradients from the losses of changed weights. */
START_TEST(no_backward_at_all)
{
	struct sp_account sum;

	for (int i = 0; i < 5; i++) {
		batch();
		call_model(SP_PHASE_forward_no_grad);
		call_model(SP_PHASE_forward_no_grad);
		optimize();
	}
	check_whole(steps());
	sum = account();
	ck_part(sum, evaluation, 0);
	ck_part(sum, forward, 5 * 2 * FORWARD_NS);
}
END_TEST

/* A learner with two optimizers: the target network serves one of them. */
START_TEST(a_target_of_one_optimizer)
{
	const struct sp_steps *s;
	struct sp_account sum;

	for (int i = 0; i < 5; i++) {
		call_model(SP_PHASE_forward_no_grad);
		call_model(SP_PHASE_forward);
		backward();
		optimize();
		call_model(SP_PHASE_forward);
		backward();
		optimize();
	}
	s = steps();
	check_whole(s);
	sum = account();
	ck_part(sum, evaluation, FORWARD_NS); /* the first step shows a target */
	ck_part(sum, forward, 14 * FORWARD_NS);
	ck_assert_int_eq(s->sources[SP_ACCOUNT_forward], SP_FROM_RESIDUAL);
	ck_assert(!s->is_forward_left_over);
}
END_TEST

/* A gradient that is part of the loss: what follows it leads to no other call of the model. */
START_TEST(a_penalty_of_the_gradient)
{
	struct sp_account sum;

	for (int i = 0; i < 5; i++) {
		batch();
		call_model(SP_PHASE_forward);
		backward();
		work(70);
		backward();
		optimize();
	}
	check_whole(steps());
	sum = account();
	ck_part(sum, forward, 5 * FORWARD_NS);
	ck_part(sum, loss, 5 * 70);
}
END_TEST

static void whole_step(void)
{
	uint64_t start = m.now_ticks;

	work(40);
	backward();
	work(30);
	sp_maker_around(&m, SP_EV_python_call, LABEL, start, SP_PHASE_update);
	work(20);
}

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
	ck_assert_uint_eq(s->steps[2].awaited_ns, WAIT_NS);
	sum = account();
	ck_part(sum, loader_wait, 5 * WAIT_NS);
	ck_part(sum, forward, 5 * FORWARD_NS);
	ck_part(sum, other, 5 * 2 * WAIT_NS);
}
END_TEST

enum { SERVER = SP_FILE_NET << SP_FILE_TYPE_SHIFT };

static void ask(int64_t sent, int64_t answered)
{
	span(SP_EV_sendto, SERVER, NODE_NS, sent);
	work(AFTER_NS);
	span(SP_EV_poll, 0, WAIT_NS, 1);
	span(SP_EV_recv, SERVER, NODE_NS, answered);
}

enum { ASK_NS = 2 * NODE_NS + AFTER_NS + WAIT_NS };

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
	ck_assert_uint_eq(s->steps[2].message_ns, 2 * (ASK_NS - AFTER_NS));
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
	ck_assert_uint_eq(s->steps[2].message_ns, ASK_NS - AFTER_NS);
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

/* A rollout waits for its environments after each call; a batch in a queue comes ahead of one. */
START_TEST(environments_that_are_waited_for)
{
	const struct sp_steps *s;

	for (int i = 0; i < 5; i++) {
		for (int k = 0; k < 3; k++) {
			if (i == 3)
				span(SP_EV_sem_wait, 0, WAIT_NS, 0);
			call_model(SP_PHASE_forward_learner);
			if (i != 3)
				span(SP_EV_sem_wait, 0, WAIT_NS, 0);
		}
		if (i == 3)
			span(SP_EV_sem_wait, 0, WAIT_NS, 0);
		call_model(SP_PHASE_forward);
		backward();
		optimize();
	}
	s = steps();
	check_whole(s);
	ck_part(s->steps[2].account, evaluation, 3 * (FORWARD_NS + WAIT_NS));
	ck_part(s->steps[2].account, loader_wait, 0);
	ck_part(s->steps[3].account, evaluation, 3 * FORWARD_NS + 2 * WAIT_NS);
	ck_part(s->steps[3].account, loader_wait, 2 * WAIT_NS);
}
END_TEST

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

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, a_plain_loop);
	tcase_add_test(c, a_call_that_makes_the_whole_step);
	tcase_add_test(c, whole_steps_of_a_loader_and_of_none);
	tcase_add_test(c, rounds_of_boosting_beside_steps);
	tcase_add_test(c, rounds_of_boosting_with_evaluation);
	tcase_add_test(c, backward_of_nodes_alone);
	tcase_add_test(c, gradients_that_accumulate);
	tcase_add_loop_test(c, compiled_calls_beside_an_optimizer, 0, 2);
	tcase_add_test(c, saves_before_the_training);
	tcase_add_loop_test(c, saves_in_each_step, 0, 2);
	tcase_add_loop_test(c, a_call_ahead_of_the_loader, 0, 2);
	tcase_add_test(c, a_save_inside_of_a_forward);
	tcase_add_test(c, validation_after_each_epoch);
	tcase_add_test(c, validation_within_an_epoch);
	tcase_add_test(c, validation_before_each_epoch);
	tcase_add_test(c, epochs_without_validation);
	tcase_add_test(c, two_loaders);
	tcase_add_test(c, no_loader);
	tcase_add_test(c, several_optimizers);
	tcase_add_test(c, a_stage_without_a_loader);
	tcase_add_loop_test(c, loads_of_batches, 0, 2);
	tcase_add_loop_test(c, loads_between_epochs, 0, 4);
	tcase_add_test(c, several_optimizers_of_a_sample);
	tcase_add_test(c, optimizers_in_backward);
	tcase_add_test(c, two_optimizers_after_one_backward);
	tcase_add_test(c, an_optimizer_with_a_closure);
	tcase_add_test(c, methods_of_the_optimizer);
	tcase_add_test(c, a_scaler_that_skips);
	tcase_add_test(c, a_wrapper_around_the_optimizer);
	tcase_add_test(c, a_learner_without_gradients);
	tcase_add_test(c, a_batch_that_the_model_makes);
	tcase_add_test(c, a_forward_without_gradients);
	tcase_add_test(c, no_backward_at_all);
	tcase_add_test(c, a_target_of_one_optimizer);
	tcase_add_test(c, a_penalty_of_the_gradient);
	tcase_add_test(c, batches_in_shared_memory);
	tcase_add_test(c, waits_without_a_loader);
	tcase_add_test(c, messages_to_a_server);
	tcase_add_test(c, messages_beside_a_loader);
	tcase_add_test(c, batches_of_a_server);
	tcase_add_test(c, waits_on_a_condition);
	tcase_add_test(c, environments_that_are_waited_for);
	tcase_add_test(c, calls_of_cuda);
	tcase_add_test(c, steps_that_are_chosen);
	tcase_add_test(c, pictures_from_batch_to_batch);
	tcase_add_test(c, a_warm_up_ahead_of_a_capture_is_no_step);
	tcase_add_test(c, a_capture_behind_a_step_stays_in_the_next);
	tcase_add_test(c, no_optimizer);
	tcase_add_test(c, no_optimizer_and_a_model);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
