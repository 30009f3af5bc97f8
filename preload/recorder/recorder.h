/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder's interface for hooks. Events go into the raw window of the calling thread
 * (trace/format.h). The thread itself makes a block of a full window, inside the call that filled
 * it.
 *
 * Everything here is async-signal-safe and keeps errno. Nothing here allocates from the host's
 * heap, takes a lock or makes a system call, except the rare steps named in stream.h. A hook must
 * not keep a struct sp_thread beyond its hooked call.
 */
#ifndef STAGEPROF_PRELOAD_RECORDER_H
#define STAGEPROF_PRELOAD_RECORDER_H

#include <stddef.h>
#include <stdint.h>

#include "preload/sys/clock.h"
#include "preload/sys/object_range.h"
#include "preload/recorder/switch.h"
#include "preload/sys/hidden.h"
#include "trace/events.h"
#include "trace/format.h"

#define sp_likely(x) __builtin_expect(!!(x), 1)
#define sp_unlikely(x) __builtin_expect(!!(x), 0)

enum sp_thread_state {
	SP_THREAD_NONE = 0, /* also in a forked child: fork wipes the page */
	SP_THREAD_LIVE = 1,
	SP_THREAD_PAUSED = 2, /* the thread has noticed that recording is off */
};

/*
 * State of the layers above, which the recorder keeps for them and does not read. Both kinds are
 * zero when a thread begins and in a forked child.
 */
#define SP_CALL_LAYERS 2	  /* layers of libraries whose calls nest: preload/cuda/cuda.h */
#define SP_HOOK_STATE_BYTES 1024u /* preload/hooks/decode.h */

/* The outermost open call of one layer. */
struct sp_layer_call {
	void *frame;		      /* the layer's own; NULL: no call is open */
	struct sp_object_range inner; /* the library that the call went into; 0, 0: one that calls
					 no hooked function */
};

/*
 * One recording thread. The hot path uses the first fields. Fork wipes the pages of the whole
 * struct. `inside` counts the frames that may hold an address in the window: a signal handler that
 * emits meanwhile may fill slots but should not move the ring. Handlers that switch stacks resume
 * frames in any order, and a frame that a longjmp left stays counted. Memory that a frame inside
 * may store to is never unmapped.
 */
struct sp_thread {
	uint32_t state; /* enum sp_thread_state */
	uint32_t shift; /* log2 of the ring's capacity */
	uint64_t head;	/* number of the next slot to take */
	uint64_t limit; /* slots from here on take the slow path; 0: no file */
	struct sp_slot *ring;
	uint64_t mask;
	int32_t inside;
	struct sp_mark *mark; /* NULL only in a child that was forked inside a hooked call */
	void *hook_state;     /* SP_HOOK_STATE_BYTES */
	uint64_t base;	      /* slots below are published */
	struct sp_layer_call layer_calls[SP_CALL_LAYERS];
};

struct sp_tls {
	struct sp_thread *thread;
	uint32_t suppress_depth;  /* > 0: this thread's calls are not recorded (vfork child,
				     ourselves) */
	uint32_t own_stack_depth; /* > 0: the thread runs on a stack of ours
				     (preload/recorder/own_stack.h) */
	uint32_t vfork_depth;	  /* so many of suppress_depth are for children in our memory */
};

extern __thread struct sp_tls sp_tls SP_HIDDEN __attribute__((tls_model("initial-exec")));

/* A signal that arrived while the thread waited for a vfork child has its handler called before
 * vfork returns: in the parent, whose calls count. One system call. */
int sp_is_vfork_parent(void);

static inline int sp_is_suppressed(void)
{
	return sp_tls.suppress_depth && !sp_is_vfork_parent();
}

struct sp_thread *sp_thread_begin(void);

/* The calling thread's recorder even while recording is off, for definitions. NULL as for
 * sp_enter(). */
struct sp_thread *sp_thread_even_off(void);

/* 0: the calling thread records. */
static inline uint32_t sp_thread_idle_bits(const struct sp_thread *t)
{
	return (t->state ^ SP_THREAD_LIVE) | sp_tls.suppress_depth | sp_switch_off_bits();
}

/* The calling thread's recorder if the thread records now; NULL: sp_enter() has to look further. */
static inline struct sp_thread *sp_thread_at_work(void)
{
	struct sp_thread *t = sp_tls.thread;

	return sp_likely(t && !sp_thread_idle_bits(t)) ? t : NULL;
}

