/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events, spans and definitions into the window of the calling thread. Everything here is
 * async-signal-safe and keeps errno. Nothing here allocates from the host's heap, takes a lock or
 * makes a system call, except where a window is full (full_window.h).
 */
#ifndef STAGEPROF_PRELOAD_EMIT_H
#define STAGEPROF_PRELOAD_EMIT_H

#include "preload/recorder/full_window.h"
#include "preload/blocks/thread_slots.h"
#include "preload/sys/clock.h"

/* sp_emit after sp_inside_begin(). */
static inline void sp_emit_inside(struct sp_thread *t, uint64_t what, uint64_t start,
				  uint64_t ticks, int64_t value)
{
	uint64_t number = sp_slots_take(&t->head, 1);

	if (sp_likely(number < t->limit)) {
		sp_slot_store(t, number, start, ticks, value, what);
	} else {
		struct sp_new_record record = {.start = start,
					       .ticks = ticks,
					       .value = value,
					       .what = what};

		sp_record_slow(t, &record, 1, number);
	}
	sp_inside_end(t);
}

/* Records one completed event. ticks = end - start; value and arg as events.def says. */
static inline void sp_emit(struct sp_thread *t, uint32_t kind, uint32_t arg, uint64_t start,
			   uint64_t ticks, int64_t value)
{
	sp_inside_begin(t);
	sp_emit_inside(t, sp_what_make(kind, arg), start, ticks, value);
}

/* sp_emit with one EXTRA slot of three words. */
void sp_emit_extra(struct sp_thread *t, uint32_t kind, uint32_t arg, uint64_t start, uint64_t ticks,
		   int64_t value, const uint64_t extra[3]);

/* Writes a definition into this thread's stream;
 * text is cut at SP_NAME_BYTES_MAX - metadata_bytes. */
void sp_define(struct sp_thread *t, enum sp_define what, uint32_t id, const void *metadata,
	       uint32_t metadata_bytes, const char *text, size_t text_bytes);

/*
 * A call that is being timed. Begin before the real call, end after it; neither makes a system
 * call. While the span is open, the thread's mark names the call. The cleanup of SP_SPAN closes a
 * span left by cancellation or an exception, as abandoned. A span left by longjmp leaves no
 * event. Each thread has one mark: the end of a span inside a signal handler also clears the mark
 * of the interrupted call, and the mark of a call left by longjmp.
 */
struct sp_open_span {
	struct sp_thread *thread; /* NULL: closed */
	uint64_t start;
	uint64_t what; /* sp_what_make() */
};

/* For calls without a system call, such as launches: the slot is not prefetched. */
static inline struct sp_open_span sp_span_begin_warm(struct sp_thread *t, uint32_t kind,
						     uint32_t arg, uint64_t start)
{
	struct sp_open_span span = {.thread = t, .start = start, .what = sp_what_make(kind, arg)};

	sp_mark_store(t, start, span.what);
	return span;
}

static inline struct sp_open_span sp_span_begin_at(struct sp_thread *t, uint32_t kind, uint32_t arg,
						   uint64_t start)
{
	sp_slot_fetch(t);
	return sp_span_begin_warm(t, kind, arg, start);
}

static inline struct sp_open_span sp_span_begin(struct sp_thread *t, uint32_t kind, uint32_t arg)
{
	return sp_span_begin_at(t, kind, arg, sp_clock_ticks());
}

/* The arg may be known only after the call. */
static inline void sp_span_set_arg(struct sp_open_span *span, uint32_t arg)
{
	span->what = sp_what_make(sp_commit_kind(span->what), arg);
}

/* Clears the mark without an event, for calls that need no event. */
static inline void sp_span_drop(struct sp_open_span *span)
{
	sp_mark_store(span->thread, 0, 0);
	span->thread = NULL;
}

/* Clears the mark and records the event inside one guard. */
static inline void sp_span_end_at(struct sp_open_span *span, uint64_t end, int64_t value)
{
	struct sp_thread *t = span->thread;
	struct sp_mark *mark;

	span->thread = NULL;
	sp_inside_begin(t);
	mark = t->mark;
	if (sp_unlikely(!mark)) { /* the call began in the parent, which records it */
		sp_inside_end(t);
		return;
	}
	__atomic_store_n(&mark->what, 0, __ATOMIC_RELEASE);
	sp_emit_inside(t, span->what, span->start, end - span->start, value);
}

static inline void sp_span_end(struct sp_open_span *span, int64_t value)
{
	sp_span_end_at(span, sp_clock_ticks(), value);
}

/* Takes values, not the address of a span: a span without a pointer to it stays in registers. */
void sp_span_abandon(struct sp_thread *t, uint64_t what, uint64_t start);

static inline __attribute__((always_inline)) void sp_span_cleanup(struct sp_open_span *span)
{
	if (sp_unlikely(span->thread != NULL))
		sp_span_abandon(span->thread, span->what, span->start);
}

/* Declares and begins a span that closes itself when the frame is unwound. */
#define SP_SPAN(name, t, kind, arg) SP_SPAN_AT(name, t, kind, arg, sp_clock_ticks())
#define SP_SPAN_AT(name, t, kind, arg, start)                                                      \
	struct sp_open_span name __attribute__((cleanup(sp_span_cleanup))) =                       \
		sp_span_begin_at(t, kind, arg, start)

#endif
