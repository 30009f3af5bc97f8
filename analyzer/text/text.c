/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/text/text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <utf8proc.h>

static bool is_bidi_control(utf8proc_int32_t c)
{
	return c == 0x061C || (c >= 0x200E && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) ||
	       (c >= 0x2066 && c <= 0x2069);
}

static bool is_printable(utf8proc_int32_t c)
{
	switch (utf8proc_category(c)) {
	case UTF8PROC_CATEGORY_CC:
	case UTF8PROC_CATEGORY_CF:
	case UTF8PROC_CATEGORY_CN:
	case UTF8PROC_CATEGORY_CO:
	case UTF8PROC_CATEGORY_CS:
	case UTF8PROC_CATEGORY_ZL:
	case UTF8PROC_CATEGORY_ZP:
		return false;
	default:
		return !is_bidi_control(c);
	}
}

size_t sp_text_escape(char *ret, size_t ret_bytes, const char *text, size_t bytes)
{
	size_t width = 0, used = 0;

	while (bytes) {
		utf8proc_int32_t c;
		utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)text,
						      (utf8proc_ssize_t)bytes, &c);
		char escape[16];
		const char *shown = text;
		size_t shown_bytes;

		if (n <= 0 || c == 0) {
			snprintf(escape, sizeof(escape), "\\x%02X", (unsigned char)*text);
			n = 1;
			shown = escape;
		} else if (!is_printable(c)) {
			snprintf(escape, sizeof(escape), c < 0x80 ? "\\x%02X" : "\\u{%X}",
				 (unsigned)c);
			shown = escape;
		}
		shown_bytes = shown == escape ? strlen(escape) : (size_t)n;
		if (used + shown_bytes + 1 > ret_bytes)
			break;
		memcpy(ret + used, shown, shown_bytes);
		used += shown_bytes;
		width += shown == escape ? shown_bytes : (size_t)utf8proc_charwidth(c);
		text += n;
		bytes -= (size_t)n;
	}
	ret[used] = '\0';
	return width;
}

static size_t step(const char *text, size_t bytes, size_t *ret_width)
{
	utf8proc_int32_t c;
	utf8proc_ssize_t n =
		utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)bytes, &c);

	if (n <= 0) {
		*ret_width = 1;
		return 1;
	}
	*ret_width = (size_t)utf8proc_charwidth(c);
	return (size_t)n;
}

size_t sp_text_width(const char *text)
{
	size_t left = strlen(text), width = 0;

	while (left) {
		size_t w, n = step(text, left, &w);

		text += n;
		left -= n;
		width += w;
	}
	return width;
}

size_t sp_text_prefix(const char *text, size_t columns, size_t *ret_width)
{
	size_t left = strlen(text), bytes = 0;

	*ret_width = 0;
	while (bytes < left) {
		size_t w, n = step(text + bytes, left - bytes, &w);

		if (*ret_width + w > columns)
			break;
		bytes += n;
		*ret_width += w;
	}
	return bytes;
}

void sp_text_shorten(char *text, size_t width)
{
	size_t have = sp_text_width(text), bytes = strlen(text), head, tail, w = 0, columns, drop;

	if (have <= width)
		return;
	head = sp_text_prefix(text, (width - 3) / 3, &columns);
	/* the tail gets the rest of the width: ends distinguish files */
	drop = have - columns - (width - 3 - columns);
	for (tail = head, columns = 0; tail < bytes && columns < drop; columns += w)
		tail += step(text + tail, bytes - tail, &w);
	if (tail - head < 3)
		return;
	memcpy(text + head, "...", 3);
	memmove(text + head + 3, text + tail, bytes - tail + 1);
}

void sp_text_shorten_path(char *text, size_t width)
{
	char *slash = strchr(text, '/');
	size_t of_character;

	if (sp_text_width(text) <= width)
		return;
	while (slash && sp_text_width(slash) + 3 > width)
		slash = strchr(slash + 1, '/');
	if (!slash || !slash[1])
		slash = text;
	while (*slash && sp_text_width(slash) + 3 > width)
		slash += step(slash, strlen(slash), &of_character);
	memmove(text + 3, slash, strlen(slash) + 1);
	memcpy(text, "...", 3);
}

void sp_text_cut(char *text, size_t width)
{
	size_t columns, head;

	if (sp_text_width(text) <= width)
		return;
	head = sp_text_prefix(text, width - 3, &columns);
	if (strlen(text) - head >= 3)
		strcpy(text + head, "...");
}

const char *sp_text_count(char ret[SP_NUMBER_BYTES], uint64_t n)
{
	char digits[SP_NUMBER_BYTES];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, n);
	char *p = ret;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = '\0';
	return ret;
}

static const char *three_digits(char ret[SP_NUMBER_BYTES], double x, const char *unit)
{
	snprintf(ret, SP_NUMBER_BYTES, "%.*f %s", x < 9.995 ? 2 : x < 99.95 ? 1 : 0, x, unit);
	return ret;
}

static bool is_ascii;

void sp_text_units_in_ascii(bool is_wanted)
{
	is_ascii = is_wanted;
}

/* "1:02:03" */
static void hours(char ret[SP_NUMBER_BYTES], uint64_t seconds)
{
	snprintf(ret, SP_NUMBER_BYTES, "%" PRIu64 ":%02u:%02u", seconds / 3600,
		 (unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60));
}

const char *sp_text_ns(char ret[SP_NUMBER_BYTES], uint64_t ns)
{
	double x = (double)ns;

	if (ns < 1000)
		snprintf(ret, SP_NUMBER_BYTES, "%" PRIu64 " ns", ns);
	else if (x < 999.5e3)
		three_digits(ret, x / 1e3, is_ascii ? "us" : "µs");
	else if (x < 999.5e6)
		three_digits(ret, x / 1e6, "ms");
	else if (x < 999.5e9)
		three_digits(ret, x / 1e9, "s");
	else
		hours(ret, ns / 1000000000u + (ns % 1000000000u >= 500000000u));
	return ret;
}

const char *sp_text_bytes(char ret[SP_NUMBER_BYTES], uint64_t bytes)
{
	static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
	double x = (double)bytes / 1000;
	int i = 0;

	if (bytes < 1000) {
		snprintf(ret, SP_NUMBER_BYTES, "%" PRIu64 " B", bytes);
		return ret;
	}
	while (x >= 999.5 && i < 5) {
		x /= 1000;
		i++;
	}
	return three_digits(ret, x, units[i]);
}

enum { NAMED_PARTS = 2 }; /* of a path: the file and its folder */

size_t sp_text_path_from(const char *file, size_t bytes)
{
	static const char *const packages[] = {"/site-packages/", "/dist-packages/"};
	size_t from = bytes;

	for (size_t i = 0; i < sizeof(packages) / sizeof(*packages); i++) {
		const char *at = memmem(file, bytes, packages[i], strlen(packages[i]));

		if (at)
			return (size_t)(at - file) + strlen(packages[i]);
	}
	for (uint32_t parts = 0; from > 0; from--)
		if (file[from - 1] == '/' && ++parts == NAMED_PARTS)
			break;
	return from;
}

bool sp_text_begins(const char *text, size_t bytes, const char *begin)
{
	size_t n = strlen(begin);

	return bytes >= n && memcmp(text, begin, n) == 0;
}

bool sp_text_ends(const char *text, size_t bytes, const char *end)
{
	size_t n = strlen(end);

	return bytes >= n && memcmp(text + bytes - n, end, n) == 0;
}
