/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames and stacks get numbers, and each is defined once in the sampler's stream. Code objects are
 * kept by their family of processes, address and contents, so a code object that took the place of
 * a freed one is another one.
 */
#ifndef STAGEPROF_SAMPLER_PYTHON_NAMES_H
#define STAGEPROF_SAMPLER_PYTHON_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "preload/recorder/recorder.h"
#include "scripts/sampler/id_map.h"
#include "scripts/sampler/other_memory.h"
#include "scripts/sampler/python_walk.h"

struct sp_python_code;

#define SP_CODE_HEAD_BYTES 160u /* of a code object, as far as its names */

/* A code object that was read some looks ago. */
struct sp_checked_code {
	pid_t pid;     /* 0: none */
	uint32_t code; /* its number */
	uint64_t at;   /* its address */
	uint64_t look; /* the number of the look */
};

#define SP_CHECKED_CODES 1024u

/* A thread's stack of the last time. */
struct sp_named_stack {
	struct sp_named_frame {
		struct sp_walk_frame frame;
		uint32_t code, id;
	} * frames; /* innermost first */
	uint32_t count, room;
	uint32_t stack;	 /* its number */
	uint32_t reuses; /* times in turn that code objects were not read again */
	bool was_cut;
};

struct sp_python_names {
	struct sp_thread *recorder;
	struct sp_id_map codes;	 /* number of an entry in code_list, plus 1 */
	struct sp_id_map places; /* number of a frame, by code and instruction */
	struct sp_id_map frames, stacks;
	struct sp_python_code *code_list;
	uint32_t code_count, code_room;
	uint32_t frame_count, stack_count;
	uint64_t look;			 /* number of the look at hand; set by the caller */
	uint64_t checked_from, distrust; /* the first look that takes codes from `checked` */
	struct sp_checked_code checked[SP_CHECKED_CODES]; /* by pid and address */
	struct sp_other_parts heads;			  /* of the stack at hand */
};

/*
 * Sets last->stack to the stack's number; 0: no frames, or no room for another stack. A frame of
 * `last` that is still there holds its code object, which is not read again. Returns 0, -EAGAIN
 * where a frame has no code object (the stack was torn), or as sp_other_read().
 */
int sp_python_names_stack(struct sp_python_names *names, const struct sp_sampled_python *python,
			  pid_t pid, const struct sp_python_walk *walk,
			  struct sp_named_stack *last);

/* The number of a frame that stands for a library; 0: there is no room for another one. */
uint32_t sp_python_names_library(struct sp_python_names *names, const char *name);

void sp_named_stack_finish(struct sp_named_stack *stack);

void sp_python_names_finish(struct sp_python_names *names);

#endif
