/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The three functions of utf8proc that stageprof calls, with the same answers. A portable tool
 * contains them in place of utf8proc's archive, whose one member has 300 KB of tables for other
 * questions. scripts/tables/characters.c makes the table from utf8proc itself.
 */
#include <stddef.h>
#include <stdint.h>
#include <utf8proc.h>

/* Each begins where the one before ends: code << 7 | category << 2 | width. */
static const uint32_t ranges[] = {
#include "characters.inc"
};

static uint32_t range_of(utf8proc_int32_t code)
{
	size_t low = 0, high = sizeof(ranges) / sizeof(ranges[0]);

	if (code < 0 || code > 0x10FFFF)
		return UTF8PROC_CATEGORY_CN << 2 | 1;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (ranges[middle] >> 7 <= (uint32_t)code)
			low = middle;
		else
			high = middle;
	}
	return ranges[low];
}

utf8proc_category_t utf8proc_category(utf8proc_int32_t code)
{
	return (utf8proc_category_t)(range_of(code) >> 2 & 31);
}

int utf8proc_charwidth(utf8proc_int32_t code)
{
	return range_of(code) & 3;
}

/* How many bytes a character takes that begins so, and the least code that needs as many. 0: no
 * character begins so. */
static size_t bytes_after(uint8_t first, uint32_t *ret_least)
{
	static const struct {
		uint8_t from, to;
		uint32_t least;
	} rows[] = {{0, 0x7F, 0}, {0xC2, 0xDF, 0x80}, {0xE0, 0xEF, 0x800}, {0xF0, 0xF4, 0x10000}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (first >= rows[i].from && first <= rows[i].to) {
			*ret_least = rows[i].least;
			return i + 1;
		}
	return 0;
}

/* bytes: -1 where the text ends with a NUL. */
utf8proc_ssize_t utf8proc_iterate(const utf8proc_uint8_t *text, utf8proc_ssize_t bytes,
				  utf8proc_int32_t *ret)
{
	uint32_t least = 0, code;
	size_t n;

	*ret = -1;
	if (bytes == 0)
		return 0;
	n = bytes_after(text[0], &least);
	if (n == 0 || (bytes > 0 && n > (size_t)bytes))
		return UTF8PROC_ERROR_INVALIDUTF8;
	code = n == 1 ? text[0] : text[0] & (0x7FU >> n);
	for (size_t i = 1; i < n; i++) {
		if ((text[i] & 0xC0) != 0x80)
			return UTF8PROC_ERROR_INVALIDUTF8;
		code = code << 6 | (text[i] & 0x3F);
	}
	if (code < least || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
		return UTF8PROC_ERROR_INVALIDUTF8;
	*ret = (utf8proc_int32_t)code;
	return (utf8proc_ssize_t)n;
}
