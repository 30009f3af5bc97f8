/*
 * Slow calls and where they were made: CUDA's and NCCL's, and others whose stacks STAGEPROF_STACKS asks for.
 */
#ifndef STAGEPROF_ANALYZER_SLOW_H
#define STAGEPROF_ANALYZER_SLOW_H

#include <stddef.h>
#include <stdint.h>
#include <uthash.h>

#include "analyzer/define.h"
#include "analyzer/lines.h"

#define SP_SLOW_MAX 16384u /* distinct calls, stacks and objects kept of a run, each */

/* All slow calls of one kind, the same way (sp_way_of()), from one stack. */
struct sp_slow {
	struct sp_slow_key {
		uint32_t image, stack, kind, way; /* stack 0: none was taken */
	} key;
	struct sp_slow_sum {
		uint64_t calls, ticks, max_ticks;
	} all, with_line; /* those with a line of Python, too */
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

/* How many frames an image's stack has; 0: there is none, or its definition is lost. */
uint32_t sp_stack_frames(const struct sp_slow_calls *calls, uint32_t image, uint32_t stack);

/*
 * Writes frame i, innermost first, as "object+0xOFFSET", not escaped; the offset is one in the object's file.
 * Returns the bytes written, without the NUL. ret_bytes >= 32.
 */
size_t sp_stack_frame(const struct sp_slow_calls *calls, uint32_t image, uint32_t stack, uint32_t i, char *ret,
		      size_t ret_bytes);

/* All of them, "a+0x1;b+0x2": what a flame graph calls folded, but innermost first. Returns the bytes, not
 * NUL-terminated. */
#define SP_STACK_TEXT_BYTES (16u * 1024u)
size_t sp_stack_text(const struct sp_slow_calls *calls, uint32_t image, uint32_t stack, char ret[SP_STACK_TEXT_BYTES]);

#endif
