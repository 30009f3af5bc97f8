/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs side by side: the interval on series whose truth is known, and the view on made traces.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/verdict/significance.h"
#include "tests/unit/common/load.h"
#include "tests/unit/common/stride.h"
#include "tests/unit/common/suite.h"
#include "tests/unit/common/trace_maker.h"

enum { SERIES = 120, PAIRS = SP_STRIDE > 1 ? 30 : 300 };

static uint64_t state;

static double uniform(void)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(state >> 11) / (double)(UINT64_C(1) << 53);
}

/* Times with a tail, each like the one before it: 10 ms and what is left of earlier noise. */
static void make_series(uint64_t *ret, double scale, double alike)
{
	double noise = 0;

	for (int i = 0; i < SERIES; i++) {
		noise = alike * noise - (1 - alike) * log(1 - uniform());
		ret[i] = (uint64_t)(scale * (10e6 + 2e6 * noise));
	}
}

static struct sp_ratio compare(double scale, double alike)
{
	uint64_t a[SERIES], b[SERIES];
	struct sp_ratio ratio;

	make_series(a, 1, alike);
	make_series(b, scale, alike);
	ck_assert_int_eq(sp_ratio_of_medians(a, SERIES, b, SERIES, &ratio), 0);
	return ratio;
}

/* How many of PAIRS the interval says to be different, and how many intervals hold the truth. */
static void count_pairs(double scale, double alike, int *ret_different, int *ret_right)
{
	state = 1;
	*ret_different = *ret_right = 0;
	for (int i = 0; i < PAIRS; i++) {
		struct sp_ratio r = compare(scale, alike);

		*ret_different += r.low > 1 || r.high < 1;
		*ret_right += r.low <= scale && scale <= r.high;
	}
}

START_TEST(equal_series_seldom_differ)
{
	int different, right;

	count_pairs(1, 0, &different, &right);
	printf("independent steps, no change: %d of %d told different\n", different, PAIRS);
	ck_assert_int_le(different, PAIRS / 10);
	count_pairs(1, 0.6, &different, &right);
	printf("steps like the ones before, no change: %d of %d told different\n", different,
	       PAIRS);
	ck_assert_int_le(different, PAIRS / 5);
}
END_TEST

START_TEST(a_tenth_is_found)
{
	int different, right;

	count_pairs(1.1, 0, &different, &right);
	printf("a tenth slower: %d of %d told different, %d intervals hold 1.1\n", different, PAIRS,
	       right);
	ck_assert_int_ge(different, PAIRS * 9 / 10);
	ck_assert_int_ge(right, PAIRS * 17 / 20);
}
END_TEST

START_TEST(the_same_twice)
{
	uint64_t a[SERIES], b[SERIES];
	struct sp_ratio one, two;

	make_series(a, 1, 0);
	make_series(b, 1.02, 0);
	ck_assert_int_eq(sp_ratio_of_medians(a, SERIES, b, SERIES, &one), 0);
	ck_assert_int_eq(sp_ratio_of_medians(a, SERIES, b, SERIES, &two), 0);
	ck_assert_int_eq(memcmp(&one, &two, sizeof(one)), 0);
	ck_assert_int_eq(sp_ratio_of_medians(a, SERIES, a, SERIES, &one), 0);
	ck_assert(one.low <= 1 && one.high >= 1);
}
END_TEST

START_TEST(too_little_to_tell)
{
	uint64_t a[SERIES] = {0}, b[SERIES];
	struct sp_ratio ratio;

	make_series(b, 1, 0);
	ck_assert_int_eq(sp_ratio_of_medians(b, 9, b, SERIES, &ratio), -EINVAL);
	ck_assert_int_eq(sp_ratio_of_medians(b, SERIES, b, 9, &ratio), -EINVAL);
	ck_assert_int_eq(sp_ratio_of_medians(b, 10, b, 10, &ratio), 0);
	ck_assert_int_eq(sp_ratio_of_medians(a, SERIES, b, SERIES, &ratio), -EINVAL);
	ck_assert_int_eq(sp_ratio_of_medians(b, SERIES, a, SERIES, &ratio), -EINVAL);
}
END_TEST

static char folder[64];

enum { LOADER = 1, ADAM };

