/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The waits of a training thread for a checkpoint: those in which another thread of its
 * process ended one that it had been saving for most of the wait.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/steps/async_checkpoint.h"
#include "analyzer/training/training_account.h"
#include "tests/unit/common/load.h"
#include "tests/unit/common/suite.h"
#include "tests/unit/common/trace_maker.h"

enum { SGD = 1, SAVE, BACKWARD, LOADER, FETCH };

enum { STEP_NS = 20000, STEPS = 3, BACKWARD_NS = 1000, OPTIMIZER_NS = 500 };

#define START_TICKS UINT64_C(3000000000000)

struct interval {
	int64_t from_ns, to_ns;
	bool held;
};

static const struct interval intervals[] = {
	{100, 200, true},   {50, 200, true},   {0, 200, true},	  {0, 199, false},
	{200, 300, false},  {150, 250, true},  {150, 252, false}, {250, 350, true},
	{-900, 900, false}, {120, 130, false},
};

START_TEST(a_wait)
{
	struct sp_process_call list[] = {{100, 200, 0}, {210, 320, 0}};
	struct sp_process_calls savings = {.list = list, .count = 2};
	const struct interval *i = &intervals[_i];

	ck_assert_int_eq(sp_async_checkpoints_held(&savings, i->from_ns, i->to_ns), i->held);
}
END_TEST

static void name(struct sp_maker *m, uint32_t id)
{
	static const char *const names[] = {
		[SGD] = "Optimizer.step#SGD.step",
		[SAVE] = "torch.save",
		[BACKWARD] = "backward",
		[LOADER] = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
		[FETCH] = "DataLoader fetch",
	};

	sp_maker_define(m, SP_DEFINE_NAME, id, names[id], strlen(names[id]));
}

/* parent: NULL: not known. */
static void begin(struct sp_maker *m, uint32_t pid, uint32_t tid, const struct sp_maker *parent)
{
	sp_maker_init(m, pid, tid, 0);
	if (parent) {
		m->header.ppid = parent->header.pid;
		m->header.parent_start_ns = parent->header.image_start_ns;
	}
	sp_maker_header(m);
}

/* Waits of 3000 ns for a batch (of a loader: in its call) and of 5000 ns for the checkpoint that
 * another thread saves. */
static void make_step(struct sp_maker *trainer, struct sp_maker *saver, uint64_t at,
		      bool has_loader, enum sp_event wait)
{
	sp_maker_span(saver, SP_EV_python_call, SAVE, at + 2000, at + 8900,
		      SP_PHASE_checkpoint_save);
	sp_maker_span(trainer, SP_EV_sem_wait, 0, at, at + 3000, 0);
	if (has_loader)
		sp_maker_span(trainer, SP_EV_torch_range, LOADER, at, at + 3000, 0);
	sp_maker_span(trainer, wait, 0, at + 4000, at + 9000, 0);
	sp_maker_span(trainer, SP_EV_python_call, BACKWARD, at + 10000, at + 10000 + BACKWARD_NS,
		      SP_PHASE_backward);
	sp_maker_span(trainer, SP_EV_torch_range, SGD, at + STEP_NS - OPTIMIZER_NS, at + STEP_NS,
		      0);
}

struct saving {
	uint32_t pid; /* of the saving thread; the trainer's is 10 */
	bool has_loader, is_child, fetches;
	bool is_grandchild, is_below_trainer; /* below a shell, or a process that trains, too */
	bool has_lock;			      /* the trainer waits for the interpreter's lock */
};

static uint64_t beside_ns; /* of the last account */

static struct sp_account account(struct saving saving)
{
	struct sp_maker trainer, saver, between;
	struct sp_account sum;
	struct sp_load load;
	char folder[64];

