/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of a recording thread that hooks read, and how a record goes into the slots of the
 * thread's window (trace/format.h).
 *
 * Async-signal-safe; no system call, no lock, and errno is kept.
 */
#ifndef STAGEPROF_PRELOAD_THREAD_SLOTS_H
#define STAGEPROF_PRELOAD_THREAD_SLOTS_H

#include <stddef.h>
#include <stdint.h>

#include "preload/sys/hidden.h"
#include "preload/sys/object_range.h"
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

/* No signal handler comes between the load and the store of the counter. A bus lock is not needed,
 * because other threads do not change it. */
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

/* The mask is read before the ring. If another frame grows the ring in between, this frame has the
 * old mask and the new ring, which is safe. what: sp_what_make() */
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

#endif
