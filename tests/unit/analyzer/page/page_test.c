/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the HTML page: names that stay text, steps thinned, the longest events kept.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/print/html_writer.h"
#include "analyzer/training/step_rows.h"
#include "analyzer/page/timeline_json.h"
#include "tests/unit/common/load.h"
#include "tests/unit/common/suite.h"
#include "tests/unit/common/trace_maker.h"

enum { ADAM = 1, LABEL };
enum { STEPS = 500, SLOW = 321, WAIT_NS = 1000, BACKWARD_NS = 900, STEP_NS = 400, SLOW_NS = 77777 };

static char folder[64];
static struct sp_load load;

static void setup(void)
{
	sp_folder_make(folder);
}

static void teardown(void)
{
	sp_load_finish(&load);
	sp_folder_remove(folder);
}

static void span(struct sp_maker *m, uint32_t kind, uint32_t arg, uint64_t ns, int64_t value)
{
	uint64_t start = m->now_ticks;

	m->now_ticks += ns;
	sp_maker_around(m, kind, arg, start, value);
}

/* Step i takes i ns longer than step 0; one is slow. */
static void load_steps(void)
{
	struct sp_maker m;

	sp_maker_init(&m, 10, 10, 0);
	sp_maker_header(&m);
	sp_maker_define(&m, SP_DEFINE_NAME, ADAM, "Optimizer.step#Adam.step", 24);
	sp_maker_define(&m, SP_DEFINE_NAME, LABEL, "label", 5);
	for (uint64_t i = 0; i < STEPS; i++) {
		span(&m, SP_EV_loader_next, LABEL, WAIT_NS, 0);
		span(&m, SP_EV_python_call, LABEL, BACKWARD_NS + i + (i == SLOW ? SLOW_NS : 0),
		     SP_PHASE_backward);
		span(&m, SP_EV_torch_range, ADAM, STEP_NS, 0);
	}
	sp_maker_put(&m, folder, "a.zst");
	sp_load_one(&load, folder);
	ck_assert_uint_eq(load.report.training.count, 1);
	ck_assert_uint_eq(load.report.training.trainers[0].steps.count, STEPS);
}

static void check_text(const char *text, size_t bytes, const char *expected)
{
	char *shown;
	size_t shown_bytes;
	FILE *f = open_memstream(&shown, &shown_bytes);

	sp_html_text(f, text, bytes);
	fclose(f);
	ck_assert_str_eq(shown, expected);
	free(shown);
}

START_TEST(names_stay_text)
{
#define CHECK_TEXT(text, expected) check_text(text, sizeof(text) - 1, expected)
	CHECK_TEXT("</script><script>", "&lt;/script&gt;&lt;script&gt;");
	CHECK_TEXT("\"' onload='x'&amp;", "&quot;&#39; onload=&#39;x&#39;&amp;amp;");
	CHECK_TEXT("a\0b\033[31m\r\n", "a\\x00b\\x1B[31m\\x0D\\x0A");
	CHECK_TEXT("\xE2\x80\xAE"
		   "evil\xFF\xC3(",
		   "\\u{202E}evil\\xFF\\xC3(");
	CHECK_TEXT("\xE5\xAE\xBD", "\xE5\xAE\xBD");
#undef CHECK_TEXT
}
END_TEST

START_TEST(long_names_keep_both_ends)
{
	char text[5000];

	memset(text, '<', sizeof(text));
	text[0] = 'A';
	text[sizeof(text) - 1] = 'Z';

	char *shown;
	size_t bytes;
	FILE *f = open_memstream(&shown, &bytes);

	sp_html_text(f, text, sizeof(text));
	fclose(f);
	ck_assert_uint_lt(bytes, 1200);
	ck_assert(shown[0] == 'A' && shown[bytes - 1] == 'Z');
	ck_assert_ptr_eq(strchr(shown, '<'), NULL);
	free(shown);
}
END_TEST

START_TEST(lines_are_facts_or_sentences)
{
	char *shown;
	size_t bytes;
	struct sp_html m = {.file = open_memstream(&shown, &bytes)};

	sp_html_line(&m, "host       <vm>");
	sp_html_line(&m, "           and more");
	sp_html_line(&m, "58,486 more rows");
	sp_html_end(&m);
	fclose(m.file);
	ck_assert_str_eq(shown, "<dl>\n<dt>host</dt><dd>&lt;vm&gt;</dd>\n<dd>and more</dd>\n</dl>\n"
				"<p class=\"line\">58,486 more rows</p>\n");
	free(shown);
}
END_TEST

START_TEST(thinned_steps_keep_what_stands_out)
{
	static const uint32_t most[] = {2, 3, 50, 499, 500, 1000};

	load_steps();
	for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); i++) {
		struct sp_step_rows rows;
		bool slow = false, fast = false;

		ck_assert_int_eq(sp_step_rows_gather(&rows, &load.report.training), 0);
		sp_step_rows_thin(&rows, most[i]);
		ck_assert_uint_le(rows.count, most[i]);
		ck_assert_uint_eq(rows.count + rows.thinned, STEPS);
		ck_assert(most[i] < STEPS || rows.count == STEPS);
		for (uint32_t k = 0; k < rows.count; k++) {
			ck_assert(k == 0 || rows.list[k].step > rows.list[k - 1].step);
			slow |= rows.list[k].step == SLOW;
			fast |= rows.list[k].step == 0;
		}
		ck_assert(slow && fast);
		sp_step_rows_finish(&rows);
	}
}
END_TEST

START_TEST(the_window_has_all_events_and_the_rest_the_longest)
{
	const struct sp_step *steps;
	struct sp_timeline t;

	load_steps();
	steps = load.report.training.trainers[0].steps.steps;
	ck_assert_int_eq(sp_timeline_read(&t, &load.report.totals, &load.report.training,
					  &load.report.workers, 2 * 20),
			 0);
	ck_assert_uint_eq(t.count, 1);
	ck_assert_int_eq(t.lanes[0].role, SP_LANE_TRAINER);
	ck_assert_uint_eq(t.slowest_step, SLOW);
	ck_assert_int_eq(t.from_ns, steps[SLOW - 1].start_ns);
	ck_assert_int_eq(t.to_ns, steps[SLOW + 1].end_ns);
	/* three steps of three events each */
	ck_assert_uint_eq(t.lanes[0].inside.seen, 9);
	ck_assert_uint_eq(t.lanes[0].inside.count, 9);
	ck_assert_uint_eq(t.lanes[0].outside.seen, 3 * STEPS - 9);
	ck_assert_uint_eq(t.lanes[0].outside.count, 20);
	/* the last backwards are the longest */
	for (uint32_t i = 0; i < 20; i++)
		ck_assert_uint_ge(t.lanes[0].outside.events[i].dur_ns, BACKWARD_NS + STEPS - 20);
	sp_timeline_finish(&t);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("page");
	TCase *tests = tcase_create("all");

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, names_stay_text);
	tcase_add_test(tests, long_names_keep_both_ends);
	tcase_add_test(tests, lines_are_facts_or_sentences);
	tcase_add_test(tests, thinned_steps_keep_what_stands_out);
	tcase_add_test(tests, the_window_has_all_events_and_the_rest_the_longest);
	suite_add_tcase(suite, tests);
	return sp_suite_run(suite);
}
