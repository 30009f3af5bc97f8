/*
 * The recorder's front: what a hook calls. Events go into the calling thread's raw window
 * (trace/format.h); a full window is made a block by the thread itself, in line.
 *
 * Everything here is async-signal-safe and keeps errno. Nothing here allocates from the host's heap,
 * takes a lock or makes a system call, but for the rare steps named in stream.h. No hook may keep a
 * struct sp_thread beyond the hooked call it belongs to.
 */
#ifndef STAGEPROF_PRELOAD_RECORD_H
#define STAGEPROF_PRELOAD_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "preload/clock.h"
#include "preload/extent.h"
#include "preload/switch.h"
#include "trace/events.h"
#include "trace/format.h"

#define sp_likely(x) __builtin_expect(!!(x), 1)
#define sp_unlikely(x) __builtin_expect(!!(x), 0)

enum sp_thread_state {
	SP_THREAD_NONE = 0, /* also what a forked child finds: the page is wiped */
	SP_THREAD_LIVE = 1,
	SP_THREAD_PAUSED = 2, /* it has met that recording is off */
};

struct sp_decode; /* preload/decode.h: images being decoded by this thread */

/* preload/cuda.h: the call that is open in a layer, and the library that it went into; 0, 0: that calls no hooked
 * function. */
#define SP_CUDA_LAYERS 2
struct sp_cuda_open {
	struct sp_cuda_frame *frame; /* NULL: none is open */
	struct sp_extent inner;
};

/*
 * One recording thread. The first part is the hot path's; the whole lives in pages that fork wipes.
 * `emitting` is the frame that is inside sp_emit, 0 for none: a signal handler that emits meanwhile may
 * fill slots but must not move the ring under it.
 */
struct sp_thread {
	uint32_t state; /* enum sp_thread_state */
	uint32_t shift; /* log2 of the ring's capacity */
	uint64_t head;	/* number of the next slot to take */
	uint64_t limit; /* slots from here on take the slow path; 0: no file */
	struct sp_slot *ring;
	uint64_t mask;
	uintptr_t emitting;
	struct sp_mark *mark; /* NULL only in a child that was forked inside a hooked call */
	struct sp_decode *decode;
	uint64_t base; /* slots below are published */
	struct sp_cuda_open cuda_open[SP_CUDA_LAYERS];
};

struct sp_tls {
	struct sp_thread *thread;
	uint32_t quiet; /* > 0: this thread's calls are not recorded (vfork child, ourselves) */
	uint32_t deep;	/* > 0: the thread runs on a stack of ours (preload/deep.h) */
};

extern __thread struct sp_tls sp_tls __attribute__((tls_model("initial-exec"), visibility("hidden")));

struct sp_thread *sp_thread_begin(void);

/* The calling thread's recorder also while recording is off: for definitions. NULL as sp_enter(). */
struct sp_thread *sp_thread_even_off(void);

/* 0: the calling thread's recorder is at work. */
static inline uint32_t sp_thread_idle_bits(const struct sp_thread *t)
{
	return (t->state ^ SP_THREAD_LIVE) | sp_tls.quiet | sp_switch_off_bits();
}

/* The calling thread's recorder where it is at work; NULL: sp_enter() has to ask further. */
static inline struct sp_thread *sp_thread_at_work(void)
{
	struct sp_thread *t = sp_tls.thread;

	return sp_likely(t && !sp_thread_idle_bits(t)) ? t : NULL;
}

/* The calling thread's recorder, or NULL where the call is to pass untouched. */
static inline struct sp_thread *sp_enter(void)
{
	struct sp_thread *t = sp_thread_at_work();

	return sp_likely(t != NULL) ? t : sp_thread_begin();
}

/* Adds without a bus lock: only this thread's signal handlers compete. Returns the value before. */
static inline uint64_t sp_slots_take(uint64_t *head, uint64_t slots)
{
#if defined(__x86_64__)
	__asm__ volatile("xaddq %0, %1" : "+r"(slots), "+m"(*head) : : "memory", "cc");
	return slots;
#else
	return __atomic_fetch_add(head, slots, __ATOMIC_RELAXED);
#endif
}

