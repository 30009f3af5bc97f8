/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slow calls and their stacks: calls of CUDA and NCCL, and the calls whose stacks STAGEPROF_STACKS
 * asks for.
 */
#ifndef STAGEPROF_ANALYZER_SLOW_CALLS_H
#define STAGEPROF_ANALYZER_SLOW_CALLS_H

#include <stddef.h>
#include <stdint.h>
#include <uthash.h>

#include "analyzer/metadata/definition_parser.h"
#include "analyzer/metadata/source_lines.h"

#define SP_SLOW_MAX 16384u /* most distinct calls of a run; as many stacks, and as many objects */

/* All slow calls of one kind and way (sp_way_of()) from one stack. */
struct sp_slow {
	struct sp_slow_key {
		uint32_t image, stack, kind, way; /* stack 0: none was taken */
	} key;
	struct sp_slow_sum {
		uint64_t calls, ticks, max_ticks;
	} all, with_line; /* with_line: calls that also have a line of Python */
	uint32_t max_arg; /* of the longest call */
	UT_hash_handle hh;
};

struct sp_stack {
	struct {
		uint32_t image, id;
	} key;
	uint32_t count;
	UT_hash_handle hh;
	uint64_t addresses[]; /* innermost first */
};

struct sp_object {
	uint32_t image, id;
	struct sp_object_metadata metadata;
	char *path;	  /* any bytes */
	const char *name; /* the end of its last part */
};

/* The GNU build id of an object of a process. */
struct sp_build {
	struct {
		uint32_t image, object;
	} key;
	UT_hash_handle hh;
	uint32_t bytes; /* 0: the object has no build id */
	uint8_t id[SP_BUILD_ID_BYTES_MAX];
};

struct sp_slow_calls {
	struct sp_slow *by_key; /* uthash */
	struct sp_stack *stacks;
	struct sp_object *objects; /* in the order of their images and addresses, once sorted */
	size_t object_count, object_room;
	struct sp_build *builds;
	uint64_t turned_away; /* calls that found no room */
	struct sp_lines lines;
	struct sp_text_budget *texts; /* NULL: no bound */
};

/* Takes SLOW, STACK, OBJECT, BUILD and LINE definitions of a process and ignores others.
 * Returns 0 or -ENOMEM. */
int sp_slow_take(struct sp_slow_calls *calls, uint32_t image, const struct sp_definition *d);

/* Call it once, after the last definition. */
void sp_slow_sort(struct sp_slow_calls *calls);

void sp_slow_finish(struct sp_slow_calls *calls);

/* NULL: there is no such stack, or its definition is lost. */
const struct sp_stack *sp_stack_find(const struct sp_slow_calls *calls, uint32_t image,
				     uint32_t stack);

/* The object that is mapped at an address, or NULL. An address minus the object's bias is an offset
 * in the object's file. */
const struct sp_object *sp_object_at(const struct sp_slow_calls *calls, uint32_t image,
				     uint64_t address);

/* NULL: not known. */
const struct sp_build *sp_build_of(const struct sp_slow_calls *calls,
				   const struct sp_object *object);

/*
 * Writes an address as "object+0xOFFSET", not escaped; the offset is one in the object's file.
 * Returns the bytes written, without the NUL.
 */
#define SP_FRAME_BYTES 128u
size_t sp_stack_frame(const struct sp_slow_calls *calls, uint32_t image, uint64_t address,
		      char ret[SP_FRAME_BYTES]);

/* Frames beyond are not shown. */
#define SP_STACK_FRAMES_MAX 64u

/* All frames of a stack, "a+0x1;b+0x2": the folded form of flame graphs, but innermost first. stack
 * may be NULL. Returns the bytes, not NUL-terminated. */
#define SP_STACK_TEXT_BYTES (SP_STACK_FRAMES_MAX * SP_FRAME_BYTES)
size_t sp_stack_text(const struct sp_slow_calls *calls, const struct sp_stack *stack,
		     char ret[SP_STACK_TEXT_BYTES]);

#endif
