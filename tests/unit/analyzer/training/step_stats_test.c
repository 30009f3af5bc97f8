/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantiles over the steps of all trainers, against the same values in order.
 */
#include <check.h>
#include <stdlib.h>

#include "analyzer/training/step_stats.h"
#include "tests/unit/common/draw.h"
#include "tests/unit/common/suite.h"

#define TRAINERS 3u
#define STEPS 700u
#define MANY 100000u

static uint64_t state = 1;

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t at(const uint64_t *sorted, uint64_t n, unsigned permille)
{
	return sorted[(n * permille + 999) / 1000 - 1];
}

static void check(const struct sp_training *training, uint64_t *walls, uint64_t n)
{
	struct sp_step_stats stats;

	qsort(walls, n, sizeof(*walls), compare);
	ck_assert_int_eq(sp_step_stats(training, SP_STEP_WALL, SP_STEP_KINDS_ALL, &stats), 0);
	ck_assert_uint_eq(stats.count, n);
	ck_assert_uint_eq(stats.p50_ns, at(walls, n, 500));
	ck_assert_uint_eq(stats.p95_ns, at(walls, n, 950));
	ck_assert_uint_eq(stats.p99_ns, at(walls, n, 990));
	ck_assert_uint_eq(stats.max_ns, walls[n - 1]);
}

/* Few steps, where quantiles are the same step, and many. */
START_TEST(listed_steps)
{
	static struct sp_step steps[TRAINERS][STEPS];
	static uint64_t walls[TRAINERS * STEPS];
	struct sp_trainer trainers[TRAINERS] = {{.stream = 0}};
	struct sp_training training = {.trainers = trainers, .count = TRAINERS};

	for (uint32_t each = 1; each <= STEPS; each += each < 12 ? 1 : 97) {
		uint64_t n = 0;

		for (uint32_t t = 0; t < TRAINERS; t++) {
			trainers[t].steps.steps = steps[t];
			trainers[t].steps.count = each;
			trainers[t].is_digested = true; /* so that all its steps are selected */
			for (uint32_t i = 0; i < each; i++) {
				uint64_t ns = sp_draw(&state) >> 33;

				ns = _i ? ns % 4 : ns; /* few different ones, too */
				steps[t][i] =
					(struct sp_step){.start_ns = 5, .end_ns = 5 + (int64_t)ns};
				walls[n++] = ns;
			}
		}
		check(&training, walls, n);
	}
}
END_TEST

/* More than are put into one list. */
START_TEST(so_many_steps)
{
	struct sp_step *steps = calloc(MANY, sizeof(*steps));
	uint64_t *walls = calloc((size_t)TRAINERS * MANY, sizeof(*walls)), n = 0;
	struct sp_trainer trainers[TRAINERS] = {{.stream = 0}};
	struct sp_training training = {.trainers = trainers, .count = TRAINERS};

	ck_assert(steps && walls);
	for (uint32_t i = 0; i < MANY; i++)
		steps[i].end_ns = (int64_t)(sp_draw(&state) >> (sp_draw(&state) % 64));
	for (uint32_t t = 0; t < TRAINERS; t++) {
		trainers[t].steps.steps = steps;
		trainers[t].steps.count = MANY - t;
		trainers[t].is_digested = true;
		for (uint32_t i = 0; i < MANY - t; i++)
			walls[n++] = (uint64_t)steps[i].end_ns < INT64_MAX
					     ? (uint64_t)steps[i].end_ns
					     : INT64_MAX;
	}
	check(&training, walls, n);
	free(walls);
	free(steps);
}
END_TEST

/* Only hostile bytes make such sums. */
START_TEST(sums_above_any_duration)
{
	struct sp_step step = {.start_ns = 0, .end_ns = 1};
	struct sp_trainer trainer = {.is_digested = true};
	struct sp_training training = {.trainers = &trainer, .count = 1};
	struct sp_step steps[2] = {step, step};
	struct sp_step_stats stats;

	trainer.steps.steps = steps;
	trainer.steps.count = 2;
	trainer.steps.sources[SP_ACCOUNT_forward] = SP_FROM_OBSERVED;
	steps[0].account.ns[SP_ACCOUNT_forward] = UINT64_MAX;
	steps[1].account.ns[SP_ACCOUNT_forward] = 7;
	ck_assert_int_eq(sp_step_stats(&training, SP_ACCOUNT_forward, SP_STEP_KINDS_ALL, &stats),
			 0);
	ck_assert_uint_eq(stats.p50_ns, 7);
	ck_assert_uint_eq(stats.max_ns, INT64_MAX);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("step_stats");
	TCase *c = tcase_create("step_stats");

	tcase_add_loop_test(c, listed_steps, 0, 2);
	tcase_add_test(c, so_many_steps);
	tcase_add_test(c, sums_above_any_duration);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
