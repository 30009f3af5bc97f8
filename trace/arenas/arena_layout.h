/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An arena: shared memory of the system (shmget(2)) that holds the tails of threads' files while
 * they are written. docs/FORMAT.md is normative. No other program can cut it, it has no name and no
 * descriptor, and it outlives a process that is killed until somebody collects it.
 *
 * An arena is a head, one entry for each unit, and the units. A tail takes consecutive units and is
 * a sequence of frames: HEADER, blocks, FREE, WINDOW. `stream_id` of its entry is stored last when
 * a tail begins and cleared when it ends.
 */
#ifndef STAGEPROF_TRACE_ARENA_LAYOUT_H
#define STAGEPROF_TRACE_ARENA_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

#define SP_TAG_ARENA "SPARENA1"
#define SP_ARENA_UNIT_BYTES 16384u
#define SP_ARENA_UNITS_MAX 256u
#define SP_ARENA_HEAD_BYTES 4096u
/* Entries of arenas of up to so many units lie in the head:
 * most processes touch no page for them. */
#define SP_ARENA_HEAD_TAILS 16u
#define SP_ARENA_VERSION 2u
/* A segment is longer by these bytes, which nobody uses, and by some for the run: the size alone
 * shows that it is ours, and most often whether it is another run's, also where the process was
 * killed before it stored anything. */
#define SP_ARENA_SIGN_BYTES 1237u
#define SP_ARENA_RUN_BYTES 1024u

struct sp_arena_tail {
	uint64_t stream_id; /* 0: no tail begins in this unit */
	uint32_t units;
	uint32_t window_at; /* offset of the window's frame in the tail */
};

struct sp_arena {
	char tag[8];
	uint32_t version; /* SP_ARENA_VERSION */
	uint32_t units;
	uint64_t run_token[2];
	uint64_t image_start_ns;
	uint32_t pid;
	uint32_t number;	  /* of the image's arenas, from 0 */
	uint64_t mount_namespace; /* inode in which `directory` is meant; 0: not known */
	uint64_t changes;	  /* grows with each tail that begins or ends */
	char name[192];		  /* HOST-PID-START, as files of the image are named; NUL-padded */
	char directory[3072];	  /* the run's, absolute, NUL-padded; "" where it is longer */
	struct sp_arena_tail head_tails[SP_ARENA_HEAD_TAILS];
	struct sp_file_header header; /* of the image: its words are stored to here */
};

_Static_assert(sizeof(struct sp_arena) == SP_ARENA_HEAD_BYTES, "layout");
_Static_assert(sizeof(struct sp_arena_tail) == 16, "layout");

static inline size_t sp_arena_entries_bytes(uint32_t units)
{
	size_t bytes = units * sizeof(struct sp_arena_tail);

	return (bytes + SP_ARENA_HEAD_BYTES - 1) / SP_ARENA_HEAD_BYTES * SP_ARENA_HEAD_BYTES;
}

static inline size_t sp_arena_bytes(uint32_t units)
{
	return SP_ARENA_HEAD_BYTES + sp_arena_entries_bytes(units) +
	       (size_t)units * SP_ARENA_UNIT_BYTES;
}

static inline size_t sp_arena_segment_bytes(uint32_t units, const uint64_t *run_token)
{
	return sp_arena_bytes(units) + SP_ARENA_SIGN_BYTES + run_token[0] % SP_ARENA_RUN_BYTES;
}

/* One for each unit. */
static inline struct sp_arena_tail *sp_arena_tails(const struct sp_arena *arena, uint32_t units)
{
	return units <= SP_ARENA_HEAD_TAILS
		       ? (struct sp_arena_tail *)(uintptr_t)arena->head_tails
		       : (struct sp_arena_tail *)((uintptr_t)arena + SP_ARENA_HEAD_BYTES);
}

static inline uint8_t *sp_arena_unit(const struct sp_arena *arena, uint32_t units, uint32_t unit)
{
	return (uint8_t *)arena + SP_ARENA_HEAD_BYTES + sp_arena_entries_bytes(units) +
	       (size_t)unit * SP_ARENA_UNIT_BYTES;
}

#endif
