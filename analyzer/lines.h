/*
 * Long waits for the GPU by the line of Python that made them: SP_DEFINE_LINE.
 */
#ifndef STAGEPROF_ANALYZER_LINES_H
#define STAGEPROF_ANALYZER_LINES_H

#include <stdint.h>
#include <uthash.h>

#include "analyzer/define.h"

#define SP_LINES_MAX 16384u /* distinct ones kept of a run */

/* All calls of one kind from one line. */
struct sp_line {
	UT_hash_handle hh;
	uint64_t calls, ticks, max_ticks;
	uint32_t text_bytes; /* of "file:line\tfunction" */
	struct sp_line_key {
		uint32_t image, kind;
		char text[]; /* NUL-terminated besides */
	} key;
};

struct sp_lines {
	struct sp_line *by_key; /* uthash */
	uint64_t turned_away;	/* calls that found no room */
};

/* Returns 0 or -ENOMEM. */
int sp_lines_take(struct sp_lines *lines, uint32_t image, const struct sp_definition *d);

/* Once, after the last definition: by image, kind and text. */
void sp_lines_sort(struct sp_lines *lines);

void sp_lines_finish(struct sp_lines *lines);

#endif
