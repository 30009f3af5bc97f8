/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The waits of a training thread for a collective: those in which a collective of its process
 * ended.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/training/collective.h"
#include "tests/unit/common/load.h"
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
	bool ended;
};

static const struct interval intervals[] = {
	{0, 99, false},	   {0, 100, true},    {99, 100, true},	 {100, 199, false},
	{100, 200, true},  {150, 350, true},  {200, 299, false}, {299, 301, true},
	{300, 400, false}, {301, 500, false}, {100, 100, false}, {-50, 1000, true},
	{-50, -1, false},
};

START_TEST(an_end_within)
{
	struct sp_process_call list[] = {{0, 100, 0}, {0, 200, 0}, {0, 200, 0}, {0, 300, 0}};
	struct sp_process_calls ends = {.list = list, .count = 4};
	const struct interval *i = &intervals[_i];

	ck_assert_int_eq(sp_collective_ended(&ends, i->from_ns, i->to_ns), i->ended);
}
END_TEST

START_TEST(no_collective)
{
	struct sp_process_calls none = {.list = NULL};

	ck_assert(!sp_collective_ended(&none, INT64_MIN, INT64_MAX));
}
END_TEST

/* Within a step, as ticks after its start. `ns`: what is for a collective. */
struct wait {
	uint64_t from, to, ns;
};

static const struct wait waits[] = {
	{3100, 3400, 300},  /* one ends inside */
	{3500, 3900, 0},    /* one goes on */
	{4000, 4600, 600},  /* one ends with it */
	{4600, 5000, 0},    /* one ended as it began */
	{6000, 6700, 0},    /* one begins in it */
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
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(c, an_end_within, 0, sizeof(intervals) / sizeof(*intervals));
	tcase_add_test(c, no_collective);
	tcase_add_test(c, waits_of_the_trainer);
	tcase_add_test(c, another_process_reduces);
	tcase_add_test(c, a_label_that_is_no_collective);
	suite_add_tcase(suite, c);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
