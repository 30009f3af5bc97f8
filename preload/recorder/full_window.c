/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/full_window.h"

#include "preload/sys/freeze.h"
#include "preload/recorder/own_stack.h"
#include "preload/recorder/own_work.h"
#include "preload/recorder/process.h"
#include "preload/blocks/publish.h"
#include "preload/recorder/returns.h"
#include "preload/sys/clock.h"
#include "preload/sys/fd_private_task.h"
#include "preload/sys/log_once.h"
#include "preload/sys/signal_handler.h"

/* After a failure to grow, this many events are lost before the next try. */
#define STUCK_EVENTS 4096u
/* After so many nested frames in a row the interrupted frame is taken for one that longjmp left. */
#define NESTED_PATIENCE 64u
/* And after so many of them where a handler's frame lies just above: one that emits that much. */
#define HANDLER_PATIENCE 4096u
#define HANDLER_STACK_BYTES (64u * 1024u)

/*
 * Another frame of the thread entered the recorder and has not left it. Either we run in a signal
 * handler above it, or it is suspended by swapcontext, or a longjmp out of a handler left it. The
 * three look alike, so patience decides, for longer where we are in a handler. A block that is made
 * too early costs the event of the frame, which reads as a torn slot.
 */
static int is_nested(struct sp_recorder *r)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	if (r->hot.inside <= 1) {
		r->nested = 0;
		return 0;
	}
	if (++r->nested % NESTED_PATIENCE || sp_is_signal_stack())
		return 1;
	if (r->nested % HANDLER_PATIENCE && sp_handler_is_between(here, here + HANDLER_STACK_BYTES))
		return 1;
	r->keeps_windows = 1;
	r->hot.inside = 1;
	return 0;
}

static void lose(struct sp_recorder *r, enum sp_lost_cause cause)
{
	uint64_t lost;

	if (!r->capacity) {
		sp_process_lose(1);
		return;
	}
	lost = sp_slots_take(&r->lost[cause], 1) + 1;
	__atomic_store_n(&sp_stream_window(&r->stream)->lost[cause], sp_checked_make(lost),
			 __ATOMIC_RELAXED);
}

/* Returns slots that were taken and not used. If a handler has taken more slots since, they stay as
 * holes. */
static void slots_return(struct sp_thread *t, uint64_t number, uint32_t slots)
{
	uint64_t expected = number + slots;

	if (__atomic_compare_exchange_n(&t->head, &expected, number, 0, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED))
		return;
	/* A hole would read as damage. */
	for (uint32_t i = 0; i < slots; i++)
		if (number + i - t->base < sp_recorder_of(t)->capacity)
			sp_slot_store(t, number + i, 0, 0, 0,
				      sp_what_make(SP_KIND_DEFINE + SP_DEFINE_NOTHING, 0));
}

static int is_event(const struct sp_new_record *record)
{
	return sp_commit_kind(record->what) < SP_KIND_DEFINE;
}

/*
 * No handler runs while a block is made: one that leaves by swapcontext(3) would suspend the
 * encoder, and the next handler would enter it again. A frozen process may make no system call.
 */
static int publish_undisturbed(struct sp_recorder *r)
{
	unsigned long before;
	int ret;

	if (sp_process_is_frozen())
		return sp_recorder_publish(r, 0);
	before = sp_signals_block();
	/* a handler may have ended the segment */
	ret = r->capacity ? sp_recorder_publish(r, 0) : 0;
	sp_signals_restore(before);
	return ret;
}

/* Work that a process of few events is spared. */
static void first_window_end(struct sp_recorder *r)
{
	unsigned long before;

	if (sp_process_is_frozen() ||
	    __atomic_load_n(&sp_process->cpus_are_defined, __ATOMIC_RELAXED))
		return;
	before = sp_signals_block();
	sp_returns_choose();
	if (r->capacity)
		r->define_cpus(&r->hot);
	sp_signals_restore(before);
}

/* Makes a block of a full window. If that fails, the window keeps its events, and new events are
 * lost until a later try succeeds. */
static void make_room(void *argument)
{
	struct sp_recorder *r = argument;
	uint64_t begin;
	int error;

	if (r->stuck) {
		r->stuck--;
		return;
	}
	begin = sp_clock_ticks();
	error = publish_undisturbed(r);
	sp_own_work_end(&r->hot, begin);
	if (!error) {
		sp_recorder_limit_set(r);
		first_window_end(r);
		return;
	}
	r->stuck = STUCK_EVENTS;
	r->hot.limit = r->hot.base + r->capacity;
	sp_log_once("cannot extend", r->stream.file.name, error,
		    "training goes on, events are lost and counted in the report");
}

/* A loop calls from the same frame each time: the size of that frame's stack is checked once. */
static void make_room_on_own_stack(struct sp_recorder *r, uintptr_t frame)
{
	if (frame == r->roomy_frame)
		make_room(r);
	else if (sp_call_on_own_stack(make_room, r) == 0)
		r->roomy_frame = frame;
}

void sp_record_slow(struct sp_thread *t, const struct sp_new_record *record, uint32_t slots,
		    uint64_t number)
{
	struct sp_recorder *r = sp_recorder_of(t);
	int nested;

	/* This frame was suspended meanwhile: a block has its slots as holes, which count it. */
	if (r->capacity && number < t->base)
		return;
	/* Before a handler may make a block of slots that nobody will store to. */
	slots_return(t, number, slots);
	nested = is_nested(r);
	if (!nested && r->capacity)
		make_room_on_own_stack(r, (uintptr_t)__builtin_frame_address(0));
	number = sp_slots_take(&t->head, slots);
	if (number + slots - t->base <= r->capacity) {
		sp_record_store(t, record, slots, number);
	} else {
		slots_return(t, number, slots);
		if (is_event(record))
			lose(r, nested ? SP_LOST_NESTED : SP_LOST_FULL);
	}
}
