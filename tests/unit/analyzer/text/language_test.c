/* SPDX-License-Identifier: Apache-2.0 */
/* The choice of the language, and the translation of a text. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/text/language.h"
#include "analyzer/text/text.h"
#include "analyzer/text/wrap.h"
#include "tests/unit/common/suite.h"

static const char *const variables[] = {"STAGEPROF_LANG", "LC_ALL", "LC_MESSAGES",
					"LC_CTYPE",	  "LANG",   "LANGUAGE"};

static void setup(void)
{
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		unsetenv(variables[i]);
}

static void teardown(void)
{
	sp_translate_into(SP_LANGUAGE_en);
	sp_translate_pause(false);
}

static const struct {
	const char *own, *all, *messages, *ctype, *lang, *list; /* NULL: not set */
	enum sp_language language;
	bool is_not_utf8;
} environments[] = {
	{NULL, NULL, NULL, NULL, NULL, NULL, SP_LANGUAGE_en, false},
	{NULL, NULL, NULL, NULL, "zh_CN.UTF-8", NULL, SP_LANGUAGE_zh_CN, false},
	{NULL, NULL, NULL, NULL, "zh_CN.utf8", NULL, SP_LANGUAGE_zh_CN, false},
	{NULL, NULL, NULL, NULL, "zh_CN", NULL, SP_LANGUAGE_zh_CN, false},
	{NULL, NULL, NULL, NULL, "zh_SG.UTF-8", NULL, SP_LANGUAGE_zh_CN, false},
	{NULL, NULL, NULL, NULL, "zh_TW.UTF-8", NULL, SP_LANGUAGE_en, false},
	{NULL, NULL, NULL, NULL, "de_DE.UTF-8", NULL, SP_LANGUAGE_en, false},
	{NULL, NULL, "zh_CN.UTF-8", NULL, "en_US.UTF-8", NULL, SP_LANGUAGE_zh_CN, false},
	{NULL, "en_US.UTF-8", "zh_CN.UTF-8", NULL, "zh_CN.UTF-8", NULL, SP_LANGUAGE_en, false},
	{NULL, "", "", NULL, "zh_CN.UTF-8", NULL, SP_LANGUAGE_zh_CN, false},
	{NULL, "C.UTF-8", NULL, NULL, NULL, "zh_CN", SP_LANGUAGE_zh_CN, false},
	{NULL, "C.UTF-8", NULL, NULL, NULL, "de:zh_CN:en", SP_LANGUAGE_zh_CN, false},
	{NULL, "zh_CN.UTF-8", NULL, NULL, NULL, "en:zh_CN", SP_LANGUAGE_en, false},
	{NULL, "zh_CN.UTF-8", NULL, NULL, NULL, "de", SP_LANGUAGE_zh_CN, false},
	{NULL, "C", NULL, NULL, NULL, "zh_CN", SP_LANGUAGE_en, false},
	{NULL, NULL, NULL, NULL, NULL, "zh_CN", SP_LANGUAGE_en, false},
	{"zh_CN", "C", NULL, NULL, NULL, NULL, SP_LANGUAGE_zh_CN, false},
	{"zh_CN", NULL, NULL, NULL, NULL, NULL, SP_LANGUAGE_zh_CN, false},
	{"en", "zh_CN.UTF-8", NULL, NULL, NULL, NULL, SP_LANGUAGE_en, false},
	{NULL, "zh_CN.GBK", NULL, NULL, NULL, NULL, SP_LANGUAGE_en, true},
	{NULL, "zh_CN.GB18030", NULL, NULL, NULL, NULL, SP_LANGUAGE_en, true},
	{NULL, NULL, "zh_CN.UTF-8", "en_US.ISO-8859-1", NULL, NULL, SP_LANGUAGE_en, true},
	{"zh_CN", "en_US.ISO-8859-1", NULL, NULL, NULL, NULL, SP_LANGUAGE_en, true},
	{NULL, "en_US.ISO-8859-1", NULL, NULL, NULL, NULL, SP_LANGUAGE_en, false},
};

static void set(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
}

START_TEST(environment_chooses)
{
	struct sp_language_choice choice;

	set("STAGEPROF_LANG", environments[_i].own);
	set("LC_ALL", environments[_i].all);
	set("LC_MESSAGES", environments[_i].messages);
	set("LC_CTYPE", environments[_i].ctype);
	set("LANG", environments[_i].lang);
	set("LANGUAGE", environments[_i].list);
	choice = sp_language_choose(NULL);
	ck_assert_int_eq(choice.language, environments[_i].language);
	ck_assert_int_eq(choice.locale != NULL, environments[_i].is_not_utf8);
	ck_assert_ptr_null(choice.unknown);
}
END_TEST

START_TEST(what_is_asked_for_comes_first)
{
	enum sp_language asked = SP_LANGUAGE_zh_CN;

	setenv("STAGEPROF_LANG", "en", 1);
	setenv("LC_ALL", "C", 1);
	ck_assert_int_eq(sp_language_choose(&asked).language, SP_LANGUAGE_zh_CN);
	setenv("LC_ALL", "zh_CN.GBK", 1);
	ck_assert_int_eq(sp_language_choose(&asked).language, SP_LANGUAGE_en);
	ck_assert_str_eq(sp_language_choose(&asked).locale, "zh_CN.GBK");
}
END_TEST

