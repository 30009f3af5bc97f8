/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The price of recording, from known words of headers.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/sections/own_cost.h"
#include "tests/unit/common/load.h"
#include "tests/unit/common/suite.h"
#include "tests/unit/common/trace_maker.h"

static char folder[64];
static struct sp_load load;

struct words {
	uint64_t event_ps, own_ns, stall_ns;
};

/* A process of 100 events of 1 µs, 10 ns apart. */
static void process(uint32_t pid, const struct words *words)
{
	struct sp_maker m;
	char name[32];

	sp_maker_init(&m, pid, pid, 0);
	m.header.event_ps = sp_checked_make(words->event_ps);
	m.header.own_ns = sp_checked_make(words->own_ns);
	m.header.stall_ns = sp_checked_make(words->stall_ns);
	sp_maker_header(&m);
	for (int i = 0; i < 100; i++)
		sp_maker_event(&m, SP_EV_read, 0, 1000, 1);
	snprintf(name, sizeof(name), "%u.zst", pid);
	sp_maker_put(&m, folder, name);
}

static struct sp_own_cost load_cost(const struct sp_selection *selection)
{
	sp_load(&load, (const char *const[]){folder, NULL}, 2, selection);
	return sp_own_cost_of(&load.report);
}

static void setup(void)
{
	sp_folder_make(folder);
}

static void teardown(void)
{
	sp_load_finish(&load);
	sp_folder_remove(folder);
}

START_TEST(sums_over_processes)
{
	struct sp_own_cost cost;

	process(10, &(struct words){20000, 700, 400});
	process(11, &(struct words){30000, 500, 450});
	cost = load_cost(NULL);
	ck_assert_uint_eq(cost.events, 200);
	ck_assert_uint_eq(cost.record_ns, 100 * 20 + 100 * 30);
	ck_assert_uint_eq(cost.block_ns, 1200);
	ck_assert_uint_eq(cost.stall_ns, 450);
	ck_assert_uint_eq(cost.thread_ns, 2 * 100 * 1010);
	ck_assert_uint_eq(cost.unpriced, 0);
}
END_TEST

START_TEST(what_is_not_told_is_no_zero)
{
	struct sp_own_cost cost;
	char *text;

	process(10, &(struct words){0, 0, 0});
	process(11, &(struct words){30000, 0, 0});
	cost = load_cost(NULL);
	ck_assert_uint_eq(cost.events, 100);
	ck_assert_uint_eq(cost.unpriced, 1);
	ck_assert(!cost.has_blocks);
	text = sp_load_print(&load, "summary", SP_FORMAT_JSON);
	ck_assert_ptr_nonnull(strstr(text, "\"block_ns\":null"));
	ck_assert_ptr_nonnull(strstr(text, "\"stall_ns_max\":null"));
	ck_assert_ptr_nonnull(strstr(text, "\"record_ns\":3000"));
	free(text);
}
END_TEST

/* The cost of blocks is known for a process only; a time range has the cost of its events. */
START_TEST(of_a_part_of_the_run)
{
	struct sp_selection half = {0, 0, INT64_MIN, 50 * 1010};
	struct sp_own_cost cost;

	process(10, &(struct words){20000, 700, 400});
	cost = load_cost(&half);
	ck_assert_uint_eq(cost.events, 50);
	ck_assert_uint_eq(cost.record_ns, 50 * 20);
	ck_assert(!cost.has_blocks);
}
END_TEST

/* A hostile price passes no check of reason, and overflows nothing. */
START_TEST(absurd_words)
{
	struct sp_own_cost cost;

	process(10, &(struct words){(UINT64_C(1) << 56) - 1, (UINT64_C(1) << 56) - 1, 1});
	cost = load_cost(NULL);
	ck_assert_uint_eq(cost.events, 0);
	ck_assert_uint_eq(cost.unpriced, 1);
	free(sp_load_print(&load, "summary", SP_FORMAT_TABLE));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("own_cost");
	TCase *t = tcase_create("own_cost");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, sums_over_processes);
	tcase_add_test(t, what_is_not_told_is_no_zero);
	tcase_add_test(t, of_a_part_of_the_run);
	tcase_add_test(t, absurd_words);
	suite_add_tcase(s, t);
	return sp_suite_run(s);
}
