/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes untrusted strings safe to print, and numbers readable.
 */
#ifndef STAGEPROF_ANALYZER_TEXT_H
#define STAGEPROF_ANALYZER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Writes at most ret_bytes, with a NUL, and returns how many columns of a terminal the text takes.
 * Control characters, DEL, C1, bidirectional controls, line separators, unassigned code points and
 * bytes that are not UTF-8 become \xHH or \u{HHHH}. A result that does not fit ends early, between
 * characters.
 */
size_t sp_text_escape(char *ret, size_t ret_bytes, const char *text, size_t bytes);

/* Columns of a terminal that valid UTF-8 takes. The locale has no influence. */
size_t sp_text_width(const char *text);

/* Bytes of the longest prefix of valid UTF-8 that fits into `columns`; *ret_width: the prefix's
 * columns. */
size_t sp_text_prefix(const char *text, size_t columns, size_t *ret_width);

/*
 * Shortens valid UTF-8 in place to `width` columns by cutting the middle, the least useful part of
 * a path; "..." marks the cut. width >= 8.
 */
void sp_text_shorten(char *text, size_t width);

/*
 * As sp_text_shorten(), but cuts whole folders: ".../train/0001.jpg". A file name that is too long
 * by itself keeps its end.
 */
void sp_text_shorten_path(char *text, size_t width);

/* Returns where the part of a file's path begins by which people know the file: below the
 * installed packages, else its folder. */
size_t sp_text_path_from(const char *file, size_t bytes);

/* As sp_text_shorten(), but cuts the end. */
void sp_text_cut(char *text, size_t width);

#define SP_NUMBER_BYTES 32u

/* "1,234,567" */
const char *sp_text_count(char ret[SP_NUMBER_BYTES], uint64_t n);
/* "12.3 ms": three digits; ns, µs, ms, s; from 1,000 s on "0:16:40", hours, minutes, seconds */
const char *sp_text_ns(char ret[SP_NUMBER_BYTES], uint64_t ns);
/* From then on sp_text_ns() writes "us": some terminals have ASCII alone. */
void sp_text_units_in_ascii(bool is_wanted);
/* "12.3 MB": three digits, powers of 1000 */
const char *sp_text_bytes(char ret[SP_NUMBER_BYTES], uint64_t bytes);

/* A text of so many bytes begins or ends with a string. */
bool sp_text_begins(const char *text, size_t bytes, const char *begin);
bool sp_text_ends(const char *text, size_t bytes, const char *end);

#endif