/* A trainer of `steps` steps: 1 ms of waiting, 2 ms of forward, 3 ms of backward, made longer by
 * `more`. */
static void make_run(struct sp_load *load, const char *name, int steps, uint64_t more)
{
	char path[128];
	struct sp_maker m;

	sp_maker_init(&m, 10, 10, 0);
	sp_maker_header(&m);
	sp_maker_define(&m, SP_DEFINE_NAME, LOADER, "enumerate(DataLoader)#x.__next__", 32);
	sp_maker_define(&m, SP_DEFINE_NAME, ADAM, "Optimizer.step#Adam.step", 24);
	for (int i = 0; i < steps; i++) {
		sp_maker_event(&m, SP_EV_torch_range, LOADER, 1000000 - 10, 0);
		m.now_ticks += 2000000 - 10 + more + (uint64_t)(i % 7) * 1000;
		sp_maker_event(&m, SP_EV_torch_backward, 0, 3000000, 0);
		sp_maker_event(&m, SP_EV_torch_range, ADAM, 90, 0);
	}
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	sp_maker_put(&m, path, "a.zst");
	sp_load_one(load, path);
}

static struct sp_load loads[2];

static int compare_runs(double limit, enum sp_format format, char **ret_text)
{
	struct sp_report reports[2] = {loads[0].report, loads[1].report};
	const char *const names[2] = {"one", "two"};
	struct sp_view_options options = {
		.limit = UINT32_MAX,
		.runs = reports,
		.run_names = names,
		.run_count = 2,
		.slower_limit = limit,
	};
	struct sp_out out = {.format = format};
	size_t bytes = 0;
	int status;

	out.file = open_memstream(ret_text, &bytes);
	sp_out_begin(&out);
	status = sp_view_compare(&reports[0], &out, &options);
	ck_assert_int_eq(sp_out_end(&out), 0);
	fclose(out.file);
	return status;
}

static const struct run_case {
	int steps[2];
	uint64_t more_ns; /* in the second run's forward; a step is 6 ms */
	double limit;
	int status;
	const char *result, *account;
} cases[] = {
	{{50, 50}, 0, 0.05, 0, "same", "2002940,2002940"},
	{{50, 50}, 600000, 0.05, SP_EXIT_SLOWER, "slower", "2602"},
	{{50, 50}, 600000, 0.15, 0, "slower", "2602"},
	{{50, 50}, 600000, -1, 0, "slower", "2602"},
	{{50, 9}, 600000, 0.05, SP_EXIT_FAILED, "too-few-steps", "2602"},
	{{50, 9}, 600000, -1, 0, "too-few-steps", "2602"},
	{{1, 50}, 0, 0.05, SP_EXIT_FAILED, "too-few-steps", "forward"},
	{{0, 50}, 0, 0.05, SP_EXIT_FAILED, "too-few-steps", "run 1 has no steps"},
	{{0, 0}, 0, -1, 0, "too-few-steps", "run 2 has no steps"},
};

START_TEST(runs_side_by_side)
{
	const struct run_case *c = &cases[_i];
	char result[64], *text = NULL;

	sp_folder_make(folder);
	make_run(&loads[0], "one", c->steps[0], 0);
	make_run(&loads[1], "two", c->steps[1], c->more_ns);
	ck_assert_int_eq(compare_runs(c->limit, SP_FORMAT_JSON, &text), c->status);
	snprintf(result, sizeof(result), "\"result\":\"%s\"", c->result);
	ck_assert_msg(strstr(text, result) != NULL, "%s in %s", result, text);
	ck_assert_msg(strstr(text, c->account) != NULL, "%s in %s", c->account, text);
	free(text);
	compare_runs(c->limit, SP_FORMAT_TABLE, &text);
	free(text);
	sp_load_finish(&loads[0]);
	sp_load_finish(&loads[1]);
	sp_folder_remove(folder);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("compare");
	TCase *t = tcase_create("compare");

	tcase_add_test(t, equal_series_seldom_differ);
	tcase_add_test(t, a_tenth_is_found);
	tcase_add_test(t, the_same_twice);
	tcase_add_test(t, too_little_to_tell);
	tcase_add_loop_test(t, runs_side_by_side, 0, (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_set_timeout(t, 60);
	suite_add_tcase(s, t);
	return sp_suite_run(s);
}
