/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/common/suite.h"
#include "trace/events.h"
#include "trace/window_copy.h"

#define SLOTS 256u

static struct {
	struct sp_window_header header;
	struct sp_slot slots[SLOTS];
} window, copy;

static void setup(void)
{
	memset(&window, 0, sizeof(window));
	memset(&copy, 0, sizeof(copy));
}

/* Stores slots first to limit - 1 where the thread would. */
static void store(uint64_t first, uint64_t limit)
{
	for (uint64_t number = first; number < limit; number++) {
		struct sp_slot *s = &window.slots[number % SLOTS];

		*s = (struct sp_slot){.start = number, .ticks = 7};
		s->commit = sp_commit_make(s->start, s->ticks, 0, SP_EV_read, number / SLOTS);
	}
}

static int is_of_one_time(void)
{
	return sp_slots_are_of_one_time(window.slots, SLOTS);
}

START_TEST(a_thread_that_stands_still)
{
	ck_assert_int_eq(is_of_one_time(), 1);
	for (uint64_t limit = 0; limit < 3 * SLOTS; limit++) {
		store(limit, limit + 1);
		ck_assert_int_eq(is_of_one_time(), 1);
	}
	store(250 * SLOTS, 256 * SLOTS + 40); /* generations begin again */
	ck_assert_int_eq(is_of_one_time(), 1);
}
END_TEST

START_TEST(the_first_half_is_older)
{
	store(0, SLOTS / 2);
	for (uint64_t generation = 1; generation < 255; generation++) {
		for (uint32_t i = SLOTS / 2; i < SLOTS; i++)
			store(generation * SLOTS + i, generation * SLOTS + i + 1);
		ck_assert_int_eq(is_of_one_time(), 0);
	}
}
END_TEST

/* The first half is of slots 2 * 256 on, the end of the second half too. */
START_TEST(the_first_half_is_newer)
{
	store(0, SLOTS);
	store(2 * SLOTS, 2 * SLOTS + SLOTS / 2);
	ck_assert_int_eq(is_of_one_time(), 0);
}
END_TEST

START_TEST(empty_and_half_written_slots_are_left_out)
{
	store(0, SLOTS + 100);
	memset(&window.slots[5], 0, sizeof(window.slots[5]));
	window.slots[120].start ^= 1;
	ck_assert_int_eq(is_of_one_time(), 1);
}
END_TEST

START_TEST(a_window_that_never_passes_is_copied)
{
	store(0, SLOTS);
	store(2 * SLOTS, 2 * SLOTS + 100);
	sp_window_copy((uint8_t *)&copy, (const uint8_t *)&window, sizeof(window));
	ck_assert_mem_eq(&copy, &window, sizeof(window));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("window_copy");
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, a_thread_that_stands_still);
	tcase_add_test(tests, the_first_half_is_older);
	tcase_add_test(tests, the_first_half_is_newer);
	tcase_add_test(tests, empty_and_half_written_slots_are_left_out);
	tcase_add_test(tests, a_window_that_never_passes_is_copied);
	suite_add_tcase(suite, tests);
	return sp_suite_run(suite);
}
