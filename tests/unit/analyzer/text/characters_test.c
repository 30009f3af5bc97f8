/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The portable tools' table of characters gives utf8proc's answers.
 */
#include <check.h>
#include <stdlib.h>
#include <utf8proc.h>

#define utf8proc_category table_category
#define utf8proc_charwidth table_charwidth
#define utf8proc_iterate table_iterate
utf8proc_category_t table_category(utf8proc_int32_t code);
int table_charwidth(utf8proc_int32_t code);
utf8proc_ssize_t table_iterate(const utf8proc_uint8_t *text, utf8proc_ssize_t bytes,
			       utf8proc_int32_t *ret);
#include "cmake/portable/characters.c"
#include "tests/unit/common/suite.h"
#undef utf8proc_category
#undef utf8proc_charwidth
#undef utf8proc_iterate

START_TEST(test_properties)
{
	for (utf8proc_int32_t code = -3; code < 0x110003; code++) {
		if (table_category(code) != utf8proc_category(code) ||
		    table_charwidth(code) != utf8proc_charwidth(code))
			ck_abort_msg("U+%04X is another character", (unsigned)code);
	}
}
END_TEST

static void check_bytes(const utf8proc_uint8_t text[4], utf8proc_ssize_t bytes)
{
	utf8proc_int32_t ours, theirs;
	utf8proc_ssize_t n = table_iterate(text, bytes, &ours);

	/* no ck_assert: it writes a message to its parent each time */
	if (n != utf8proc_iterate(text, bytes, &theirs) || ours != theirs)
		ck_abort_msg("%02X %02X %02X %02X, %d bytes: U+%04X, by utf8proc U+%04X", text[0],
			     text[1], text[2], text[3], (int)bytes, (unsigned)ours,
			     (unsigned)theirs);
}

/* All of two bytes; of four, all first three and each kind of the fourth. */
START_TEST(test_decoding)
{
	static const utf8proc_uint8_t fourth[] = {0, 0x7F, 0x80, 0x8F, 0x90, 0xBF, 0xC0, 0xFF};

	for (unsigned i = 0; i < 1U << 16; i++)
		for (unsigned k = 0; k < 256; k++) {
			utf8proc_uint8_t text[4] = {(utf8proc_uint8_t)(i >> 8), (utf8proc_uint8_t)i,
						    (utf8proc_uint8_t)k, fourth[(i + k) % 8]};

			if (k < 5)
				check_bytes(text, (utf8proc_ssize_t)k);
			check_bytes(text, 4);
			check_bytes(text, -1);
		}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("characters");
	TCase *tests = tcase_create("as utf8proc");

	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, test_properties);
	tcase_add_test(tests, test_decoding);
	suite_add_tcase(suite, tests);
	return sp_suite_run(suite);
}
