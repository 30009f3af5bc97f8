/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Busy time of intervals that come nearly in order, against one flag for each instant.
 */
#include <check.h>
#include <stdlib.h>

#include "analyzer/gpu/gpu_busy.h"
#include "tests/unit/common/draw.h"
#include "tests/unit/common/suite.h"

#define INTERVALS (5 * SP_GPU_BUSY_ROOM)
#define INSTANTS (4u * INTERVALS)
#define LATE_MOST (SP_GPU_BUSY_ROOM / 2) /* an interval by so many others, at most */

/* With few instants for many intervals they overlap, with many there are gaps. */
START_TEST(nearly_in_order)
{
	char *flags = calloc(INSTANTS + 64, 1);
	int64_t from = INSTANTS / 8, to = INSTANTS / 2;
	uint64_t state = 1, all = 0, inside = 0;
	struct sp_gpu_busy busy;

	ck_assert_ptr_nonnull(flags);
	sp_gpu_busy_init(&busy, from, to);
	for (uint32_t i = 0; i < INTERVALS; i++) {
		uint32_t place =
			i - (uint32_t)(sp_draw(&state) % (LATE_MOST < i ? LATE_MOST : i + 1));
		int64_t start = (int64_t)place * (_i ? 4 : 1),
			end = start + (int64_t)(sp_draw(&state) % 6);

		ck_assert_int_eq(sp_gpu_busy_add(&busy, start, end), 0);
		for (int64_t at = start; at < end; at++)
			flags[at] = 1;
	}
	sp_gpu_busy_finalize(&busy);
	for (int64_t at = 0; at < INSTANTS + 64; at++) {
		all += (uint64_t)flags[at];
		inside += at >= from && at < to ? (uint64_t)flags[at] : 0;
	}
	ck_assert_uint_eq(busy.all.ns, all);
	ck_assert_uint_eq(busy.inside.ns, inside);
	ck_assert_uint_eq(busy.window_ns, (uint64_t)(to - from));
	free(flags);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("gpu_busy");
	TCase *c = tcase_create("gpu_busy");

	tcase_add_loop_test(c, nearly_in_order, 0, 2);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
