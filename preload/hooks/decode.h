/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pictures that a thread is decoding: from the call that starts decoding to the end. One
 * event for each picture, not for each line. A picture that moves to another thread is not
 * followed; it ends as aborted when its slot is needed.
 *
 * For the hooks of decoders; as safe as the hook path. Errors of the libraries leave hooked calls
 * by longjmp: a hook must not rely on code after the call, except on code that the next call can
 * make up for.
 */
#ifndef STAGEPROF_PRELOAD_DECODE_H
#define STAGEPROF_PRELOAD_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "preload/recorder/recorder.h"

#define SP_DECODES 8 /* open pictures of a thread; a new picture replaces the oldest */

struct sp_picture {
	const void *object;	/* the decoder's own: libjpeg's cinfo. NULL: free */
	uint64_t start;		/* ticks when it began; 0: not yet */
	uint64_t last;		/* ticks when its last call returned */
	uint64_t inside_ticks;	/* in the library's calls */
	uint64_t finish_start;	/* when the finishing call was entered; 0: it was not */
	uint64_t lines;		/* delivered to the caller */
	uint32_t width, height; /* of the file; 0: not known */
	uint32_t suspended;	/* the starting call asked for more input and another call */
	uint32_t kind;		/* the event's */
};

struct sp_decode {
	struct sp_picture pictures[SP_DECODES];
	uintptr_t inside; /* the frame of the decoder's hook that the thread is in; 0: none */
};

_Static_assert(sizeof(struct sp_decode) <= SP_HOOK_STATE_BYTES, "struct sp_thread keeps it");

static inline struct sp_decode *sp_decode_of(const struct sp_thread *t)
{
	return t->hook_state;
}

/* The thread if it already records: only then can it have pictures. */
static inline struct sp_thread *sp_decode_thread(void)
{
	struct sp_thread *t = sp_tls.thread;

	return t && t->state == SP_THREAD_LIVE ? t : NULL;
}

/* The picture of a decoder's object, or NULL. */
static inline struct sp_picture *sp_picture_in(struct sp_thread *t, const void *object)
{
	for (unsigned i = 0; i < SP_DECODES; i++)
		if (sp_decode_of(t)->pictures[i].object == object)
			return &sp_decode_of(t)->pictures[i];
	return NULL;
}

static inline struct sp_picture *sp_picture_of(const void *object)
{
	struct sp_thread *t = sp_decode_thread();

	return t ? sp_picture_in(t, object) : NULL;
}

/* A free slot, or the slot of the picture that began first. The caller fills it whole. */
struct sp_picture *sp_picture_slot(struct sp_thread *t);

/* A call that began at `start` has returned. Returns 0 if the picture is gone: it ended inside the
 * call, or a handler forked and this is the child. */
static inline int sp_picture_advance(struct sp_picture *picture, const void *object, uint64_t start)
{
	if (picture->object != object)
		return 0;
	picture->last = sp_clock_ticks();
	picture->inside_ticks += picture->last - start;
	return 1;
}

/* Records the picture as it stands; sp_picture_end also frees its slot. A picture that has not
 * begun leaves no event. */
void sp_picture_emit(struct sp_thread *t, const struct sp_picture *picture, enum sp_decode_end how);
void sp_picture_end(struct sp_thread *t, struct sp_picture *picture, enum sp_decode_end how);

/* Reports the library of a decoder's calls in coverage, once for each process image. Not for every
 * call. */
void sp_decode_coverage(const char *group, const void *function);

/*
 * Calls that a decoder makes (PNG calls zlib, a library calls itself) are not recorded. `frame`
 * is the frame of the calling hook. The next hook further up the stack recognizes a frame that
 * was left by longjmp.
 */
static inline int sp_decode_is_inside(const struct sp_thread *t, const void *frame)
{
	return (uintptr_t)frame < sp_decode_of(t)->inside;
}

/* A call that decodes a whole picture: pass it to sp_decode_leave. */
struct sp_decode_call {
	struct sp_thread *thread; /* NULL: not to be recorded */
	uint64_t start;
	uintptr_t outer;
};

static inline struct sp_decode_call sp_decode_enter(const void *frame)
{
	struct sp_thread *t = sp_enter();
	struct sp_decode_call call = {.thread = t};

	if (!t || sp_decode_is_inside(t, frame)) {
		call.thread = NULL;
		return call;
	}
	call.outer = sp_decode_of(t)->inside;
	sp_decode_of(t)->inside = (uintptr_t)frame;
	call.start = sp_clock_ticks();
	return call;
}

void sp_decode_leave(const struct sp_decode_call *call, uint32_t kind, uint32_t width,
		     uint32_t height, int whole);

#endif
