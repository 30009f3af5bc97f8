/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line of the program's own files where a part of the training spends most of its time, by
 * samples: the line that somebody edits.
 */
#ifndef STAGEPROF_ANALYZER_SAMPLED_LINE_H
#define STAGEPROF_ANALYZER_SAMPLED_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/samples/samples.h"

enum sp_sampled_part {
#define SP_SAMPLED_PART(name, whole, named, caller, of) SP_SAMPLED_##name,
#include "analyzer/samples/sampled_part.def"
	SP_SAMPLED_PARTS
};

#define SP_LINE_PLACE_BYTES 256u

struct sp_sampled_line {
	uint64_t samples; /* of the part; 0: no line is named */
	bool is_rough;	  /* so few that they show no more than that it takes most of the time */
	double share;	  /* of the part's time that the function takes with all that it calls */
	const char *of;	  /* the part, not translated: "the input wait" */
	uint32_t frame;	  /* of the samples: the line with most of that time */
	char place[SP_LINE_PLACE_BYTES];  /* "RandomRotate.__call__ (job/train.py:11)" */
	double callee_share;		  /* of the function's time; 0: no callee is named */
	char callee[SP_LINE_PLACE_BYTES]; /* "Image.rotate (PIL/Image.py:2304)", in a package */
	char caller[SP_LINE_PLACE_BYTES]; /* the program's line that calls the function; "": none */
};

/* Returns 0 or -ENOMEM. */
int sp_sampled_line_find(struct sp_sampled_line *ret, const struct sp_samples *samples,
			 enum sp_sampled_part part);

/* Each of its samples may name its line: no other part is in it. */
bool sp_sampled_part_is_whole(enum sp_sampled_part part);

/* As JSON has it; NULL for SP_SAMPLED_PARTS. */
const char *sp_sampled_part_name(enum sp_sampled_part part);

#endif