/* The ring is larger than the caches that a system call leaves alone: the next slot is fetched during it. Fetching it in
 * the event before takes fewer instructions, and the fetched line may be gone by then: some 4 ns more. */
static inline void sp_slot_fetch(const struct sp_thread *t)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(t->ring[t->head & t->mask]));
#else
	__builtin_prefetch(&t->ring[t->head & t->mask], 1);
#endif
}

/* what: sp_what_make() */
static inline void sp_slot_store(struct sp_thread *t, uint64_t number, uint64_t start,
				 uint64_t ticks, int64_t value, uint64_t what)
{
	struct sp_slot *slot = &t->ring[number & t->mask];

	slot->start = start;
	slot->ticks = ticks;
	slot->value = value;
	__atomic_store_n(&slot->commit,
			 sp_commit_make(start, ticks, (uint64_t)value, what, number >> t->shift),
			 __ATOMIC_RELEASE);
}

/* One event on its way into `slots` consecutive slots; the parts of sp_emit that are rarely taken. */
struct sp_record {
	uint64_t start, ticks;
	int64_t value;
	uint64_t what;	       /* sp_what_make() */
	const uint64_t *extra; /* 3 words, or NULL */
	const void *facts;     /* a definition's fixed part, then its text */
	const char *text;
	uint32_t facts_bytes, text_bytes;
	uintptr_t frame; /* of the function that took the slots */
};

void sp_record_slow(struct sp_thread *t, const struct sp_record *record, uint32_t slots,
		    uint64_t number);

/* sp_emit inside `emitting`, which was `outer` before. */
static inline void sp_emit_guarded(struct sp_thread *t, uintptr_t outer, uint64_t what, uint64_t start,
				   uint64_t ticks, int64_t value)
{
	uint64_t number = sp_slots_take(&t->head, 1);

	if (sp_likely(number < t->limit)) {
		sp_slot_store(t, number, start, ticks, value, what);
	} else {
		struct sp_record record = {
			.start = start, .ticks = ticks, .value = value, .what = what, .frame = t->emitting};

		/* The slow path judges by this whether it may move the ring. */
		t->emitting = outer;
		sp_record_slow(t, &record, 1, number);
		outer = t->emitting;
	}
	t->emitting = outer;
}

/* Records one completed event. ticks = end - start; value and arg as events.def says. */
static inline void sp_emit(struct sp_thread *t, uint32_t kind, uint32_t arg, uint64_t start,
			   uint64_t ticks, int64_t value)
{
	uintptr_t outer = t->emitting;

	t->emitting = (uintptr_t)__builtin_frame_address(0);
	sp_emit_guarded(t, outer, sp_what_make(kind, arg), start, ticks, value);
}

/* The same with one EXTRA slot of three words. */
void sp_emit_extra(struct sp_thread *t, uint32_t kind, uint32_t arg, uint64_t start, uint64_t ticks,
		   int64_t value, const uint64_t extra[3]);

/* Writes a definition into this thread's stream; text is cut at SP_NAME_BYTES_MAX - facts_bytes. */
void sp_define(struct sp_thread *t, enum sp_define what, uint32_t id, const void *facts,
	       uint32_t facts_bytes, const char *text, size_t text_bytes);

/*
 * A call being timed. Begin before the real call, end after it; both are free of system calls. While
 * it is open the thread's mark says what it is inside of. A span that is left by cancellation or an
 * exception is closed as abandoned by the cleanup of SP_SPAN; one left by longjmp leaves no event. There
 * is one mark a thread: the end of a span inside a signal handler also takes away that of the call it
 * interrupted, and that of a call left by longjmp.
 */
struct sp_span {
	struct sp_thread *thread; /* NULL: closed */
	uint64_t start;
	uint64_t what; /* sp_what_make() */
};

