/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stacks of sampled Python functions, as other programs take them: frames have numbers from 0,
 * those of recorded calls, and of libraries that functions called, after those of functions.
 */
#ifndef STAGEPROF_ANALYZER_SAMPLED_STACKS_H
#define STAGEPROF_ANALYZER_SAMPLED_STACKS_H

#include <stdint.h>

#include "analyzer/samples/library_spread.h"
#include "analyzer/samples/samples.h"

#define SP_FRAME_TEXT_BYTES 1024u

struct sp_frame_text {
	char name[SP_FRAME_TEXT_BYTES], file[SP_FRAME_TEXT_BYTES]; /* printable; file: "": none */
	uint32_t line, first_line;				   /* 0: not known */
};

struct sp_sampled_stacks {
	const struct sp_samples *samples;
	struct sp_sample_table spread; /* the sums to show */
	uint32_t *leaves;	       /* texts of calls and libraries */
	uint32_t leaf_count, leaf_room;
};

/* Returns 0 or -ENOMEM; sp_sampled_stacks_finish() is due in both cases. */
int sp_sampled_stacks_init(struct sp_sampled_stacks *stacks, const struct sp_samples *samples);
void sp_sampled_stacks_finish(struct sp_sampled_stacks *stacks);

uint32_t sp_sampled_stacks_frames(const struct sp_sampled_stacks *stacks);
void sp_sampled_stacks_text(const struct sp_sampled_stacks *stacks, uint32_t frame,
			    struct sp_frame_text *ret);

/* The frames of sums, innermost first; at least one. Returns their number. */
uint32_t sp_sampled_stacks_get(const struct sp_sampled_stacks *stacks,
			       const struct sp_sample_sums *sums,
			       uint32_t ret[SP_SAMPLE_DEPTH_MAX + 1]);

#endif
