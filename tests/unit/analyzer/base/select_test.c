/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order statistics, against the values in order.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/select.h"
#include "tests/unit/common/draw.h"
#include "tests/unit/common/suite.h"

#define VALUES 300u

static uint64_t state = 1;

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Few different values, many, in order, in the other order, and the extremes. */
static int64_t value_of(int kind, uint32_t i)
{
	switch (kind) {
	case 0:
		return (int64_t)(sp_draw(&state) % 3);
	case 1:
		return (int64_t)sp_draw(&state) - (1 << 30);
	case 2:
		return i;
	case 3:
		return -(int64_t)i;
	default:
		return sp_draw(&state) & 1 ? INT64_MAX : INT64_MIN;
	}
}

START_TEST(any_index)
{
	int64_t values[VALUES], sorted[VALUES], work[VALUES];

	for (uint32_t n = 1; n <= VALUES; n += n < 8 ? 1 : 41) {
		for (uint32_t i = 0; i < n; i++)
			values[i] = value_of(_i, i);
		memcpy(sorted, values, sizeof(sorted));
		qsort(sorted, n, sizeof(*sorted), compare);
		for (uint32_t k = 0; k < n; k++) {
			uint32_t wrong = 0; /* each assertion writes to a pipe */

			memcpy(work, values, sizeof(work));
			ck_assert_int_eq(sp_select(work, n, k), sorted[k]);
			for (uint32_t i = 0; i < n; i++)
				wrong += i < k ? work[i] > work[k] : work[i] < work[k];
			ck_assert_uint_eq(wrong, 0);
		}
		memcpy(work, values, sizeof(work));
		ck_assert_int_eq(sp_select_percentile(work, n, 95),
				 sorted[(n * 95 + 99) / 100 - 1]);
	}
	ck_assert_int_eq(sp_select_percentile(work, 0, 50), 0);
}
END_TEST

START_TEST(listed)
{
	uint64_t values[VALUES];
	int64_t sorted[VALUES];
	struct sp_select_list lists[] = {{values, 7}, {values + 7, 0}, {values + 7, VALUES - 7}};
	uint64_t *counts = malloc(SP_SELECT_COUNTS * sizeof(*counts));

	ck_assert_ptr_nonnull(counts);
	for (uint32_t i = 0; i < VALUES; i++) {
		sorted[i] = value_of(_i, i) & INT64_MAX;
		values[i] = (uint64_t)sorted[i];
	}
	qsort(sorted, VALUES, sizeof(*sorted), compare);
	for (uint32_t k = 0; k < VALUES; k += 13)
		ck_assert_int_eq((int64_t)sp_select_listed(lists, 3, k, counts), sorted[k]);
	free(counts);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("select");
	TCase *c = tcase_create("select");

	tcase_add_loop_test(c, any_index, 0, 5);
	tcase_add_loop_test(c, listed, 0, 5);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
