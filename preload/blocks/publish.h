/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole recording thread, and the step that makes blocks of its window. Only publish.c,
 * full_window.c and thread.c look inside struct sp_recorder; hooks see struct sp_thread.
 */
#ifndef STAGEPROF_PRELOAD_PUBLISH_H
#define STAGEPROF_PRELOAD_PUBLISH_H

#include "preload/blocks/pack.h"
#include "preload/blocks/thread_slots.h"
#include "preload/blocks/stream.h"
#include "preload/sys/perf_ring.h"

#define SP_OWN_WORKS 8u

/* In ticks. */
struct sp_own_work {
	uint64_t begin, end;
};

struct sp_recorder {
	struct sp_thread hot; /* first: both structs have the same address */
	struct sp_stream_writer stream;
	struct sp_pack pack;
	uint64_t capacity; /* of the ring; 0: no file */
	uint64_t lost[SP_LOST_CAUSES];
	uint64_t stuck;	       /* events to lose before the next try to grow the file */
	uint32_t nested;       /* nested frames in a row */
	int keeps_windows;     /* a frame may be inside that `inside` does not count */
	uintptr_t roomy_frame; /* a frame with enough stack for a block; 0: none */
	uint32_t segment;      /* of the thread: the number of its file */
	int is_device;	       /* the recorder of the device, not of a thread */
	uint64_t begun_ticks;  /* of this segment */
	char comm[16];	       /* as in the file's header */
	uint32_t destructor_rounds;
	uint64_t paused_ticks, paused_steps; /* when the thread noticed that recording is off, and
						the steps until then */
	struct sp_window_header no_window;   /* the targets of the mark and the slots while there is
						no file */
	struct sp_slot no_slot;
	void (*define_cpus)(struct sp_thread *t); /* the thread's own work when its first window is
						     full; the block's makers are below it */
	struct sp_own_work own_works[SP_OWN_WORKS]; /* preload/recorder/own_work.h */
	uint32_t own_work_count;
	struct sp_perf_ring perf;  /* preload/waits/thread_waits.h */
	bool perf_is_refused;	   /* the thread does not ask again */
	uint64_t next_waits_ticks; /* the next taking by a step */
	uint32_t many_faults;	   /* successive fetches with too many to observe */
	bool hands_over;	   /* preload/groups/group_events.h */
	uint64_t hook_state[SP_HOOK_STATE_BYTES / sizeof(uint64_t)];
};

static inline struct sp_recorder *sp_recorder_of(struct sp_thread *t)
{
	return (struct sp_recorder *)t;
}

/* Leaves the last eighth of the ring to signal handlers that run while a block is made. */
void sp_recorder_limit_set(struct sp_recorder *r);

/* Points the hot path at the stream's window, which has this capacity. */
void sp_recorder_adopt(struct sp_recorder *r, uint64_t capacity);

/* Makes blocks of all that the ring holds; the last block carries `flags`. Not for a handler that
 * interrupted the recorder. Returns 0, or -errno with the ring unchanged. */
int sp_recorder_publish(struct sp_recorder *r, uint16_t flags);

#endif
