/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stack of Python frames of a thread that goes on running. A stack that changed while it was
 * read is recognised by what it leads to, and dropped.
 */
#ifndef STAGEPROF_SAMPLER_PYTHON_WALK_H
#define STAGEPROF_SAMPLER_PYTHON_WALK_H

#include <stdint.h>
#include <sys/types.h>

#include "scripts/sampler/python_find.h"

#define SP_WALK_FRAMES_MAX 256u	   /* the innermost; the stack says that it was cut */
#define SP_WALK_CHUNK_BYTES 16384u /* the interpreter's first chunk of frames */

struct sp_walk_frame {
	uint64_t code;
	int64_t instruction; /* as the layout has it */
};

struct sp_python_walk {
	struct sp_walk_frame frames[SP_WALK_FRAMES_MAX]; /* innermost first */
	uint32_t count;
	bool was_cut;
	/* Bytes of the chunk of frames, read at once. */
	uint64_t chunk_at;
	uint32_t chunk_bytes;
	uint8_t chunk[SP_WALK_CHUNK_BYTES];
};

struct sp_walk_thread {
	uint64_t next;	/* the next thread's state; 0: none */
	uint64_t frame; /* innermost; 0: runs no Python */
	uint64_t chunk;
	uint64_t tid; /* of the kernel, or the pthread_t: see the layout */
};

/* The first thread's state of the first interpreter; 0: there is none. */
uint64_t sp_walk_first_thread(const struct sp_sampled_python *python, pid_t pid);

/* Returns 0 or as sp_other_read(). */
int sp_walk_thread(struct sp_walk_thread *ret, const struct sp_sampled_python *python, pid_t pid,
		   uint64_t state);

/* Returns 0, -EAGAIN where the stack was torn, or as sp_other_read(). The code objects are not
 * checked. */
int sp_walk_stack(struct sp_python_walk *ret, const struct sp_sampled_python *python, pid_t pid,
		  const struct sp_walk_thread *thread);

#endif
