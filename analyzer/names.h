/*
 * A bounded set of byte strings, numbered as they come. Beyond the bound everything is number 0,
 * the rest.
 */
#ifndef STAGEPROF_ANALYZER_NAMES_H
#define STAGEPROF_ANALYZER_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define SP_NAMES_REST 0u

struct sp_name; /* uthash */

struct sp_names {
	struct sp_name **list; /* list[0] is unused */
	struct sp_name *by_text;
	uint32_t count; /* with the rest */
	uint32_t room, max;
	uint64_t turned_away; /* additions that became the rest */
};

/* max: distinct names kept. Returns 0 or -ENOMEM. */
int sp_names_init(struct sp_names *names, uint32_t max);
void sp_names_finish(struct sp_names *names);

/* Returns the number of the string, SP_NAMES_REST where the set is full or memory is out. */
uint32_t sp_names_add(struct sp_names *names, const char *text, size_t bytes);

/* The bytes, NUL-terminated besides; "" for the rest. */
const char *sp_names_text(const struct sp_names *names, uint32_t number, size_t *ret_bytes);

#endif
