/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unions, nesting and sums of intervals, against one flag for each instant of a short time.
 */
#include <check.h>
#include <stdbool.h>
#include <string.h>

#include "analyzer/base/intervals.h"
#include "tests/unit/common/draw.h"
#include "tests/unit/common/suite.h"

#define INSTANTS 40
#define INTERVALS 12u
#define DRAWS 20000

static uint64_t state;

static int64_t draw_below(uint64_t n)
{
	return (int64_t)(sp_draw(&state) % n);
}

static void seed(void)
{
	state = 1;
}

static uint64_t flags_between(const bool flags[INSTANTS], int64_t from, int64_t to)
{
	uint64_t n = 0;

	for (int64_t i = from > 0 ? from : 0; i < to && i < INSTANTS; i++)
		n += flags[i];
	return n;
}

/* Empty intervals, windows and intervals that end before they start are among them. */
START_TEST(unions)
{
	uint32_t wrong = 0;

	for (int draw = 0; draw < DRAWS; draw++) {
		bool flags[INSTANTS] = {false};
		int64_t from = draw_below(INSTANTS), to = draw_below(INSTANTS), start = 0;
		struct sp_cover cover = {.from_ns = from, .to_ns = to};
		uint64_t parts = 0;

		for (uint32_t i = 0; i < INTERVALS; i++) {
			int64_t end;

			start += draw_below(6);
			end = start + draw_below(9) - 1;
			for (int64_t k = start; k < end && k < INSTANTS; k++)
				flags[k] = true;
			parts += sp_cover_add(&cover, start, end);
			wrong += cover.ns != flags_between(flags, from, to) || parts != cover.ns;
		}
	}
	ck_assert_uint_eq(wrong, 0);
}
END_TEST

/* In the order of ends, each joins or follows what the list has. */
START_TEST(nesting)
{
	uint32_t wrong = 0, contained = 0;

	for (int draw = 0; draw < DRAWS; draw++) {
		struct {
			char before;
			int64_t start;
		} list[INTERVALS];
		uint32_t n = 0;
		int64_t end = 0;

		for (uint32_t i = 0; i < INTERVALS; i++) {
			int64_t start;
			uint32_t first = n;

			end += draw_below(4);
			start = draw_below(3) ? end - draw_below(4) : draw_below((uint64_t)end + 1);
			while (first > 0 && list[first - 1].start >= start)
				first--;
			wrong += SP_NEST_FIRST(list, n, start, start) != first;
			contained += n - first;
			n = first;
			list[n++].start = start;
		}
	}
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_gt(contained, DRAWS);
}
END_TEST

START_TEST(bounds)
{
	uint32_t wrong = 0;

	for (int draw = 0; draw < DRAWS; draw++) {
		struct {
			int64_t at;
		} list[INTERVALS];
		uint32_t n = (uint32_t)draw_below(INTERVALS + 1), later = 0, not_before = 0;
		int64_t at = 0, ns = draw_below(INSTANTS);

		for (uint32_t i = 0; i < n; i++) {
			list[i].at = at += draw_below(6);
			later += at <= ns;
			not_before += at < ns;
		}
		wrong += SP_UPPER_BOUND(list, n, at, ns) != later;
		wrong += SP_LOWER_BOUND(list, n, at, ns) != not_before;
		wrong += SP_NEST_FIRST(list, n, at, ns) != not_before;
	}
	ck_assert_uint_eq(wrong, 0);
}
END_TEST

START_TEST(before)
{
	uint32_t wrong = 0;

	for (int draw = 0; draw < DRAWS; draw++) {
		struct sp_interval list[INTERVALS];
		bool flags[INSTANTS] = {false};
		uint64_t sum = 0;
		int64_t at = 0;

		for (uint32_t i = 0; i < INTERVALS; i++) {
			int64_t start = at + draw_below(3), end = start + draw_below(3);

			list[i] = (struct sp_interval){start, end, sum};
			sum += (uint64_t)(end - start);
			for (at = start; at < end && at < INSTANTS; at++)
				flags[at] = true;
			at = end;
		}
		for (at = 0; at < INSTANTS; at++)
			wrong += sp_intervals_before(list, INTERVALS, at) !=
				 flags_between(flags, 0, at);
	}
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_eq(sp_intervals_before(NULL, 0, 5), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("intervals");
	TCase *c = tcase_create("intervals");

	tcase_add_checked_fixture(c, seed, NULL);
	tcase_add_test(c, unions);
	tcase_add_test(c, nesting);
	tcase_add_test(c, bounds);
	tcase_add_test(c, before);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
