/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line that made a loader, and the one that set the threads, from what the recorder left of
 * all.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/metrics/metrics_facts.h"
#include "analyzer/report/report.h"
#include "tests/unit/common/suite.h"

static struct sp_report *report;
static char text[SP_METRIC_TEXT_BYTES];

static struct sp_string_table *coverage(void)
{
	return &report->run.metadata.coverage.names;
}

static void setup(void)
{
	report = calloc(1, sizeof(*report));
	ck_assert_ptr_nonnull(report);
	ck_assert_int_eq(sp_string_table_init(coverage(), 100), 0);
}

static void teardown(void)
{
	sp_string_table_finish(coverage());
	free(report);
}

static void seen(const char *line)
{
	ck_assert_uint_ne(sp_string_table_add(coverage(), line, strlen(line)), 0);
}

static void expect(double workers, const char *want)
{
	ck_assert_str_eq(sp_facts_loader(report, workers, text), want);
}

START_TEST(the_loader_with_so_many_workers_is_meant)
{
	expect(0, "");
	seen("loader\tbound\t0 /home/me/job/train.py:57");
	seen("loader\tbound\t2 /home/me/job/validate.py:7");
	seen("dataset\tbound\tindexed");
	expect(0, " in DataLoader at job/train.py:57");
	expect(2, " in DataLoader at job/validate.py:7");
	expect(1, "");
	expect(-1, "");
}
END_TEST

START_TEST(two_are_both_named_and_more_are_not)
{
	seen("loader\tbound\t4 a.py:1");
	seen("loader\tbound\t4 b.py:2");
	expect(4, " in DataLoader at a.py:1 or b.py:2");
	seen("loader\tbound\t4 c.py:3");
	expect(4, "");
}
END_TEST

START_TEST(senseless_lines_name_nothing)
{
	char line[600] = "loader\tbound\t3 ";

	seen("loader\tbound\t");
	seen("loader\tbound\t3");
	seen("loader\tbound\t33333333333333333333333 x.py:1");
	expect(3, "");
	memset(line + strlen(line), 'x', 500);
	seen(line);
	ck_assert_uint_lt(strlen(sp_facts_loader(report, 3, text)), 250);
	seen("loader\tbound\t5 /a/\x1b[31mred.py:9");
	ck_assert_ptr_null(strchr(sp_facts_loader(report, 5, text), '\x1b'));
}
END_TEST

static void expect_way(double threads, const char *want)
{
	ck_assert_str_eq(sp_facts_threads_way(report, threads, 4, text), want);
}

START_TEST(what_set_the_threads_is_what_to_change)
{
	const char *both = "torch.set_num_threads(4), or OMP_NUM_THREADS where nothing calls it,";

	expect_way(1, both);
	seen("threads-environ\tbound\t1");
	expect_way(1, "OMP_NUM_THREADS=4");
	expect_way(2, both);
	seen("threads-set\tbound\t1 /home/me/job/train.py:9");
	expect_way(1, "torch.set_num_threads(4) at job/train.py:9");
	seen("threads-set\tbound\t1 /home/me/job/other.py:9");
	expect_way(1, both);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("loader_lines");
	TCase *c = tcase_create("facts");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, the_loader_with_so_many_workers_is_meant);
	tcase_add_test(c, two_are_both_named_and_more_are_not);
	tcase_add_test(c, senseless_lines_name_nothing);
	tcase_add_test(c, what_set_the_threads_is_what_to_change);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
