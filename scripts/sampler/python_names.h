/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames and stacks get numbers, and each is defined once in the sampler's stream. Code objects are
 * kept by their process, address and contents, so a code object that took the place of a freed one
 * is another one.
 */
#ifndef STAGEPROF_SAMPLER_PYTHON_NAMES_H
#define STAGEPROF_SAMPLER_PYTHON_NAMES_H

#include <stdint.h>
#include <sys/types.h>

#include "preload/recorder/recorder.h"
#include "scripts/sampler/id_map.h"
#include "scripts/sampler/python_walk.h"

struct sp_python_code;

#define SP_CODE_HEAD_BYTES 160u /* of a code object, as far as its names */

struct sp_python_names {
	struct sp_thread *recorder;
	struct sp_id_map codes;	 /* number of an entry in code_list, plus 1 */
	struct sp_id_map places; /* number of a frame, by code and instruction */
	struct sp_id_map frames, stacks;
	struct sp_python_code *code_list;
	uint32_t code_count, code_room;
	uint32_t frame_count, stack_count;
	uint8_t heads[SP_WALK_FRAMES_MAX][SP_CODE_HEAD_BYTES]; /* of the stack at hand */
};

/*
 * Sets the stack's number; 0: no frames, or no room for another stack. Returns 0, -EAGAIN where a
 * frame has no code object (the stack was torn), or as sp_other_read().
 */
int sp_python_names_stack(struct sp_python_names *names, const struct sp_sampled_python *python,
			  pid_t pid, const struct sp_python_walk *walk, uint32_t *ret);

void sp_python_names_finish(struct sp_python_names *names);

#endif
