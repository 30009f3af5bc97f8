/*
 * The images that a thread is decoding: those between the call that starts decoding and their end.
 * One event an image, not one a line. An image that moves to another thread meanwhile is seen no
 * more, and ends as aborted when its place is needed.
 *
 * For the hooks of decoders; as safe as the hook path. The libraries' errors leave hooked calls by
 * longjmp: nothing here may be left undone after a call, or it is undone by the next one.
 */
#ifndef STAGEPROF_PRELOAD_DECODE_H
#define STAGEPROF_PRELOAD_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "preload/record.h"

#define SP_DECODES 8 /* at once in a thread; the oldest gives way */

struct sp_image {
	const void *object; /* the decoder's own: libjpeg's cinfo. NULL: free */
	uint64_t start;	    /* ticks when it began; 0: not yet */
	uint64_t last;	    /* ticks when a call of it last returned */
	uint64_t inside_ticks;	/* in the library's calls */
	uint64_t finish_start;	/* when the finishing call was entered; 0: it was not */
	uint64_t lines;		/* delivered to the caller */
	uint32_t width, height; /* of the file; 0: not known */
	uint32_t suspended;	/* the starting call asked to be made again with more input */
	uint32_t kind;		/* the event's */
};

struct sp_decode {
	struct sp_image images[SP_DECODES];
	uintptr_t inside; /* frame of the decoder's hook that the thread is in; 0: none */
};

/* The thread if it records already: only then has it images. */
static inline struct sp_thread *sp_decode_thread(void)
{
	struct sp_thread *t = sp_tls.thread;

	return t && t->state == SP_THREAD_LIVE ? t : NULL;
}

/* The image of a decoder's object, or NULL. */
static inline struct sp_image *sp_image_in(struct sp_thread *t, const void *object)
{
	for (unsigned i = 0; i < SP_DECODES; i++)
		if (t->decode->images[i].object == object)
			return &t->decode->images[i];
	return NULL;
}

static inline struct sp_image *sp_image_of(const void *object)
{
	struct sp_thread *t = sp_decode_thread();

	return t ? sp_image_in(t, object) : NULL;
}

/* A free place, or that of the image begun first. The caller fills it whole. */
struct sp_image *sp_image_place(struct sp_thread *t);

/* A call that began at `start` has returned. False where the image is gone: it ended inside the
 * call, or a handler forked and this is the child. */
static inline int sp_image_advance(struct sp_image *image, const void *object, uint64_t start)
{
	if (image->object != object)
		return 0;
	image->last = sp_clock_ticks();
	image->inside_ticks += image->last - start;
	return 1;
}

/* Records the image as it stands; the second frees its place, too. One not begun
 * leaves no event. */
void sp_image_emit(struct sp_thread *t, const struct sp_image *image, enum sp_decode_end how);
void sp_image_end(struct sp_thread *t, struct sp_image *image, enum sp_decode_end how);

/* Says once in each process image which library a decoder's calls go to. Not for every call. */
void sp_decode_cover(const char *group, const void *function);

/*
 * A decoder's calls of other decoders (PNG's of zlib), and its own of itself, are its own business:
 * they are not recorded. `frame` is that of the hook asking. A frame left by longjmp is seen to be
 * gone by the next hook further up the stack.
 */
static inline int sp_decode_is_inside(const struct sp_thread *t, const void *frame)
{
	return (uintptr_t)frame < t->decode->inside;
}

/* A call that is an image by itself: give it to sp_decode_leave, with what is to be known of it. */
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
	call.outer = t->decode->inside;
	t->decode->inside = (uintptr_t)frame;
	call.start = sp_clock_ticks();
	return call;
}

void sp_decode_leave(const struct sp_decode_call *call, uint32_t kind, uint32_t width,
		     uint32_t height, int whole);

#endif
