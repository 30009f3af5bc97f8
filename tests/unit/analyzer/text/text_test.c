/* SPDX-License-Identifier: Apache-2.0 */
/* Names from a trace are hostile: no format may carry them raw. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "analyzer/print/table.h"
#include "analyzer/text/text.h"
#include "tests/unit/common/load.h"
#include "tests/unit/common/suite.h"
#include "tests/unit/common/trace_maker.h"

static const char *const hostile[] = {
	"/data/\033[31mred\033[0m.jpg",
	"/data/\033]0;title\a.jpg",
	"/data/line\nbreak.jpg",
	"/data/tab\tand\rreturn.jpg",
	"/data/\x7f\xc2\x9b"
	"31mC1.jpg",
	"/data/\xe2\x80\xae"
	"gpj.exe",
	"/data/\xe2\x81\xa6isolate",
	"/data/</script><script>alert(1)</script>",
	"=cmd|' /C calc'!A0",
	"+1+1",
	"@SUM(1)",
	"-1",
	"/data/\xff\xfe\xc3(.jpg",
	"/data/\xed\xa0\x80surrogate",
	"/data/\"quoted\\\".jpg",
	"/data/\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e.jpg",
	"/data/\xe2\x80\xa8line separator",
	"\t=tab",
};
#define NAMES (sizeof(hostile) / sizeof(hostile[0]))

static char folder[64];
static struct sp_load load;

static void setup(void)
{
	struct sp_maker m;

	sp_folder_make(folder);
	sp_maker_init(&m, 10, 10, 0);
	memcpy(m.header.host, "h\033[2J\n", 7);
	memcpy(m.header.exe, "=x\033\xff", 5);
	memcpy(m.header.comm, "\xe2\x80\xae@c", 6);
	sp_maker_header(&m);
	for (uint32_t i = 0; i < NAMES; i++) {
		sp_maker_file(&m, i + 1, SP_FILE_REGULAR, hostile[i]);
		sp_maker_event(&m, SP_EV_read, i + 1, 10, 1);
		sp_maker_define(&m, SP_DEFINE_NOTE, 0, hostile[i], strlen(hostile[i]));
		sp_maker_define(&m, SP_DEFINE_COVERAGE, 0, hostile[i], strlen(hostile[i]));
	}
	sp_maker_define(&m, SP_DEFINE_COMMAND, 0, "python\0\033[2J\0=1", 15);
	sp_maker_define(&m, SP_DEFINE_THREAD, 0, "\033]2;x\a", 6);
	sp_maker_put(&m, folder, "t.zst");
	sp_load_one(&load, folder);
}

static void teardown(void)
{
	sp_load_finish(&load);
	sp_folder_remove(folder);
}

static int is_unsafe(utf8proc_int32_t c)
{
	return (c < 0x20 && c != '\n') || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069) || c == 0x2028 || c == 0x2029;
}

static void assert_safe(const char *text, int lines)
{
	const utf8proc_uint8_t *p = (const utf8proc_uint8_t *)text;
	utf8proc_ssize_t left = (utf8proc_ssize_t)strlen(text);
	int newlines = 0;

	while (left) {
		utf8proc_int32_t c;
		utf8proc_ssize_t n = utf8proc_iterate(p, left, &c);

		ck_assert_msg(n > 0, "not UTF-8 at: %.20s", (const char *)p);
		ck_assert_msg(!is_unsafe(c), "U+%04X stands raw", (unsigned)c);
		newlines += c == '\n';
		p += n;
		left -= n;
	}
	if (lines)
		ck_assert_int_eq(newlines, lines);
}

START_TEST(no_view_prints_them_raw)
{
	static const enum sp_format formats[] = {SP_FORMAT_TABLE, SP_FORMAT_JSON, SP_FORMAT_CSV};

	for (unsigned v = 0; v < sp_view_count; v++) {
		for (int f = 0; f < 3 && !(sp_views[v].needs & SP_IS_DOCUMENT); f++) {
			char *text = sp_load_print(&load, sp_views[v].name, formats[f]);

			assert_safe(text, 0);
			ck_assert_ptr_null(strstr(text, "</script>") && formats[f] == SP_FORMAT_JSON
						   ? text
						   : NULL);
			free(text);
		}
	}
}
END_TEST

/* The page's own style, script and licence have tabs. */
START_TEST(no_document_prints_them_raw)
{
	for (unsigned v = 0; v < sp_view_count; v++) {
		char *text;

		if (!(sp_views[v].needs & SP_IS_DOCUMENT))
			continue;
		text = sp_load_print(&load, sp_views[v].name, SP_FORMAT_TABLE);
		for (char *tab = text; (tab = strchr(tab, '\t'));)
			*tab = ' ';
		assert_safe(text, 0);
		ck_assert_ptr_null(strstr(text, "<script>alert"));
		ck_assert_ptr_nonnull(strstr(text, "&lt;/script&gt;&lt;script&gt;alert(1)"));
		free(text);
	}
}
END_TEST

