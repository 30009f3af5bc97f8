/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums over arrays are those that come one by one.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/reader/clock_convert.h"
#include "analyzer/totals/sums.h"
#include "tests/unit/common/draw.h"
#include "tests/unit/common/suite.h"
#include "trace/format.h"

#define N 1000u

static uint64_t state = 0xD1B54A32D192ED03;
static struct sp_sums sums, one_by_one;
static struct sp_hist hist, expected;
static int64_t numbers[N];

static uint64_t draw(void)
{
	return sp_draw(&state);
}

/* bits: most that a number has; where 64, any sign. */
static void fill(unsigned bits)
{
	for (uint32_t i = 0; i < N; i++)
		numbers[i] = (int64_t)(draw() >> (64 - bits) >> draw() % bits);
	sums = one_by_one = (struct sp_sums){0};
	hist = expected = (struct sp_hist){{0}};
}

static void check_times(uint32_t n, const struct sp_tick_unit *unit)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t ns =
			sp_clock_span_ns(unit->ns_per_tick, (uint64_t)numbers[i] * unit->grain);

		one_by_one.calls++;
		one_by_one.total_ns += ns;
		one_by_one.max_ns = ns > one_by_one.max_ns ? ns : one_by_one.max_ns;
		sp_hist_add(&expected, ns);
	}
	sp_sums_add_times(&sums, &hist, numbers, n, unit);
	ck_assert_mem_eq(&sums, &one_by_one, sizeof(sums));
	ck_assert_mem_eq(&hist, &expected, sizeof(hist));
}

START_TEST(times)
{
	static const unsigned bits[] = {1, 6, 13, 30, 31, 32, 40, 63, 64};
	static const struct sp_tick_unit units[] = {
		{1, UINT64_C(1) << SP_CLOCK_SHIFT},
		{24, 115000000000000},
		{1, 1},
		{UINT32_MAX, UINT64_C(1) << 31},
		{UINT32_MAX, INT64_MAX},
		{1, INT64_MAX},
		{1, UINT64_MAX},
		{3, UINT64_C(0x123456789ABCDEF)},
	};

	for (unsigned u = 0; u < sizeof(units) / sizeof(units[0]); u++)
		for (unsigned b = 0; b < sizeof(bits) / sizeof(bits[0]); b++)
			for (uint32_t n = 0; n < 12; n++) {
				fill(bits[b]);
				check_times(n < 10 ? n : N - 12 + n, &units[u]);
			}
}
END_TEST

/* Each number alone among others that are narrow. */
START_TEST(borders)
{
	static const int64_t odd[] =
		{0,	     1,		31,	   32, 33, INT32_MAX, INT64_C(1) << 31,
		 UINT32_MAX, INT64_MAX, INT64_MIN, -1};
	const struct sp_tick_unit unit = {1, UINT64_C(1) << SP_CLOCK_SHIFT};

	for (unsigned i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		for (unsigned at = 0; at < 9; at++) {
			fill(20);
			numbers[at] = odd[i];
			check_times(9, &unit);
		}
}
END_TEST

START_TEST(values)
{
	static const int64_t odd[] = {5, 0, -1, -11, INT64_MAX, SP_VALUE_ABANDONED};

	for (unsigned i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		for (unsigned at = 0; at < 9; at++) {
			uint64_t bytes = 0;

			fill(20);
			numbers[at] = odd[i];
			for (uint32_t k = 0; k < 9; k++)
				bytes += numbers[k] > 0 ? (uint64_t)numbers[k] : 0;
			sp_sums_add_values(&sums, numbers, 9, true);
			ck_assert_uint_eq(sums.bytes, bytes);
			sp_sums_add_values(&sums, numbers, 9, false);
			ck_assert_uint_eq(sums.bytes, bytes);
			ck_assert_uint_eq(sums.errors,
					  2 * (odd[i] < 0 && odd[i] != SP_VALUE_ABANDONED));
			ck_assert_uint_eq(sums.aborted, 2 * (odd[i] == SP_VALUE_ABANDONED));
		}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sums");
	TCase *tests = tcase_create("all");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, times);
	tcase_add_test(tests, borders);
	tcase_add_test(tests, values);
	suite_add_tcase(suite, tests);
	return sp_suite_run(suite);
}
