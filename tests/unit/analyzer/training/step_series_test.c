/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps as a series: what comes back, and that no bytes do harm.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/training/step_series.h"
#include "tests/unit/common/suite.h"

#define STEPS 1000u

static uint64_t state = 1;

static uint64_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 20;
}

START_TEST(four_digits_are_kept)
{
	ck_assert_int_eq(sp_series_round(0), 0);
	ck_assert_int_eq(sp_series_round(9999), 9999);
	ck_assert_int_eq(sp_series_round(12344), 12340);
	ck_assert_int_eq(sp_series_round(12345), 12350);
	ck_assert_int_eq(sp_series_round(99996), 100000);
	ck_assert_int_eq(sp_series_round(7000000), 7000000);
	ck_assert_int_eq(sp_series_round(-5), 0);
	ck_assert_int_eq(sp_series_round(INT64_MAX), 9223000000000000000);
	for (unsigned i = 0; i < 100000; i++) {
		int64_t x = (int64_t)(draw() >> (draw() % 40)), y = sp_series_round(x);

		ck_assert_int_le(llabs(y - x), x / 2000 + 1);
		ck_assert_int_eq(sp_series_round(y), y);
	}
}
END_TEST

static struct sp_series_step step_of(uint32_t number)
{
	struct sp_series_step s = {.number = number};

	s.of[SP_SERIES_START] = INT64_C(1700000000000000000) + (int64_t)number * 5000000 +
				(int64_t)(draw() % 100000);
	s.of[SP_SERIES_WALL] = 4900000 + (int64_t)(draw() % 100000);
	s.of[SP_SERIES_STAY] = draw() % 8 ? (int64_t)(draw() % 3000000) : -1;
	s.of[SP_SERIES_LEFT] = s.of[SP_SERIES_START] + s.of[SP_SERIES_WALL] - 400000;
	for (int phase = 0; phase < SP_ACCOUNT_PHASES; phase++)
		s.of[SP_SERIES_PHASE + phase] = phase % 3 ? (int64_t)(draw() % 2000000) : 0;
	return s;
}

/* Some numbers are left out. */
static uint32_t make(struct sp_step_series *series, struct sp_series_step *steps)
{
	struct sp_series_writer writer = {.series = series};
	uint32_t n = 0;

	for (uint32_t number = 0; number < STEPS; number++) {
		if (number % 7 == 3 || (number > 300 && number < 600))
			continue;
		steps[n] = step_of(number);
		ck_assert_int_eq(sp_series_writer_take(&writer, &steps[n]), 0);
		ck_assert_int_eq(sp_series_writer_take(&writer, &steps[n]),
				 0); /* the same once more */
		n++;
	}
	ck_assert_int_eq(sp_series_writer_finish(&writer), 0);
	return n;
}

static int64_t expected(const struct sp_series_step *s, int column)
{
	int64_t x = s->of[column];

	if (column == SP_SERIES_NUMBER)
		return s->number % SP_SERIES_STEPS;
	if (column == SP_SERIES_START)
		return x / 1000 * 1000;
	if (column == SP_SERIES_STAY && x < 0)
		return -1;
	return column == SP_SERIES_LEFT ? x / 1000 * 1000 : sp_series_round(x);
}

static void same_steps(const struct sp_step_series *series, const struct sp_series_step *steps,
		       uint32_t n)
{
	int64_t values[SP_SERIES_STEPS];

	ck_assert_uint_eq(series->steps, n);
	for (int column = 0; column < SP_SERIES_COLUMNS; column++) {
		uint32_t at = 0;

		for (uint32_t b = 0; b < series->block_count; b++) {
			ck_assert_int_eq(sp_series_column(series, b, (enum sp_series_column)column,
							  values),
					 0);
			for (uint32_t i = 0; i < series->blocks[b].steps; i++, at++) {
				ck_assert_uint_eq(series->blocks[b].number,
						  steps[at].number / SP_SERIES_STEPS);
				if (column == SP_SERIES_LEFT && steps[at].of[SP_SERIES_STAY] < 0)
					continue;
				ck_assert_int_eq(values[i], expected(&steps[at], column));
			}
		}
		ck_assert_uint_eq(at, n);
	}
}

START_TEST(steps_come_back)
{
	struct sp_series_step *steps = calloc(STEPS, sizeof(*steps));
	struct sp_step_series series = {.bytes = NULL}, again;
	uint32_t n = make(&series, steps);

	same_steps(&series, steps, n);
	ck_assert_int_eq(sp_series_read(&again, series.bytes, series.size), 0);
	same_steps(&again, steps, n);
	sp_series_finish(&again);
	sp_series_finish(&series);
	free(steps);
}
END_TEST

/* Every cut, and many single bytes changed: refused, or read without harm. */
START_TEST(hostile_bytes)
{
	struct sp_series_step *steps = calloc(STEPS, sizeof(*steps));
	struct sp_step_series series = {.bytes = NULL}, other;
	int64_t values[SP_SERIES_STEPS];
	uint32_t refused = 0;

	make(&series, steps);
	for (uint32_t cut = 1; cut < series.size; cut += 13) {
		int r = sp_series_read(&other, series.bytes, cut);

		refused += r == -EBADMSG;
		if (r == 0)
			sp_series_finish(&other);
	}
	ck_assert_uint_gt(refused, series.size / 13 - 10);
	for (uint32_t i = 0; i < 600; i++) {
		uint32_t at = (uint32_t)(draw() % series.size);
		uint8_t was = series.bytes[at];

		series.bytes[at] ^= (uint8_t)(1u << draw() % 8);
		if (sp_series_read(&other, series.bytes, series.size) == 0) {
			for (uint32_t b = 0; b < other.block_count; b++)
				for (int column = 0; column < SP_SERIES_COLUMNS; column++)
					ck_assert_int_eq(sp_series_column(&other, b,
									  (enum sp_series_column)
										  column,
									  values),
							 0);
			sp_series_finish(&other);
		}
		series.bytes[at] = was;
	}
	sp_series_finish(&series);
	free(steps);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("step_series");
	TCase *c = tcase_create("step_series");

	tcase_add_test(c, four_digits_are_kept);
	tcase_add_test(c, steps_come_back);
	tcase_add_test(c, hostile_bytes);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
