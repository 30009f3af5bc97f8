/*
 * Slow calls and where they were made: the stacks that STAGEPROF_STACKS asks for.
 */
#ifndef STAGEPROF_ANALYZER_SLOW_H
#define STAGEPROF_ANALYZER_SLOW_H

#include <stddef.h>
#include <stdint.h>
#include <uthash.h>

#include "analyzer/define.h"
#include "analyzer/lines.h"

#define SP_SLOW_MAX 16384u /* distinct calls, stacks and objects kept of a run, each */

/* All slow calls of one kind from one stack. */
struct sp_slow {
	struct sp_slow_key {
		uint32_t image, stack, kind, zero;
	} key;
	uint64_t calls, ticks, max_ticks;
	uint32_t max_arg; /* of the longest */
	UT_hash_handle hh;
};

struct sp_stack;
struct sp_object;

struct sp_slow_calls {
	struct sp_slow *by_key; /* uthash */
	struct sp_stack *stacks;
	struct sp_object *objects; /* in the order of their images and addresses, once sorted */
	size_t object_count, object_room;
	uint64_t turned_away; /* calls that found no room */
	struct sp_lines lines;
};

/* Takes SLOW, STACK, OBJECT and LINE definitions of an image; others are passed over. Returns 0 or -ENOMEM. */
int sp_slow_take(struct sp_slow_calls *calls, uint32_t image, const struct sp_definition *d);

/* Once, after the last definition. */
void sp_slow_sort(struct sp_slow_calls *calls);

void sp_slow_finish(struct sp_slow_calls *calls);

/* How many frames a call's stack has; 0: its definition is lost. */
uint32_t sp_slow_frames(const struct sp_slow_calls *calls, const struct sp_slow *call);

/*
 * Writes frame i, innermost first, as "object+0xOFFSET", not escaped; the offset is one in the object's file.
 * Returns the bytes written, without the NUL. ret_bytes >= 32.
 */
size_t sp_slow_frame(const struct sp_slow_calls *calls, const struct sp_slow *call, uint32_t i, char *ret,
		     size_t ret_bytes);

#endif
