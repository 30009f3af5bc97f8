/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stack of Python frames of a thread that goes on running. A stack that changed while it was
 * read is recognised by what it leads to, and dropped. Frames are mostly where they were the last
 * time, so those places of all threads of a process are read at once.
 */
#ifndef STAGEPROF_SAMPLER_PYTHON_WALK_H
#define STAGEPROF_SAMPLER_PYTHON_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "scripts/sampler/other_memory.h"
#include "scripts/sampler/python_find.h"

#define SP_WALK_FRAMES_MAX 256u /* the innermost; the stack says that it was cut */
#define SP_WALK_PLACES_MAX 16u
#define SP_WALK_MISSED_BYTES 4096u

struct sp_walk_frame {
	uint64_t at, code;
	int64_t instruction; /* as the layout has it */
};

struct sp_python_walk {
	struct sp_walk_frame frames[SP_WALK_FRAMES_MAX]; /* innermost first */
	uint32_t count;
	bool was_cut;
	/* Frames that were not where they were the last time; read at once. */
	uint64_t missed_at;
	uint32_t missed_bytes;
	uint8_t missed[SP_WALK_MISSED_BYTES];
};

/* The places of a thread's stack the last time, and their parts of the next reading. */
struct sp_walk_guess {
	uint64_t cframe; /* 0: none */
	struct sp_walk_place {
		uint64_t begin, end;
	} places[SP_WALK_PLACES_MAX];
	uint32_t count;
	uint32_t first_part, end_part;
};

/* Fields of a thread's state. */
struct sp_walk_thread {
	uint64_t next;	/* the next thread's state; 0: none */
	uint64_t frame; /* innermost; 0: runs no Python */
	uint64_t chunk; /* that the innermost frames lie in; 0: frames are objects */
	uint64_t tid;	/* of the kernel, or the pthread_t: see the layout */
};

/* Returns 0 or as sp_other_read(). */
int sp_walk_thread(struct sp_walk_thread *ret, const struct sp_sampled_python *python, pid_t pid,
		   uint64_t state);

/* Adds the state and what belongs to it to the parts of the next reading. */
void sp_walk_guess(struct sp_walk_guess *guess, struct sp_other_parts *parts,
		   const struct sp_sampled_python *python, uint64_t state);

/* Walks the stack of the state, after that reading. Returns 0, -EAGAIN where the stack was torn,
 * -ESRCH where `tid` (0: any) is not the state's, or as sp_other_read(). The code objects are not
 * checked.
 */
int sp_walk_stack(struct sp_python_walk *ret, struct sp_walk_guess *guess,
		  const struct sp_other_parts *parts, const struct sp_sampled_python *python,
		  uint64_t state, uint64_t tid);

#endif
