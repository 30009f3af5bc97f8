/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text without libc's formatting: bounded, no allocation, async-signal-safe. A text that does not
 * fit is cut and sets `full`; it is always NUL-terminated.
 */
#ifndef STAGEPROF_PRELOAD_PATHS_H
#define STAGEPROF_PRELOAD_PATHS_H

#include <stddef.h>
#include <stdint.h>

struct sp_text {
	char *at, *end; /* end: one before the buffer's end, kept for the NUL */
	int full;
};

static inline struct sp_text sp_text_init(char *buffer, size_t bytes)
{
	*buffer = 0;
	return (struct sp_text){buffer, buffer + bytes - 1, 0};
}

static inline void sp_text_add(struct sp_text *text, const char *more)
{
	while (*more && text->at < text->end)
		*text->at++ = *more++;
	text->full |= *more != 0;
	*text->at = 0;
}

static inline void sp_text_add_char(struct sp_text *text, char c)
{
	char more[2] = {c, 0};

	sp_text_add(text, more);
}

static inline void sp_text_add_number(struct sp_text *text, uint64_t number, unsigned base)
{
	char digits[65];
	char *p = digits + 64;

	*p = 0;
	do {
		*--p = "0123456789abcdef"[number % base];
		number /= base;
	} while (number);
	sp_text_add(text, p);
}

/* 16 digits. */
static inline void sp_text_add_hex(struct sp_text *text, uint64_t number)
{
	for (int shift = 60; shift >= 0; shift -= 4)
		sp_text_add_char(text, "0123456789abcdef"[number >> shift & 15]);
}

#endif