/* The calling thread's recorder, or NULL if the call is to pass through unrecorded. */
static inline struct sp_thread *sp_enter(void)
{
	struct sp_thread *t = sp_thread_at_work();

	return sp_likely(t != NULL) ? t : sp_thread_begin();
}

/* Adds without a bus lock, because only signal handlers of this thread compete. Returns the old
 * value. */
static inline uint64_t sp_slots_take(uint64_t *head, uint64_t slots)
{
#if defined(__x86_64__)
	__asm__ volatile("xaddq %0, %1" : "+r"(slots), "+m"(*head) : : "memory", "cc");
	return slots;
#else
	return __atomic_fetch_add(head, slots, __ATOMIC_RELAXED);
#endif
}

/* One instruction each, for the reason above. */
static inline void sp_inside_begin(struct sp_thread *t)
{
#if defined(__x86_64__)
	__asm__ volatile("incl %0" : "+m"(t->inside) : : "memory", "cc");
#else
	__atomic_add_fetch(&t->inside, 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
#endif
}

static inline void sp_inside_end(struct sp_thread *t)
{
#if defined(__x86_64__)
	__asm__ volatile("decl %0" : "+m"(t->inside) : : "memory", "cc");
#else
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_sub_fetch(&t->inside, 1, __ATOMIC_RELAXED);
#endif
}

/* The ring is larger than the caches that survive a system call, so the next slot is prefetched
 * before the call. A prefetch in the previous event takes fewer instructions but costs about 4 ns
 * more, because the line may be evicted by then. */
static inline void sp_slot_fetch(const struct sp_thread *t)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(t->ring[t->head & t->mask]));
#else
	__builtin_prefetch(&t->ring[t->head & t->mask], 1);
#endif
}

/* The mask is read first: a frame that another one moved the ring under has the smaller mask and
 * the larger ring, not the reverse. what: sp_what_make() */
static inline void sp_slot_store(struct sp_thread *t, uint64_t number, uint64_t start,
				 uint64_t ticks, int64_t value, uint64_t what)
{
	uint64_t place = number & __atomic_load_n(&t->mask, __ATOMIC_ACQUIRE);
	struct sp_slot *slot = &__atomic_load_n(&t->ring, __ATOMIC_RELAXED)[place];

	slot->start = start;
	slot->ticks = ticks;
	slot->value = value;
	__atomic_store_n(&slot->commit,
			 sp_commit_make(start, ticks, (uint64_t)value, what, number >> t->shift),
			 __ATOMIC_RELEASE);
}

/* One event that needs `slots` consecutive slots or the slow path. */
struct sp_new_record {
	uint64_t start, ticks;
	int64_t value;
	uint64_t what;	       /* sp_what_make() */
	const uint64_t *extra; /* 3 words, or NULL */
	const void *metadata;  /* a definition's fixed fields, which precede its text */
	const char *text;
	uint32_t metadata_bytes, text_bytes;
};

/* Stores a record into `slots` slots from `number` on. The caller took the slots. */
void sp_record_store(struct sp_thread *t, const struct sp_new_record *record, uint32_t slots,
		     uint64_t number);

/* The slow path: the window is full (preload/recorder/publish.c). */
void sp_record_slow(struct sp_thread *t, const struct sp_new_record *record, uint32_t slots,
		    uint64_t number);

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

/* Writes a definition into this thread's stream; text is cut at SP_NAME_BYTES_MAX - metadata_bytes.
 */
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

/*
 * Sets the mark: the call that the thread is in; what == 0: none. The mark lies in the window,
 * which a signal handler may move when it makes a block; then the store goes nowhere. In a child
 * that a handler forked during the call there is no mark, because fork wipes the thread.
 */
static inline void sp_mark_store(struct sp_thread *t, uint64_t start, uint64_t what)
{
	struct sp_mark *mark;

	sp_inside_begin(t);
	mark = t->mark;
	if (sp_likely(mark != NULL)) {
		if (what)
			mark->start_ticks = start;
		__atomic_store_n(&mark->what, what, __ATOMIC_RELEASE);
	}
	sp_inside_end(t);
}

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

/*
 * Ends the calling thread's file cleanly (block published, file cut). The thread's next event
 * begins another segment. For thread end, exit, _exit and exec. Does nothing inside a handler
 * that interrupted the recorder: the file is valid as it stands.
 */
void sp_thread_finish(void);

#endif