START_TEST(unknown_variable_is_told)
{
	setenv("STAGEPROF_LANG", "tlh", 1);
	setenv("LANG", "zh_CN.UTF-8", 1);
	ck_assert_str_eq(sp_language_choose(NULL).unknown, "tlh");
	ck_assert_int_eq(sp_language_choose(NULL).language, SP_LANGUAGE_zh_CN);
}
END_TEST

START_TEST(names_are_found)
{
	static const char *const chinese[] = {"zh_CN", "zh-CN",	  "ZH_cn",
					      "zh",    "zh-Hans", "zh_CN.UTF-8@pinyin"};
	static const char *const none[] = {"",	  "zh_TW", "zhx",     "z",     "e",
					   "enx", "de",	   "zh_CN_x", ".UTF-8"};
	enum sp_language language;

	for (size_t i = 0; i < sizeof(chinese) / sizeof(chinese[0]); i++) {
		ck_assert_msg(sp_language_find(chinese[i], &language), "%s", chinese[i]);
		ck_assert_int_eq(language, SP_LANGUAGE_zh_CN);
	}
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ck_assert_msg(!sp_language_find(none[i], &language), "%s", none[i]);
	ck_assert(sp_language_find("en_GB.UTF-8", &language));
	ck_assert_int_eq(language, SP_LANGUAGE_en);
}
END_TEST

START_TEST(texts_are_translated)
{
	char unknown[] = "no text of ours";
	bool was;

	ck_assert_str_eq(_("optimizer"), "optimizer");
	sp_translate_into(SP_LANGUAGE_zh_CN);
	ck_assert_str_eq(_("optimizer"), "优化器");
	ck_assert_str_eq(sp_translate_code(), "zh_CN");
	ck_assert_ptr_eq(sp_translate(unknown), unknown);
	ck_assert_str_eq(sp_translate(""), "");
	ck_assert_ptr_null(sp_translate(NULL));
	was = sp_translate_pause(true);
	ck_assert_str_eq(_("optimizer"), "optimizer");
	ck_assert_str_eq(sp_translate_code(), "en");
	sp_translate_pause(was);
	ck_assert_str_eq(_("optimizer"), "优化器");
}
END_TEST

START_TEST(plurals_have_their_forms)
{
	const char *one = "%u more file is damaged or incomplete";
	const char *many = "%u more files are damaged or incomplete";

	ck_assert_ptr_eq(sp_translate_plural(one, many, 1), one);
	ck_assert_ptr_eq(sp_translate_plural(one, many, 0), many);
	ck_assert_ptr_eq(sp_translate_plural(one, many, 2), many);
	sp_translate_into(SP_LANGUAGE_zh_CN);
	ck_assert_str_eq(sp_translate_plural(one, many, 1), "另有 %u 个文件损坏或不完整");
	ck_assert_str_eq(sp_translate_plural(one, many, 2), "另有 %u 个文件损坏或不完整");
	ck_assert_str_eq(sp_translate_plural("%u x", "%u xs", 2), "%u xs");
}
END_TEST

static const struct {
	const char *text;
	size_t columns;
	const char *first;
} lines[] = {
	{"one two three", 40, "one two three"},
	{"one two three", 7, "one two"},
	{"one two three", 8, "one two"},
	{"one two three", 6, "one"},
	{"onetwothree four", 5, "onetwothree"},
	{"onetwothree", 5, "onetwothree"},
	{"数据加载等待", 6, "数据加"},
	{"数据加载等待", 7, "数据加"},
	{"数据加载，等待", 8, "数据加"}, /* no line begins with the comma */
	{"数据（加载）等待", 6, "数据"}, /* none ends with the bracket */
	{"等待 batch 数据", 10, "等待 batch"},
	{"等待 num_workers", 8, "等待"},
	{"见docs文件", 5, "见"}, /* no word is cut */
	{"见docs文件", 6, "见docs"},
	{"12 %，占比", 4, "12"},
};

START_TEST(lines_end_where_they_may)
{
	size_t n = sp_wrap(lines[_i].text, lines[_i].columns);

	ck_assert_msg(n == strlen(lines[_i].first) &&
			      memcmp(lines[_i].text, lines[_i].first, n) == 0,
		      "%s in %zu columns: %.*s", lines[_i].text, lines[_i].columns, (int)n,
		      lines[_i].text);
}
END_TEST

START_TEST(prefix_takes_whole_characters)
{
	size_t width;

	ck_assert_uint_eq(sp_text_prefix("步数 x", 3, &width), 3);
	ck_assert_uint_eq(width, 2);
	ck_assert_uint_eq(sp_text_prefix("步数 x", 5, &width), 7);
	ck_assert_uint_eq(width, 5);
	ck_assert_uint_eq(sp_text_prefix("x", 5, &width), 1);
	ck_assert_uint_eq(width, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("language");
	TCase *language = tcase_create("language"), *text = tcase_create("text");

	tcase_add_checked_fixture(language, setup, teardown);
	tcase_add_loop_test(language, environment_chooses, 0,
			    sizeof(environments) / sizeof(environments[0]));
	tcase_add_test(language, what_is_asked_for_comes_first);
	tcase_add_test(language, unknown_variable_is_told);
	tcase_add_test(language, names_are_found);
	tcase_add_checked_fixture(text, setup, teardown);
	tcase_add_test(text, texts_are_translated);
	tcase_add_test(text, plurals_have_their_forms);
	tcase_add_loop_test(text, lines_end_where_they_may, 0, sizeof(lines) / sizeof(lines[0]));
	tcase_add_test(text, prefix_takes_whole_characters);
	suite_add_tcase(suite, language);
	suite_add_tcase(suite, text);
	return sp_suite_run(suite);
}
