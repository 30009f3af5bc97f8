/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/settings/setting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ITEM_BYTES 512u

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int sp_setting_range(const char *text, uint64_t *ret_first, uint64_t *ret_end)
{
	char *end;

	if (!is_digit(*text))
		return -EINVAL;
	*ret_first = strtoull(text, &end, 10);
	*ret_end = *ret_first + 1;
	if (*end == '-' && is_digit(end[1]))
		*ret_end = strtoull(end + 1, &end, 10) + 1;
	else if (*end == '-' && *++end == 0)
		*ret_end = UINT64_MAX;
	return *end || *ret_end <= *ret_first ? -EINVAL : 0;
}

int sp_setting_steps(const char *text, uint64_t *ret_first, uint64_t *ret_end)
{
	char *end = (char *)text;

	if (!strchr(text, ':'))
		return sp_setting_range(text, ret_first, ret_end);
	*ret_first = 0;
	*ret_end = UINT64_MAX;
	if (is_digit(*text))
		*ret_first = strtoull(text, &end, 10);
	if (*end == ':' && is_digit(end[1]))
		*ret_end = strtoull(end + 1, &end, 10);
	else if (*end == ':' && is_digit(*text))
		end++;
	return *end || *ret_end <= *ret_first ? -EINVAL : 0;
}

int sp_setting_part(const char *text, uint64_t *ret_some, uint64_t *ret_many)
{
	char *end = (char *)text;

	*ret_some = *ret_many = 0;
	if (is_digit(*text))
		*ret_some = strtoull(text, &end, 10);
	if (*end == '/' && is_digit(end[1]))
		*ret_many = strtoull(end + 1, &end, 10);
	return *end || !*ret_some || *ret_some >= *ret_many || *ret_many > UINT32_MAX ? -EINVAL : 0;
}

/* 0 is no valid time, so that "file_read>0" is a mistake, not every read. */
uint64_t sp_setting_time(const char **at)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
	uint64_t number = 0;
	const char *p = *at;

	for (; is_digit(*p) && number < 1000000000; p++)
		number = number * 10 + (uint64_t)(*p - '0');
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strncmp(p, units[i].unit, strlen(units[i].unit)) == 0) {
			*at = p + strlen(units[i].unit);
			return number * units[i].ns;
		}
	}
	return 0;
}

static int is_time(const char *text)
{
	return sp_setting_time(&text) && !*text;
}

static int is_number(const char *text)
{
	return is_digit(*text) && !text[strspn(text, "0123456789")];
}

static int is_rate(const char *text)
{
	return is_number(text) && strtoul(text, NULL, 10) <= SP_SETTING_RATE_MAX;
}

static int is_limit(const char *text)
{
	const char *sign = strchr(text, '>');

	return sign && sign > text && is_time(sign + 1);
}

static int is_named(const char *text)
{
	const char *colon = strchr(text, ':');

	return colon && colon > text && colon[1];
}

static int is_range(const char *text)
{
	uint64_t first, end;

	return sp_setting_range(text, &first, &end) == 0;
}

static int is_steps(const char *text)
{
	uint64_t first, end;

	return sp_setting_steps(text, &first, &end) == 0;
}

static int is_part(const char *text)
{
	uint64_t some, many;

	return sp_setting_part(text, &some, &many) == 0;
}

static int item_fits(const char *form, size_t length, const char *item)
{
	static const struct {
		const char *form;
		int (*fits)(const char *item);
	} forms[] = {
		{"NUMBER", is_number},	  {"TIME", is_time},	     {"FIRST-LAST", is_range},
		{"STAGE>TIME", is_limit}, {"MODULE:NAME", is_named}, {"A:B", is_steps},
		{"SOME/MANY", is_part},	  {"RATE", is_rate},
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (strlen(forms[i].form) == length && memcmp(forms[i].form, form, length) == 0)
			return forms[i].fits(item);
	return strlen(item) == length && memcmp(item, form, length) == 0;
}

/* is_list: of the alternatives that make a list, or else of the others. */
static int any_fits(const char *form, const char *item, int is_list)
{
	static const char more[] = ",...";
	const size_t more_bytes = sizeof(more) - 1;

	for (;; form++) {
		size_t length = strcspn(form, "|");
		int lists = length > more_bytes &&
			    memcmp(form + length - more_bytes, more, more_bytes) == 0;

		if (lists == is_list && item_fits(form, lists ? length - more_bytes : length, item))
			return 1;
		form += length;
		if (!*form)
			return 0;
	}
}

static int list_fits(const char *form, const char *value)
{
	while (*value) {
		char item[ITEM_BYTES];
		size_t bytes = strcspn(value, ",");

		if (bytes >= sizeof(item))
			return 0;
		memcpy(item, value, bytes);
		item[bytes] = 0;
		if (!any_fits(form, item, 1))
			return 0;
		value += bytes + (value[bytes] == ',');
	}
	return 1;
}

int sp_setting_fits(const char *form, const char *value)
{
	return !*form || !*value || any_fits(form, value, 0) || list_fits(form, value);
}
