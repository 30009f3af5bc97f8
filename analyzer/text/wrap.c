/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/text/wrap.h"

#include <stdbool.h>
#include <string.h>
#include <utf8proc.h>

struct character {
	utf8proc_int32_t code;
	size_t bytes, width;
};

static struct character character_at(const char *text, size_t left)
{
	struct character c = {.bytes = 1, .width = 1};
	utf8proc_ssize_t n =
		utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)left, &c.code);

	if (n <= 0)
		return c;
	c.bytes = (size_t)n;
	c.width = (size_t)utf8proc_charwidth(c.code);
	return c;
}

/* No line begins with a closing mark or ends with an opening mark: GB/T 15834, 5.1. */
static bool may_begin_line(utf8proc_int32_t code)
{
	utf8proc_category_t category = utf8proc_category(code);

	return category != UTF8PROC_CATEGORY_PE && category != UTF8PROC_CATEGORY_PF &&
	       category != UTF8PROC_CATEGORY_PO;
}

static bool may_end_line(utf8proc_int32_t code)
{
	utf8proc_category_t category = utf8proc_category(code);

	return category != UTF8PROC_CATEGORY_PS && category != UTF8PROC_CATEGORY_PI;
}

static bool may_break(const struct character *before, const struct character *after)
{
	if (after->code == ' ')
		return true;
	return before->code != ' ' && (before->width == 2 || after->width == 2) &&
	       may_end_line(before->code) && may_begin_line(after->code);
}

size_t sp_wrap(const char *text, size_t columns)
{
	size_t bytes = strlen(text), at = 0, width = 0, last = 0;
	struct character before = {.code = ' '};

	while (at < bytes) {
		struct character c = character_at(text + at, bytes - at);

		if (at && may_break(&before, &c)) {
			if (width > columns)
				return last ? last : at;
			last = at;
		}
		at += c.bytes;
		width += c.width;
		before = c;
	}
	return width > columns && last ? last : bytes;
}
