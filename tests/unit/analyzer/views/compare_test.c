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

enum { SERIES = 120, PAIRS = SP_STRIDE > 1 ? 50 : 200 };

static uint64_t state;

static double uniform(void)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(state >> 11) / (double)(UINT64_C(1) << 53);
}

/* Steps of a loader: their times have a tail, depend on the one before, or take turns. */
static const struct form {
	const char *name;
	double alike;	 /* the part of a step's noise that the next has, too */
	uint64_t period; /* of its workers, as the report knows it */
	double found;	 /* a change beyond this factor is found in nine of ten pairs */
	double turns[8]; /* the times that follow each other, in ms; 0 ends them */
} forms[] = {
	{"plain", 0, 0, 1.09, {10}},
	{"like the ones before", 0.6, 0, 1.09, {10}},
	{"two workers", 0, 4, 1.09, {2, 40}},
	{"two workers that drift", 0.6, 4, 1.09, {2, 40}},
	{"four workers, bursts", 0, 8, 1.3, {2, 2, 2, 2, 2, 2, 2, 90}},
};

static void make_series(uint64_t *ret, const struct form *form, double scale)
{
	int turns = 0, turn;
	double noise = 0;

	while (turns < 8 && form->turns[turns] > 0)
		turns++;
	turn = (int)(uniform() * turns);
	for (int i = 0; i < SERIES; i++) {
		double ms = form->turns[(turn + i) % turns];

		noise = form->alike * noise - (1 - form->alike) * log(1 - uniform());
		ret[i] = (uint64_t)(1e6 * scale * ms * (1 + 0.1 * (noise - 1)));
	}
}

static struct sp_ratio compare(const struct form *form, double scale)
{
	uint64_t a[SERIES], b[SERIES];
	struct sp_ratio ratio;

	make_series(a, form, 1);
	make_series(b, form, scale);
	ck_assert_int_eq(sp_ratio_of_means(&(struct sp_step_times){a, SERIES, form->period},
					   &(struct sp_step_times){b, SERIES, form->period},
					   &ratio),
			 0);
	return ratio;
}

static const double scales[] = {1 / 1.5, 1 / 1.1, 1 / 1.05, 1, 1.05, 1.1, 1.5};

enum { SCALES = sizeof(scales) / sizeof(scales[0]), FORMS = sizeof(forms) / sizeof(forms[0]) };

/* One in 20 of the 95% intervals may miss, and of PAIRS draws three deviations more. */
static const int wrong_most = PAIRS > 100 ? 10 + 9 : 3 + 5;

/* A wrong answer is a change where there is none, or the wrong sign. */
START_TEST(intervals_hold_the_truth)
{
	const struct form *form = &forms[_i / SCALES];
	double scale = scales[_i % SCALES];
	int missed = 0, wrong_sign = 0, told = 0;

	state = 1;
	for (int i = 0; i < PAIRS; i++) {
		struct sp_ratio r = compare(form, scale);
		int sign = (r.low > 1) - (r.high < 1);

		missed += r.low > scale || scale > r.high;
		wrong_sign += sign * (scale - 1) < 0;
		told += sign != 0;
	}
	printf("%s, times %.3f: %d of %d told different, %d intervals miss, %d of the wrong sign\n",
	       form->name, scale, told, PAIRS, missed, wrong_sign);
	ck_assert_int_le(missed, wrong_most);
	ck_assert_int_eq(wrong_sign, 0);
	if (fabs(log(scale)) > log(form->found))
		ck_assert_int_ge(told, PAIRS * 9 / 10);
}
END_TEST

START_TEST(the_same_twice)
{
	uint64_t a[SERIES], b[SERIES];
	struct sp_step_times first = {a, SERIES, 0}, second = {b, SERIES, 0};
	struct sp_ratio one, two;

	make_series(a, &forms[0], 1);
	make_series(b, &forms[0], 1.02);
	ck_assert_int_eq(sp_ratio_of_means(&first, &second, &one), 0);
	ck_assert_int_eq(sp_ratio_of_means(&first, &second, &two), 0);
	ck_assert_int_eq(memcmp(&one, &two, sizeof(one)), 0);
	ck_assert_int_eq(sp_ratio_of_means(&first, &first, &one), 0);
	ck_assert(one.low <= 1 && one.high >= 1);
}
END_TEST

static int ratio_of(const uint64_t *first, uint64_t first_count, const uint64_t *second,
		    uint64_t second_count)
{
	struct sp_ratio ret;

	return sp_ratio_of_means(&(struct sp_step_times){first, first_count, 0},
				 &(struct sp_step_times){second, second_count, 64}, &ret);
}

START_TEST(too_little_to_tell)
{
	uint64_t a[SERIES] = {0}, b[SERIES];

	make_series(b, &forms[0], 1);
	ck_assert_int_eq(ratio_of(b, 9, b, SERIES), -EINVAL);
	ck_assert_int_eq(ratio_of(b, SERIES, b, 9), -EINVAL);
	ck_assert_int_eq(ratio_of(b, 10, b, 10), 0);
	ck_assert_int_eq(ratio_of(a, SERIES, b, SERIES), -EINVAL);
	ck_assert_int_eq(ratio_of(b, SERIES, a, SERIES), -EINVAL);
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

	tcase_add_loop_test(t, intervals_hold_the_truth, 0, FORMS * SCALES);
	tcase_add_test(t, the_same_twice);
	tcase_add_test(t, too_little_to_tell);
	tcase_add_loop_test(t, runs_side_by_side, 0, (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_set_timeout(t, 60);
	suite_add_tcase(s, t);
	return sp_suite_run(s);
}
