/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/sampler/python_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "scripts/sampler/other_memory.h"

#define TEXT_MAX 1024u /* characters of a path or a name */
#define LATIN_1 1u     /* bytes a character */
#define UCS_2 2u
#define UCS_4 4u

static bool is_ascii(const uint8_t *text, uint64_t length)
{
	for (uint64_t i = 0; i < length; i++)
		if (text[i] < 0x20 || text[i] >= 0x7F)
			return false;
	return text[length] == 0;
}

static uint32_t character_at(const uint8_t *text, uint64_t i, uint32_t width)
{
	uint32_t c = 0;

	memcpy(&c, text + i * width, width);
	return c;
}

/* The flags of a str moved between versions: its width is what makes the terminating 0 the first
 * one. */
static bool has_width(const uint8_t *text, uint64_t length, uint32_t width)
{
	for (uint64_t i = 0; i < length; i++) {
		uint32_t c = character_at(text, i, width);

		if (c < 0x20 || c > 0x10FFFF)
			return false;
	}
	return character_at(text, length, width) == 0;
}

static size_t put_utf8(char *ret, uint32_t c)
{
	if (c < 0x80) {
		ret[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		ret[0] = (char)(0xC0 | c >> 6);
		ret[1] = (char)(0x80 | (c & 0x3F));
		return 2;
	}
	if (c < 0x10000) {
		ret[0] = (char)(0xE0 | c >> 12);
		ret[1] = (char)(0x80 | (c >> 6 & 0x3F));
		ret[2] = (char)(0x80 | (c & 0x3F));
		return 3;
	}
	ret[0] = (char)(0xF0 | c >> 18);
	ret[1] = (char)(0x80 | (c >> 12 & 0x3F));
	ret[2] = (char)(0x80 | (c >> 6 & 0x3F));
	ret[3] = (char)(0x80 | (c & 0x3F));
	return 4;
}

static int put_text(char *ret, size_t room, const uint8_t *text, uint64_t length, uint32_t width)
{
	size_t n = 0;

	for (uint64_t i = 0; i < length && n + 5 < room; i++)
		n += put_utf8(ret + n, character_at(text, i, width));
	ret[n] = 0;
	return (int)n;
}

int sp_python_text(char *ret, size_t room, const struct sp_python_layout *layout, pid_t pid,
		   uint64_t address)
{
	uint8_t text[(TEXT_MAX + 1) * UCS_4];
	uint64_t length = sp_other_word(pid, address + layout->text_length);

	if (length == 0 || length > TEXT_MAX)
		return -EAGAIN;
	if (sp_other_read(pid, address + layout->text_ascii, text, length + 1) == 0 &&
	    is_ascii(text, length))
		return put_text(ret, room, text, length, LATIN_1);
	for (uint32_t width = LATIN_1; width <= UCS_4; width *= 2) {
		int r = sp_other_read(pid, address + layout->text_wide, text, (length + 1) * width);

		if (r < 0)
			return r;
		if (has_width(text, length, width))
			return put_text(ret, room, text, length, width);
	}
	return -EAGAIN;
}

int sp_python_bytes(uint8_t **ret, uint32_t *ret_bytes, uint32_t most,
		    const struct sp_python_layout *layout, pid_t pid, uint64_t address)
{
	uint64_t length = sp_other_word(pid, address + layout->bytes_length);
	int r;

	if (length > most)
		return -EAGAIN;
	*ret = malloc(length + 1);
	if (!*ret)
		return -ENOMEM;
	r = sp_other_read(pid, address + layout->bytes_first, *ret, length);
	if (r < 0) {
		free(*ret);
		*ret = NULL;
		return r;
	}
	*ret_bytes = (uint32_t)length;
	return 0;
}
