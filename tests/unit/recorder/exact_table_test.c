/* SPDX-License-Identifier: Apache-2.0 */
/* The times of functions that call each other and themselves, by a clock that the test sets. */
#include <check.h>
#include <stdlib.h>

#include "preload/interpreter/exact_table.h"
#include "tests/unit/common/suite.h"

static struct sp_exact_table *table;
static int outer, inner;

static void setup(void)
{
	table = calloc(1, sizeof(*table));
	ck_assert_ptr_nonnull(table);
	table->ticks_in_us = 1;
}

static void teardown(void)
{
	free(table);
}

static const struct sp_exact_function *function_of(const void *key)
{
	for (uint32_t i = 0; i < table->count; i++)
		if (table->functions[table->used[i]].key == key)
			return &table->functions[table->used[i]];
	ck_abort_msg("the table lacks a function");
	return NULL;
}

/* An event at this tick; the recorder takes one tick of it. */
static void enter(void *key, uint64_t now)
{
	sp_exact_push(table, key, 0, now);
	table->last = now + 1;
}

static const void *innermost(void)
{
	return table->depth ? table->functions[table->stack[table->depth - 1].function].key : NULL;
}

static void leave(uint64_t now)
{
	sp_exact_pop(table, innermost(), now);
	table->last = now + 1;
}

START_TEST(time_is_the_innermost_functions)
{
	enter(&outer, 100);
	enter(&inner, 111); /* outer: 10 */
	leave(132);	    /* inner: 20 */
	enter(&inner, 138); /* outer: 5 */
	leave(142);	    /* inner: 3 */
	leave(150);	    /* outer: 7 */
	ck_assert_uint_eq(function_of(&outer)->own, 22);
	ck_assert_uint_eq(function_of(&outer)->total, 45);
	ck_assert_uint_eq(function_of(&outer)->own_spans, 3);
	ck_assert_uint_eq(function_of(&outer)->total_spans, 5);
	ck_assert_uint_eq(function_of(&inner)->calls, 2);
	ck_assert_uint_eq(function_of(&inner)->own, 23);
	ck_assert_uint_eq(function_of(&inner)->total, 23);
	ck_assert_uint_eq(table->depth, 0);
}
END_TEST

START_TEST(recursion_counts_its_time_once)
{
	enter(&outer, 0);
	enter(&outer, 11); /* 10 */
	enter(&inner, 22); /* 10 */
	enter(&outer, 33); /* inner: 10 */
	leave(44);	   /* 10 */
	leave(55);	   /* inner: 10 */
	leave(66);	   /* 10 */
	leave(77);	   /* 10 */
	ck_assert_uint_eq(function_of(&outer)->calls, 3);
	ck_assert_uint_eq(function_of(&outer)->own, 50);
	ck_assert_uint_eq(function_of(&outer)->total, 70);
	ck_assert_uint_eq(function_of(&inner)->total, 30);
}
END_TEST

START_TEST(fetches_are_squared_apart)
{
	for (uint64_t fetch = 1; fetch <= 3; fetch++) {
		for (uint64_t i = 0; i < fetch; i++) {
			enter(&inner, 10 * i);
			leave(10 * i + 3);
		}
		sp_exact_fetch_end(table);
	}
	ck_assert_uint_eq(function_of(&inner)->calls, 1 + 2 + 3);
	ck_assert_uint_eq(function_of(&inner)->calls_squares, 1 + 4 + 9);
	ck_assert_uint_eq(function_of(&inner)->own_squares, 4 + 16 + 36);
}
END_TEST

START_TEST(full_tables_say_so)
{
	static char keys[SP_EXACT_FUNCTIONS * 16];

	for (uint32_t i = 0; i < SP_EXACT_FUNCTIONS; i++) {
		enter(&keys[i * 16u], i);
		leave(i);
	}
	ck_assert_uint_eq(table->is_full, 1);
	ck_assert_uint_lt(table->count, SP_EXACT_FUNCTIONS);
	table->is_full = 0;
	for (uint32_t i = 0; i <= SP_EXACT_DEPTH; i++)
		enter(keys, i);
	ck_assert_uint_eq(table->is_full, 1);
	ck_assert_uint_eq(table->depth, SP_EXACT_DEPTH);
	for (uint32_t i = 0; i <= SP_EXACT_DEPTH; i++)
		leave(i);
	ck_assert_uint_eq(table->depth, 0);
}
END_TEST

START_TEST(windows_begin_and_end_inside_of_calls)
{
	table->last = 100;
	sp_exact_open(table, &outer);
	enter(&inner, 110);		  /* outer: 10 */
	sp_exact_pop(table, &outer, 120); /* that is not the innermost: inner: 9 */
	table->last = 121;
	leave(126);		    /* inner: 5 */
	enter(&inner, 130);	    /* outer: 3 */
	sp_exact_close(table, 140); /* inner: 9 */
	ck_assert_uint_eq(table->depth, 0);
	ck_assert_uint_eq(function_of(&outer)->calls, 0);
	ck_assert_uint_eq(function_of(&outer)->own, 13);
	ck_assert_uint_eq(function_of(&outer)->total, 36);
	ck_assert_uint_eq(function_of(&inner)->calls, 2);
	ck_assert_uint_eq(function_of(&inner)->own, 23);
	ck_assert_uint_eq(function_of(&inner)->total, 23);
}
END_TEST

START_TEST(phases_have_rows_of_their_own)
{
	for (uint32_t phase = 0; phase < 2; phase++) {
		table->phase = phase;
		enter(&inner, 100 * phase);
		leave(100 * phase + 10 + phase);
	}
	ck_assert_uint_eq(table->count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		ck_assert_uint_eq(table->functions[table->used[i]].phase, i);
		ck_assert_uint_eq(table->functions[table->used[i]].own, 9 + i);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("exact_table");
	TCase *tcase = tcase_create("exact_table");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, time_is_the_innermost_functions);
	tcase_add_test(tcase, recursion_counts_its_time_once);
	tcase_add_test(tcase, fetches_are_squared_apart);
	tcase_add_test(tcase, full_tables_say_so);
	tcase_add_test(tcase, windows_begin_and_end_inside_of_calls);
	tcase_add_test(tcase, phases_have_rows_of_their_own);
	suite_add_tcase(suite, tcase);
	return sp_suite_run(suite);
}