START_TEST(a_row_stays_a_row)
{
	char *text = sp_load_print(&load, "files", SP_FORMAT_CSV);

	assert_safe(text, NAMES + 1);
	for (const char *line = strchr(text, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
		ck_assert_int_eq(line[0], '"');
		ck_assert_msg(!strchr("=+-@\t\r", line[1]), "a formula: %.20s", line);
	}
	free(text);
	text = sp_load_print(&load, "files", SP_FORMAT_TABLE);
	assert_safe(text, NAMES + 1);
	free(text);
}
END_TEST

static size_t escape(const char *text, char *ret)
{
	return sp_text_escape(ret, 64, text, strlen(text));
}

START_TEST(escapes_are_readable_and_counted)
{
	char text[64];

	ck_assert_uint_eq(escape("a\033b", text), 6);
	ck_assert_str_eq(text, "a\\x1Bb");
	ck_assert_uint_eq(escape("\xe2\x80\xae", text), 8);
	ck_assert_str_eq(text, "\\u{202E}");
	ck_assert_uint_eq(escape("\xe6\x97\xa5\xff", text), 6);
	ck_assert_str_eq(text, "\xe6\x97\xa5\\xFF");
	ck_assert_uint_eq(sp_text_escape(text, 4, "\xe6\x97\xa5\xe6\x97\xa5", 6), 2);
	ck_assert_str_eq(text, "\xe6\x97\xa5");
}
END_TEST

/* The text is no wider than asked, and at most `spare` narrower than it could be. */
static void assert_fits(const char *text, const char *full, size_t width, size_t spare)
{
	size_t whole = sp_text_width(full);

	ck_assert_uint_le(sp_text_width(text), width);
	ck_assert_uint_ge(sp_text_width(text) + spare, width < whole ? width : whole);
}

START_TEST(shortening_keeps_both_ends_and_the_width)
{
	static const char full[] = "/data/\xe6\x97\xa5\xe6\x9c\xac/\xe8\xaa\x9e\xe8\xaa\x9e/train/"
				   "0001/file-a.jpg";

	for (size_t width = 8; width < 60; width++) {
		char text[128];

		strcpy(text, full);
		sp_text_shorten(text, width);
		assert_fits(text, full, width, 2);
		ck_assert(utf8proc_category(text[0]) != UTF8PROC_CATEGORY_CN);
		ck_assert_ptr_nonnull(strstr(text, "g"));
	}
}
END_TEST

START_TEST(paths_give_whole_folders)
{
	static const char full[] = "/data/\xe6\x97\xa5\xe6\x9c\xac/train/0001/file-a.jpg";
	char text[128];

	for (size_t width = 8; width < 40; width++) {
		strcpy(text, full);
		sp_text_shorten_path(text, width);
		ck_assert_uint_le(sp_text_width(text), width);
		if (width < 14) { /* the file's name has no room */
			ck_assert_str_eq(text + strlen(text) - 5, "a.jpg");
			continue;
		}
		ck_assert_str_eq(text + strlen(text) - 11, "/file-a.jpg");
		ck_assert(strncmp(text, ".../", 4) == 0 || strcmp(text, full) == 0);
	}
	strcpy(text, full);
	sp_text_shorten_path(text, 26);
	ck_assert_str_eq(text, ".../train/0001/file-a.jpg");
}
END_TEST

START_TEST(cutting_keeps_the_beginning_and_the_width)
{
	static const char full[] = "item < \xe8\xaa\x9e\xe8\xaa\x9e\xe8\xaa\x9e < main";

	for (size_t width = 8; width < 30; width++) {
		char text[64];

		strcpy(text, full);
		sp_text_cut(text, width);
		assert_fits(text, full, width, 1);
		ck_assert_mem_eq(text, "item ", 5);
	}
}
END_TEST

START_TEST(numbers_have_three_digits)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} times[] = {{0, "0 ns"},
		     {999, "999 ns"},
		     {1000, "1.00 µs"},
		     {9999, "10.0 µs"},
		     {99949, "99.9 µs"},
		     {999499, "999 µs"},
		     {999500, "1.00 ms"},
		     {1500000000, "1.50 s"},
		     {UINT64_C(3600000000000), "1:00:00"},
		     {UINT64_C(999500000000), "0:16:40"},
		     {UINT64_C(86465600000000), "24:01:06"},
		     {UINT64_MAX, "5124095:34:34"}};
	char ret[SP_NUMBER_BYTES];

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		ck_assert_str_eq(sp_text_ns(ret, times[i].ns), times[i].text);
	sp_text_units_in_ascii(true);
	ck_assert_str_eq(sp_text_ns(ret, 9999), "10.0 us");
	sp_text_units_in_ascii(false);
	ck_assert_str_eq(sp_text_count(ret, UINT64_MAX), "18,446,744,073,709,551,615");
	ck_assert_str_eq(sp_text_count(ret, 999), "999");
	ck_assert_str_eq(sp_text_bytes(ret, 1234567), "1.23 MB");
	ck_assert_str_eq(sp_text_bytes(ret, UINT64_MAX), "18.4 EB");
}
END_TEST