/*
 * Says what the thread is inside of; what == 0: of nothing. The mark lies in the window, which a signal handler
 * that makes a block may move: not while `emitting` is set. There is no mark in a child that a handler
 * forked during the call: the thread is wiped.
 */
static inline void sp_mark_store(struct sp_thread *t, uint64_t start, uint64_t what)
{
	uintptr_t outer = t->emitting;
	struct sp_mark *mark;

	t->emitting = (uintptr_t)__builtin_frame_address(0);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	mark = t->mark;
	if (sp_likely(mark != NULL)) {
		if (what)
			mark->start_ticks = start;
		__atomic_store_n(&mark->what, what, __ATOMIC_RELEASE);
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	t->emitting = outer;
}

/* For calls that make no system call, as launches: the slot is not fetched ahead. */
static inline struct sp_span sp_span_begin_warm(struct sp_thread *t, uint32_t kind, uint32_t arg,
						uint64_t start)
{
	struct sp_span span = {.thread = t, .start = start, .what = sp_what_make(kind, arg)};

	sp_mark_store(t, start, span.what);
	return span;
}

static inline struct sp_span sp_span_begin_at(struct sp_thread *t, uint32_t kind, uint32_t arg,
					      uint64_t start)
{
	sp_slot_fetch(t);
	return sp_span_begin_warm(t, kind, arg, start);
}

static inline struct sp_span sp_span_begin(struct sp_thread *t, uint32_t kind, uint32_t arg)
{
	return sp_span_begin_at(t, kind, arg, sp_clock_ticks());
}

/* What it is about may be known only after the call. */
static inline void sp_span_set_arg(struct sp_span *span, uint32_t arg)
{
	span->what = sp_what_make(sp_commit_kind(span->what), arg);
}

/* Takes the mark away without an event: for calls that turned out to be of no interest. */
static inline void sp_span_drop(struct sp_span *span)
{
	sp_mark_store(span->thread, 0, 0);
	span->thread = NULL;
}

/* Takes the mark away and records the event inside one guard. */
static inline void sp_span_end_at(struct sp_span *span, uint64_t end, int64_t value)
{
	struct sp_thread *t = span->thread;
	uintptr_t outer = t->emitting;
	struct sp_mark *mark;

	span->thread = NULL;
	t->emitting = (uintptr_t)__builtin_frame_address(0);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	mark = t->mark;
	if (sp_unlikely(!mark)) { /* the call began in the parent, who records it */
		t->emitting = outer;
		return;
	}
	__atomic_store_n(&mark->what, 0, __ATOMIC_RELEASE);
	sp_emit_guarded(t, outer, span->what, span->start, end - span->start, value);
}

static inline void sp_span_end(struct sp_span *span, int64_t value)
{
	sp_span_end_at(span, sp_clock_ticks(), value);
}

/* Not by its address: a span that nobody points to lives in registers. */
void sp_span_abandon(struct sp_thread *t, uint64_t what, uint64_t start);

static inline __attribute__((always_inline)) void sp_span_cleanup(struct sp_span *span)
{
	if (sp_unlikely(span->thread != NULL))
		sp_span_abandon(span->thread, span->what, span->start);
}

/* Declares and begins a span that closes itself when the frame is unwound. */
#define SP_SPAN(name, t, kind, arg) SP_SPAN_AT(name, t, kind, arg, sp_clock_ticks())
#define SP_SPAN_AT(name, t, kind, arg, start)                                                      \
	struct sp_span name __attribute__((cleanup(sp_span_cleanup))) =                            \
		sp_span_begin_at(t, kind, arg, start)

/*
 * The calling thread's file is brought to its clean end (block published, file cut); its next event,
 * if one comes, begins another part. For thread end, exit, _exit and exec. Does nothing inside a
 * handler that interrupted the recorder: the file is valid as it stands.
 */
void sp_thread_finish(void);

#endif
