/*
 * A recording thread, whole. Only record.c and thread.c look inside; hooks see struct sp_thread.
 */
#ifndef STAGEPROF_PRELOAD_THREAD_H
#define STAGEPROF_PRELOAD_THREAD_H

#include "preload/decode.h"
#include "preload/pack.h"
#include "preload/record.h"
#include "preload/stream.h"

struct sp_recorder {
	struct sp_thread hot; /* first: the two addresses are one */
	struct sp_stream stream;
	struct sp_pack pack;
	uint64_t capacity; /* of the ring; 0: no file */
	uint64_t lost[SP_LOST_CAUSES];
	uint64_t stuck; /* losses to let pass before the file is tried to grow again */
	uint32_t nested; /* frames in a row that found another one of the recorder's interrupted */
	uintptr_t roomy_frame; /* that was found to lie on no small stack; 0: none */
	uint32_t part;
	int is_device; /* no thread's */
	uint64_t begun_ticks; /* of this part */
	char comm[16]; /* as in the file's header */
	uint32_t destructor_rounds;
	uint64_t paused_ticks, paused_steps; /* when and after how many steps it met that recording is off */
	struct sp_mark no_mark; /* where the mark points while there is no file */
	struct sp_decode decode;
};

static inline struct sp_recorder *sp_recorder_of(struct sp_thread *t)
{
	return (struct sp_recorder *)t;
}

/* The stream has a window of this capacity: the hot path's pointers follow it. */
void sp_recorder_adopt(struct sp_recorder *r, uint64_t capacity);

/* Makes one block after another of what the ring holds; the last of them carries `flags`. Not for a
 * handler that interrupted the recorder. Returns 0, or -errno with the ring as it was. */
int sp_recorder_publish(struct sp_recorder *r, uint16_t flags);

/* True where `frame`, about to enter the recorder, interrupted another one of the same thread in it. */
int sp_recorder_is_nested(struct sp_recorder *r, uintptr_t frame);

/*
 * A recorder that is no thread's, for events that are nobody's call: those of the GPU. Its file has the tid 0
 * and SP_HEADER_DEVICE. One caller at a time uses it, by sp_emit and what else names the recorder. NULL where
 * there is none to be had; may be lost to a fork as any other.
 */
struct sp_thread *sp_device_recorder_begin(void);

/* Its clean end, and of the recorder. */
void sp_device_recorder_finish(struct sp_thread *t);

/* Constructor, once: thread ends are to be told to us. */
void sp_thread_init(void);

#endif
