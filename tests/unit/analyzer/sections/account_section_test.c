/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The account of the first screen, where few lines are left for it. One tick is one ns.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/print/out.h"
#include "analyzer/sections/account_section.h"
#include "tests/unit/common/judged_trace.h"
#include "tests/unit/common/suite.h"

enum { LOADER = 1, ADAM };
enum { STEPS = 40, WORK_NS = 600000, WAIT_NS = 200000, LITTLE_NS = 20000 };

static void setup(void)
{
	judged_trace_begin();
	name(LOADER, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
	name(ADAM, "Optimizer.step#Adam.step");
}

/* The account of 40 steps, in at most `lines` lines. The caller frees it. */
static char *account_of(uint64_t wait_ns, unsigned lines)
{
	struct sp_out out = {.format = SP_FORMAT_TABLE};
	char *text = NULL;
	size_t bytes = 0;

	for (int i = 0; i < STEPS; i++) {
		span(SP_EV_torch_range, LOADER, wait_ns, 0);
		m.now_ticks += WORK_NS;
		span(SP_EV_torch_backward, ADAM, WORK_NS, 0);
		span(SP_EV_torch_range, ADAM, WORK_NS, 0);
	}
	judge();
	out.file = open_memstream(&text, &bytes);
	ck_assert_ptr_nonnull(out.file);
	sp_out_begin(&out);
	ck_assert_int_eq(sp_account_section_brief(&load.report, &out, lines), 0);
	ck_assert_int_eq(sp_out_end(&out), 0);
	fclose(out.file);
	return text;
}

static bool has_wait(uint64_t wait_ns, unsigned lines)
{
	char *text = account_of(wait_ns, lines);
	bool has = strstr(text, "input wait");

	ck_assert_ptr_nonnull(strstr(text, "the others"));
	ck_assert_ptr_nonnull(strstr(text, "together"));
	free(text);
	return has;
}

START_TEST(a_tenth_of_the_time_has_its_row)
{
	ck_assert(has_wait(WAIT_NS, 6));
}
END_TEST

START_TEST(a_small_wait_is_one_of_the_others)
{
	ck_assert(!has_wait(LITTLE_NS, 6));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("account_section");
	TCase *c = tcase_create("brief");

	tcase_add_checked_fixture(c, setup, judged_trace_end);
	tcase_add_test(c, a_tenth_of_the_time_has_its_row);
	tcase_add_test(c, a_small_wait_is_one_of_the_others);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
