/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JSON writer. Its output is valid whatever strings it is given, as long as each open has its
 * close.
 */
#ifndef STAGEPROF_ANALYZER_JSON_H
#define STAGEPROF_ANALYZER_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct sp_json {
	FILE *file;
	unsigned depth;
	bool has_member; /* in the object or array that is open */
};

/* key: NULL in an array and at the top. bracket: '{' or '['. */
void sp_json_open(struct sp_json *j, const char *key, char bracket);
void sp_json_close(struct sp_json *j, char bracket); /* '}' or ']' */

/* Bytes that are not UTF-8 become U+FFFD; control and bidirectional characters become \uXXXX. */
void sp_json_string(struct sp_json *j, const char *key, const char *text, size_t bytes);
void sp_json_count(struct sp_json *j, const char *key, uint64_t n);
void sp_json_signed(struct sp_json *j, const char *key, int64_t n);
void sp_json_us(struct sp_json *j, const char *key, int64_t ns);  /* microseconds, three decimals */
void sp_json_share(struct sp_json *j, const char *key, double x); /* six digits; finite */
void sp_json_bool(struct sp_json *j, const char *key, bool b);
void sp_json_null(struct sp_json *j, const char *key);

#endif