	sp_folder_make(folder);
	begin(&trainer, 10, 10, NULL);
	for (uint32_t id = SGD; id <= LOADER; id++)
		name(&trainer, id);
	begin(&between, 12, 12, &trainer);
	if (saving.is_below_trainer)
		name(&between, SGD);
	sp_maker_event(&between, SP_EV_sem_wait, 0, 1000, 0);
	begin(&saver, saving.pid, 20,
	      saving.is_child	     ? &trainer
	      : saving.is_grandchild ? &between
				     : NULL);
	name(&saver, SAVE);
	if (saving.fetches)
		name(&saver, FETCH);
	sp_maker_span(&trainer, SP_EV_torch_range, SGD, START_TICKS - OPTIMIZER_NS, START_TICKS, 0);
	for (uint64_t i = 0; i < STEPS; i++)
		make_step(&trainer, &saver, START_TICKS + i * STEP_NS, saving.has_loader,
			  saving.has_lock ? SP_EV_cond_wait : SP_EV_sem_wait);
	sp_maker_put(&trainer, folder, "trainer.zst");
	sp_maker_put(&saver, folder, "saver.zst");
	if (saving.is_grandchild)
		sp_maker_put(&between, folder, "between.zst");
	else
		sp_maker_finish(&between);
	sp_load_one(&load, folder);
	ck_assert_uint_eq(load.report.training.count, 1);
	beside_ns = load.report.training.trainers[0].steps.saved_beside_ns;
	sum = sp_trainer_account(&load.report.training, &load.report.training.trainers[0]);
	sp_load_finish(&load);
	sp_folder_remove(folder);
	return sum;
}

START_TEST(the_trainer_waits)
{
	struct sp_account sum = account((struct saving){.pid = 10, .has_loader = _i});

	ck_assert_uint_eq(sum.ns[SP_ACCOUNT_checkpoint], STEPS * 5000);
	ck_assert_uint_eq(sum.ns[SP_ACCOUNT_loader_wait], STEPS * 3000);
	ck_assert_uint_eq(sum.ns[SP_ACCOUNT_backward], STEPS * BACKWARD_NS);
}
END_TEST

/* The thread that saves has the interpreter's lock until it ends;
 * nobody waits for the checkpoint. */
START_TEST(the_trainer_waits_for_the_lock)
{
	struct sp_account sum =
		account((struct saving){.pid = 10, .has_loader = true, .has_lock = true});

	ck_assert_uint_eq(sum.ns[SP_ACCOUNT_checkpoint], 0);
	ck_assert_uint_eq(beside_ns, STEPS * 6900);
}
END_TEST

START_TEST(another_process_saves)
{
	struct sp_account sum = account((struct saving){.pid = 11});

	ck_assert_uint_eq(sum.ns[SP_ACCOUNT_checkpoint], 0);
	ck_assert_uint_eq(sum.ns[SP_ACCOUNT_loader_wait], STEPS * 8000);
	ck_assert_uint_eq(beside_ns, 0);
}
END_TEST

START_TEST(a_process_of_the_trainer_saves)
{
	struct sp_account sum = account((struct saving){.pid = 11, .is_child = true});

	ck_assert_uint_eq(sum.ns[SP_ACCOUNT_checkpoint], STEPS * 5000);
	ck_assert_uint_eq(sum.ns[SP_ACCOUNT_loader_wait], STEPS * 3000);
	ck_assert_uint_eq(beside_ns, STEPS * 6900);
}
END_TEST

/* A shell or a pool starts the process that saves. One that trains by itself saves for itself. */
START_TEST(a_process_of_a_process_saves)
{
	struct sp_account sum =
		account((struct saving){.pid = 11, .is_grandchild = true, .is_below_trainer = _i});

	ck_assert_uint_eq(sum.ns[SP_ACCOUNT_checkpoint], _i ? 0 : STEPS * 5000);
	ck_assert_uint_eq(beside_ns, _i ? 0 : STEPS * 6900);
}
END_TEST

/* Samples are kept in files. */
START_TEST(a_worker_saves)
{
	struct sp_account sum =
		account((struct saving){.pid = 11, .is_child = true, .fetches = true});

	ck_assert_uint_eq(sum.ns[SP_ACCOUNT_checkpoint], 0);
	ck_assert_uint_eq(beside_ns, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("saving");
	TCase *c = tcase_create("saving");

	tcase_add_loop_test(c, a_wait, 0, sizeof(intervals) / sizeof(*intervals));
	tcase_add_loop_test(c, the_trainer_waits, 0, 2); /* without a loader, and with one */
	tcase_add_test(c, the_trainer_waits_for_the_lock);
	tcase_add_test(c, another_process_saves);
	tcase_add_test(c, a_process_of_the_trainer_saves);
	tcase_add_loop_test(c, a_process_of_a_process_saves, 0, 2);
	tcase_add_test(c, a_worker_saves);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
