/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bounded set of byte strings, numbered in the order of their addition. Strings beyond the bound
 * of their number or of their bytes get number 0, the rest.
 */
#ifndef STAGEPROF_ANALYZER_STRING_TABLE_H
#define STAGEPROF_ANALYZER_STRING_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SP_STRINGS_REST 0u

struct sp_name; /* uthash */

/* The memory that texts of one run may take, shared by all that keep them. */
struct sp_text_budget {
	uint64_t left_bytes;
	uint64_t refused; /* texts that found no room */
};

/* True where so many bytes are left, which are taken then. NULL: no bound. */
bool sp_text_budget_take(struct sp_text_budget *budget, size_t bytes);

struct sp_string_table {
	struct sp_name **list; /* list[0] is unused */
	struct sp_name *by_text;
	uint32_t count; /* the rest included */
	uint32_t room, max;
	uint64_t turned_away;	       /* additions that became the rest */
	struct sp_text_budget *budget; /* NULL, or set after sp_string_table_init() */
};

/* max: distinct names kept. Returns 0 or -ENOMEM. */
int sp_string_table_init(struct sp_string_table *names, uint32_t max);
void sp_string_table_finish(struct sp_string_table *names);

/* Returns the number of the string, SP_STRINGS_REST where the set is full or memory is out. */
uint32_t sp_string_table_add(struct sp_string_table *names, const char *text, size_t bytes);

/* The bytes, followed by a NUL that *ret_bytes does not count; "" for the rest. */
const char *sp_string_table_text(const struct sp_string_table *names, uint32_t number,
				 size_t *ret_bytes);

#endif
