/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slow calls by the line of Python that made them, SP_DEFINE_LINE: those of CUDA and NCCL, and
 * those that STAGEPROF_STACKS asks for.
 */
#ifndef STAGEPROF_ANALYZER_SOURCE_LINES_H
#define STAGEPROF_ANALYZER_SOURCE_LINES_H

#include <stdint.h>
#include <uthash.h>

#include "analyzer/metadata/definition_parser.h"
#include "analyzer/metadata/string_table.h"
#include "trace/events.h"

#define SP_LINES_MAX 16384u /* most distinct lines of a run */

/* The bits of an argument that keep calls apart: of a copy, its direction and the kind of host
 * memory. */
static inline uint32_t sp_way_of(uint32_t kind, uint32_t arg)
{
	return sp_event_info(kind)->class == SP_CLASS_CUDA_COPY ? arg & 0xFF : 0;
}

/* All calls of one kind from one line. */
struct sp_line {
	UT_hash_handle hh;
	uint64_t calls, ticks, max_ticks;
	uint32_t stack;	     /* of the longest call; 0: none */
	uint32_t text_bytes; /* of "file:line\tfunction" */
	struct sp_line_key {
		uint32_t image, kind, way;
		char text[]; /* text_bytes of text and a NUL */
	} key;
};

struct sp_lines {
	struct sp_line *by_key;	      /* uthash */
	uint64_t turned_away;	      /* calls that found no room */
	struct sp_text_budget *texts; /* NULL: no bound */
};

/* Returns 0 or -ENOMEM. */
int sp_lines_take(struct sp_lines *lines, uint32_t image, const struct sp_definition *d);

/* Call it once, after the last definition. The order is by process, kind, way and text. */
void sp_lines_sort(struct sp_lines *lines);

void sp_lines_finish(struct sp_lines *lines);

#endif
