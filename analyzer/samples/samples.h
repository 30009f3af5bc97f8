/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python stacks that the sampler noted (`stageprof run --sample`), added up by stack and phase.
 */
#ifndef STAGEPROF_ANALYZER_SAMPLES_H
#define STAGEPROF_ANALYZER_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/metadata/string_table.h"
#include "analyzer/samples/sample_table.h"

#define SP_SAMPLE_IDS_MAX (1u << 18) /* frames, and stacks, of one sampler; others are the rest */
#define SP_SAMPLE_DEPTH_MAX 512u

struct sp_sampled_frame {
	uint32_t text;		   /* "file\tfunction" in texts; of a recorded call "\tname" */
	uint32_t line, first_line; /* 0: not known */
};

/* frame_at + i, i < frames: innermost first, in frame_numbers. */
struct sp_sampled_stack {
	uint32_t frame_at, frames;
};

struct sp_samples {
	bool is_known; /* a sampler ran */
	struct sp_string_table texts;
	struct sp_sampled_frame *frames;
	uint32_t frame_count, frame_room;
	struct sp_sampled_stack *stacks; /* [0]: no Python frame, or one whose definition is lost */
	uint32_t stack_count, stack_room;
	uint32_t *frame_numbers;
	uint32_t number_count, number_room;
	struct sp_sample_table table;
	uint64_t samples, unfit; /* taken; of no known process, or outside of the selection */
	struct sp_sampler_metadata counts; /* of all samplers; rate: of the last one */
};

/* Returns 0 or -ENOMEM. */
int sp_samples_read(struct sp_samples *samples, const struct sp_training *training,
		    const struct sp_workers *workers);
void sp_samples_finish(struct sp_samples *samples);

/* True for the text of a library that is not CPython's own:
 * there the function called native code. */
bool sp_sample_is_native(const struct sp_samples *samples, uint32_t library);

/* True for samples that a table of functions counts: the thread ran, or work waited for it. */
static inline bool sp_sample_counts(const struct sp_sample_sums *sums)
{
	return !sums->is_waiting || sp_sample_phase_is_wall(sums->phase);
}

#endif
