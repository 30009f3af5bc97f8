/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process's arenas (trace/arenas/arena_layout.h): memory for the tails of its threads' files.
 * An arena is shared memory of the system, which stays when the process is killed; it is private
 * memory where the system gives no shared memory. A store to it can never become a signal, as a
 * store to a mapped file can.
 *
 * All functions are for the rare steps of a thread: they may make system calls and wait for each
 * other, and callers hold all signals blocked. No descriptor is involved.
 */
#ifndef STAGEPROF_PRELOAD_ARENA_H
#define STAGEPROF_PRELOAD_ARENA_H

#include <stdint.h>

#include "preload/files/arena_keep.h"
#include "trace/arenas/arena_layout.h"

#define SP_ARENAS_MAX 1024u

struct sp_pooled_arena {
	struct sp_arena *arena;
	int id;
	uint32_t used; /* units from this one on were never in use */
};

/* In memory that fork wipes: a child begins with none. */
struct sp_arena_pool {
	uint32_t lock;
	uint32_t count;	   /* of `arena` */
	uint32_t number;   /* of the next arena; numbers are not used twice */
	uint32_t tails;	   /* in use */
	uint32_t left;	   /* tasks that wait for a file system, and nobody for them */
	uint32_t is_slow;  /* the last append took longer than a call is to wait */
	uint32_t is_stuck; /* a full tail has waited, and no append has ended since */
	struct sp_file_header *header;
	int is_private; /* the system gave no shared memory: a kill loses what is in it */
	struct sp_pooled_arena list[SP_ARENAS_MAX];
};

/* The part of an arena that names its process. */
struct sp_arena_identity {
	const struct sp_file_header *header; /* of any file of it, whole */
	const char *directory;
	const char *name; /* HOST-PID-START are its first bytes */
	uint32_t name_bytes;
};

struct sp_tail {
	uint8_t *bytes; /* NULL: none */
	struct sp_arena *arena;
	uint32_t unit;
	int is_new; /* its bytes are zero; otherwise what an earlier tail left is in them */
};

/* Takes memory for a tail of at least `bytes`, not to be seen yet. Its `bytes` are NULL
 * where there is no memory. */
struct sp_tail sp_tail_take(struct sp_arena_pool *pool, const struct sp_arena_identity *identity,
			    size_t bytes);

/* From now on a reader finds it: the frames in it are whole. */
void sp_tail_show(const struct sp_tail *tail, uint64_t stream_id, uint32_t window_at);

/* Readers see the tail no more, and its memory is not used again. */
void sp_tail_hide(const struct sp_tail *tail);

/* Ends the tail. */
void sp_tail_give(struct sp_arena_pool *pool, struct sp_tail *tail);

static inline struct sp_arena_tail *sp_tail_entry(const struct sp_tail *tail)
{
	return &sp_arena_tails(tail->arena, tail->arena->units)[tail->unit];
}

static inline size_t sp_tail_bytes(const struct sp_tail *tail)
{
	return (size_t)sp_tail_entry(tail)->units * SP_ARENA_UNIT_BYTES;
}

/* The image's header in its first arena, whose words are stored to; it stays as long as the
 * process. NULL before the first tail. */
struct sp_file_header *sp_arenas_header(const struct sp_arena_pool *pool);

/* The process ends: where no tail is in use the arenas go when it does. Otherwise they stay until a
 * later process or a report collects them, and their tails are also written to files, for readers
 * on other machines. */
void sp_arenas_end(struct sp_arena_pool *pool, const struct sp_arena_keeper *keeper);

/* Collects the arenas of this user's killed processes. */
void sp_arenas_collect_others(const struct sp_arena_keeper *keeper);

#endif
