/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdlib.h>

#include "analyzer/base/histogram.h"
#include "tests/unit/common/suite.h"

static struct sp_hist hist, other;

static void reset(void)
{
	hist = other = (struct sp_hist){{0}};
}

START_TEST(every_value_has_a_bin_within_one_part_in_64)
{
	for (int shift = 0; shift < 64; shift++) {
		for (int64_t off = -1; off <= 1; off++) {
			uint64_t x = (UINT64_C(1) << shift) + (uint64_t)off, got;

			reset();
			sp_hist_add(&hist, x);
			got = sp_hist_quantile(&hist, 500);
			ck_assert_uint_le(got > x ? got - x : x - got, x / 64);
		}
	}
	reset();
	sp_hist_add(&hist, UINT64_MAX);
	ck_assert_uint_eq(hist.bins[SP_HIST_BINS - 1], 1);
}
END_TEST

START_TEST(bins_grow_with_values)
{
	uint32_t last = 0;

	for (uint64_t x = 0; x < 100000; x++) {
		uint32_t bin = sp_hist_bin(x);

		ck_assert(x <= 32 ? bin > last || x == 0 : bin == last || bin == last + 1);
		last = bin;
	}
}
END_TEST

START_TEST(quantiles_are_of_nearest_rank)
{
	reset();
	ck_assert_uint_eq(sp_hist_quantile(&hist, 500), 0);
	for (uint64_t x = 1; x <= 10; x++)
		sp_hist_add(&hist, x);
	ck_assert_uint_eq(sp_hist_quantile(&hist, 500), 5);
	ck_assert_uint_eq(sp_hist_quantile(&hist, 501), 6);
	ck_assert_uint_eq(sp_hist_quantile(&hist, 950), 10);
	ck_assert_uint_eq(sp_hist_quantile(&hist, 0), 1);
	ck_assert_uint_eq(sp_hist_quantile(&hist, 1000), 10);
}
END_TEST

START_TEST(merging_is_adding)
{
	struct sp_hist whole = {{0}};

	reset();
	for (uint64_t x = 0; x < 5000; x++) {
		sp_hist_add(x % 3 ? &hist : &other, x * x);
		sp_hist_add(&whole, x * x);
	}
	sp_hist_merge(&hist, &other);
	ck_assert_mem_eq(&hist, &whole, sizeof(whole));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hist");
	TCase *tests = tcase_create("all");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, every_value_has_a_bin_within_one_part_in_64);
	tcase_add_test(tests, bins_grow_with_values);
	tcase_add_test(tests, quantiles_are_of_nearest_rank);
	tcase_add_test(tests, merging_is_adding);
	suite_add_tcase(suite, tests);
	return sp_suite_run(suite);
}
