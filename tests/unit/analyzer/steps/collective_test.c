/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The waits of a training thread for a collective: those that collectives of its process cover for
 * the most part, and of the others the part that they cover.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/steps/collective.h"
#include "analyzer/training/training_account.h"
#include "tests/unit/common/load.h"
#include "tests/unit/common/suite.h"
#include "tests/unit/common/trace_maker.h"

enum { LOADER = 1, SGD, REDUCE, LABEL };

enum {
	STEP_NS = 20000,
	LOADER_NS = 1000,
	BACKWARD_NS = 10000, /* begins at 3000 */
	OPTIMIZER_NS = 500,
	STEPS = 3,
};

#define START_TICKS UINT64_C(3000000000000)

struct interval {
	int64_t from_ns, to_ns;
	int64_t waited_from_ns, waited_to_ns; /* no wait for a collective where they are equal */
};

static const struct interval intervals[] = {
	{100, 150, 100, 150},			 /* ends before the collective's mark */
	{100, 200, 100, 200},			 /* ends with it */
	{100, 290, 100, 290},			 /* the thread that waited found no core */
	{90, 180, 90, 180},			 /* the mark begins later, and ends later */
	{190, 290, 190, 290},  {50, 70, 0, 0},	 /* before any */
	{0, 150, 100, 150},			 /* for another thread, which begins one */
	{-50, 250, 100, 200},			 /* for another thread, one is whole */
	{-450, 450, 100, 400}, {200, 250, 0, 0}, /* the last one ended as it began */
	{320, 330, 320, 330},			 /* of two in flight, neither ends */
	{320, 350, 320, 350},  {400, 500, 0, 0},
};

START_TEST(a_wait)
{
	struct sp_process_call list[] = {{100, 200, 0}, {300, 350, 0}, {310, 400, 0}};
	struct sp_process_calls calls = {.list = list, .count = 3};
	const struct interval *i = &intervals[_i];
	int64_t from_ns = i->from_ns, to_ns = i->to_ns;

	ck_assert_int_eq(sp_collective_wait(&calls, &from_ns, &to_ns),
			 i->waited_from_ns < i->waited_to_ns);
	if (i->waited_from_ns == i->waited_to_ns)
		return;
	ck_assert_int_eq(from_ns, i->waited_from_ns);
	ck_assert_int_eq(to_ns, i->waited_to_ns);
}
END_TEST

START_TEST(no_collective)
{
	struct sp_process_calls none = {.list = NULL};

	int64_t from_ns = 0, to_ns = INT64_MAX;

	ck_assert(!sp_collective_wait(&none, &from_ns, &to_ns));
}
END_TEST

/* Within a step, as ticks after its start. `ns`: what is for a collective. */
struct wait {
	uint64_t from, to, ns;
};

static const struct wait waits[] = {
	{3100, 3400, 300},  /* one ends inside */
	{3500, 3900, 400},  /* the mark of one goes on */
	{4000, 4600, 600},  /* one ends with it */
	{4600, 5000, 0},    /* one ended as it began */
	{6000, 6700, 200},  /* one begins in it */
	{7000, 8000, 1000}, /* two end inside */
};

static const uint64_t reductions[][2] = {
	{2000, 3200}, {3450, 4600}, {6500, 7300}, {7300, 7400}, {8000, 9000},
};

static void begin(struct sp_maker *m, uint32_t pid, uint32_t tid, const char *collective)
{
	static const char *const names[] = {
		[LOADER] = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
		[SGD] = "Optimizer.step#SGD.step",
		[LABEL] = "backward",
	};

	sp_maker_init(m, pid, tid, 0);
	sp_maker_header(m);
	for (uint32_t id = LOADER; id <= LABEL; id++) {
		const char *name = id == REDUCE ? collective : names[id];

		sp_maker_define(m, SP_DEFINE_NAME, id, name, strlen(name));
	}
}

static void make_step(struct sp_maker *m, uint64_t at)
{
	sp_maker_span(m, SP_EV_torch_range, LOADER, at, at + LOADER_NS, 0);
	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++)
		sp_maker_span(m, SP_EV_cond_wait, 0, at + waits[i].from, at + waits[i].to, 0);
	sp_maker_span(m, SP_EV_python_call, LABEL, at + 3000, at + 3000 + BACKWARD_NS,
		      SP_PHASE_backward);
	sp_maker_span(m, SP_EV_torch_range, SGD, at + 14000, at + 14000 + OPTIMIZER_NS, 0);
}

static void make_reductions(struct sp_maker *m, uint64_t at)
{
	for (size_t i = 0; i < sizeof(reductions) / sizeof(*reductions); i++)
		sp_maker_span(m, SP_EV_torch_range, REDUCE, at + reductions[i][0],
			      at + reductions[i][1], 0);
}

/* A trainer and a thread that reduces: `pid` is that thread's, the trainer's is 10. */
static struct sp_account account(uint32_t pid, const char *collective)
{
	struct sp_maker trainer, reducer;
	struct sp_account sum;
	struct sp_load load;
	char folder[64];

	sp_folder_make(folder);
	begin(&trainer, 10, 10, collective);
	begin(&reducer, pid, 20, collective);
	for (uint64_t i = 0; i < STEPS; i++) {
		make_step(&trainer, START_TICKS + i * STEP_NS);
		make_reductions(&reducer, START_TICKS + i * STEP_NS);
	}
	sp_maker_put(&trainer, folder, "trainer.zst");
	sp_maker_put(&reducer, folder, "reducer.zst");
	sp_load_one(&load, folder);
	ck_assert_uint_eq(load.report.training.count, 1);
	ck_assert_uint_eq(load.report.training.trainers[0].steps.count, STEPS);
	sum = sp_trainer_account(&load.report.training, &load.report.training.trainers[0]);
	sp_load_finish(&load);
	sp_folder_remove(folder);
	return sum;
}

static uint64_t waited_ns(void)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++)
		ns += waits[i].ns;
	return ns;
}

static void check(const struct sp_account *sum, uint64_t waited)
{
	ck_assert_uint_eq(sum->ns[SP_ACCOUNT_grad_sync], waited);
	ck_assert_uint_eq(sum->ns[SP_ACCOUNT_backward], STEPS * BACKWARD_NS - waited);
	ck_assert_uint_eq(sum->ns[SP_ACCOUNT_forward], STEPS * (3000 - LOADER_NS));
	ck_assert_uint_eq(sum->ns[SP_ACCOUNT_optimizer], STEPS * OPTIMIZER_NS);
}

START_TEST(waits_of_the_trainer)
{
	struct sp_account sum = account(10, "gloo:all_reduce");

	check(&sum, STEPS * waited_ns());
}
END_TEST

START_TEST(another_process_reduces)
{
	struct sp_account sum = account(11, "gloo:all_reduce");

	check(&sum, 0);
}
END_TEST

START_TEST(a_label_that_is_no_collective)
{
	struct sp_account sum = account(10, "reduce the loss");

	check(&sum, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("collective");
	TCase *c = tcase_create("collective");

	tcase_add_loop_test(c, a_wait, 0, sizeof(intervals) / sizeof(*intervals));
	tcase_add_test(c, no_collective);
	tcase_add_test(c, waits_of_the_trainer);
	tcase_add_test(c, another_process_reduces);
	tcase_add_test(c, a_label_that_is_no_collective);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