static const struct sp_column wide[] = {
	{"a", "group", SP_CELL_TEXT}, {"b", "calls", SP_CELL_COUNT},
	{"c", "total", SP_CELL_NS},   {"d", "nothing", SP_CELL_BYTES},
	{"e", "mean", SP_CELL_NS},    {"f", "share", SP_CELL_SHARE},
	{"g", "file", SP_CELL_TEXT},
};

/* The table of two rows in that width, to free(). */
static char *table_of(unsigned width, const unsigned char *importance)
{
	static const char *const paths[] = {
		"/data/\xe6\x97\xa5\xe6\x9c\xac/\xe7\x85\xa7\xe7\x89\x87\xe7\x9a\x84\xe6\x96\x87"
		"\xe4\xbb\xb6\xe5\xa4\xb9/0001.jpg",
		"/data/a/long/way/to/a/folder/of/photographs/0002.jpg",
	};
	char *text = NULL;
	size_t bytes;
	FILE *file = open_memstream(&text, &bytes);
	struct sp_table *table = sp_table_create(file, wide, 7, importance, width, true, false);

	for (int i = 0; i < 2; i++) {
		struct sp_cell cells[] = {
			sp_cell_text("read"),	sp_cell_count(123456), sp_cell_count(1234567),
			sp_cell_count(0),	sp_cell_count(1234),   sp_cell_share(0.5),
			sp_cell_text(paths[i]),
		};

		ck_assert_int_eq(sp_table_row(table, cells), 0);
	}
	sp_table_destroy(table);
	fclose(file);
	return text;
}

static char *table_in(unsigned width)
{
	return table_of(width, NULL);
}

START_TEST(columns_give_way_by_importance)
{
	static const unsigned char mean_matters[7] = {[4] = 1};
	char *equal = table_in(46), *chosen = table_of(46, mean_matters);

	ck_assert_ptr_nonnull(strstr(equal, "left out for lack of width: nothing; mean"));
	ck_assert_ptr_nonnull(strstr(chosen, "left out for lack of width: total; nothing"));
	free(equal);
	free(chosen);
}
END_TEST

START_TEST(tables_fit_a_terminal)
{
	char *whole = table_in(0), *some = table_in(60);

	ck_assert_ptr_nonnull(strstr(whole, "nothing"));
	ck_assert_ptr_null(strstr(whole, "left out"));
	/* what says nothing goes before what says something; a path keeps its end */
	ck_assert_ptr_nonnull(strstr(some, "left out for lack of width: nothing ("));
	ck_assert_ptr_nonnull(strstr(some, "calls"));
	ck_assert_ptr_nonnull(strstr(some, "mean"));
	ck_assert_ptr_nonnull(strstr(some, "/0001.jpg"));
	for (unsigned width = 40; width < 120; width++) {
		char *text = table_in(width), *rest = text;

		ck_assert_ptr_nonnull(strstr(text, "50.0%")); /* shares stay */
		for (char *line; (line = strsep(&rest, "\n")) && *line;)
			ck_assert_uint_le(sp_text_width(line), width);
		free(text);
	}
	free(whole);
	free(some);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("text");
	TCase *tests = tcase_create("all");

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, no_view_prints_them_raw);
	tcase_add_test(tests, no_document_prints_them_raw);
	tcase_add_test(tests, a_row_stays_a_row);
	tcase_add_test(tests, escapes_are_readable_and_counted);
	tcase_add_test(tests, shortening_keeps_both_ends_and_the_width);
	tcase_add_test(tests, paths_give_whole_folders);
	tcase_add_test(tests, cutting_keeps_the_beginning_and_the_width);
	tcase_add_test(tests, numbers_have_three_digits);
	tcase_add_test(tests, columns_give_way_by_importance);
	tcase_add_test(tests, tables_fit_a_terminal);
	suite_add_tcase(suite, tests);
	return sp_suite_run(suite);
}
