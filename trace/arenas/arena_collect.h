/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arenas of killed processes become files of their run: `NAME-tails-NUMBER.zst`, made whole under a
 * hidden name and renamed. Only arenas of the calling user that no process has attached are
 * collected. An arena whose file was made is removed.
 *
 * No allocation and no libc: the caller gives the way to make system calls and the memory. Both
 * sides include this file: a process of the run, the launcher and the report all collect.
 */
#ifndef STAGEPROF_TRACE_ARENA_COLLECT_H
#define STAGEPROF_TRACE_ARENA_COLLECT_H

#include "trace/arenas/arena_layout.h"

#define SP_COLLECT_PATH_BYTES 4096u

struct sp_arena_view;

/* Memory of the functions that make files, too large for a small stack. */
struct sp_collect_paths {
	char path[SP_COLLECT_PATH_BYTES], temporary[SP_COLLECT_PATH_BYTES];
	char beside[SP_COLLECT_PATH_BYTES];
	char directory[SP_COLLECT_PATH_BYTES]; /* of the arena that is being collected */
	uint64_t entries[SP_COLLECT_PATH_BYTES / sizeof(uint64_t)]; /* of a directory */
};

/* The state of the functions below. */
struct sp_collect {
	long (*sys)(long n, long a, long b, long c, long d, long e, long f); /* -errno on failure */
	uint64_t uid;		  /* whose arenas are looked at */
	int any_user;		  /* others' too: for the superuser, who knows the run's token */
	const char *directory;	  /* of the run now, where it may have been moved; or NULL */
	uint64_t mount_namespace; /* the caller's; 0: not known */
	uint64_t now_s;		  /* CLOCK_REALTIME; 0: not known */
	uint32_t most, begin;	  /* how many arenas to look at, 0: all; the number of the first */
	int only_left;		  /* arenas that a process has attached are left out */
	int is_first;		  /* asks whether young arenas of other runs have a run still */
	uint32_t left;		  /* set by the functions: arenas that nobody has attached */
	uint64_t left_bytes;
	/* The caller's run, or NULL. Arenas of others are left alone for ten minutes, because
	 * processes of their run need no further file for them: as long as these are few, and their
	 * run is there. */
	const uint64_t *own_run;
	/* Asked before a file is made of an arena; 0: the run has its tails now. NULL: none. */
	long (*keep)(const struct sp_collect *c, const struct sp_arena_view *view);
	const void *keeper;
	struct sp_collect_paths *paths; /* for sp_arena_write() and sp_arenas_collect() */
};

/* One arena, attached read-only. The numbers are copies: another process may store to the arena. */
struct sp_arena_view {
	const struct sp_arena *arena; /* NULL: none */
	uint32_t units;
	int id;
	int is_alone; /* nobody else had it attached: its threads are gone */
	int is_of_user;
	int may_wait; /* it is left to processes and the report of its run for now */
	size_t bytes; /* of the segment */
};

/* The system's numbers of shared memory go up to this; -errno where it has none. */
long sp_arena_highest(const struct sp_collect *c);

/* Counts what is left. Returns 1 where there may be arenas to collect; attaches none. */
int sp_arenas_are_left(struct sp_collect *c);

/* Returns 1 where the user's arenas, attached or left, may take `bytes` more: all of them together
 * take a quarter of the system's numbers and a sixteenth of its memory at most. */
int sp_arenas_have_room(const struct sp_collect *c, uint64_t bytes);

/* Attaches the arena with this number. The view has no arena where there is none, where it is
 * another user's, and where it is not one of ours. */
struct sp_arena_view sp_arena_attach(const struct sp_collect *c, long number);
void sp_arena_detach(const struct sp_collect *c, struct sp_arena_view *view);

/* Bytes of the tail that begins in this unit, checked against the arena; 0: none begins there. */
size_t sp_arena_tail_bytes(const struct sp_arena_view *view, uint32_t unit,
			   uint32_t *ret_window_at);

/* Keeps the arena's tails, or writes them to its file in the run's directory. Opens a descriptor
 * meanwhile. Returns 0 or -errno; the file is there whole or not at all. */
long sp_arena_write(struct sp_collect *c, const struct sp_arena_view *view);

/* Returns the number of the run's arenas that a process which did not make them has attached, while
 * the one that made them is gone: it makes their file now, or is a child of the one that is gone.
 */
uint32_t sp_arenas_being_taken(const struct sp_collect *c, const uint64_t run_token[2]);

/* Collects all arenas of killed processes; those of one run where run_token is not NULL. Removes
 * arenas whose run is gone, and segments whose processes were killed before they were arenas. Opens
 * descriptors meanwhile. Returns the number of arenas that had to stay. */
uint32_t sp_arenas_collect(struct sp_collect *c, const uint64_t *run_token);

#endif
