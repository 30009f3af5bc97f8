#include "preload/record.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "preload/aside.h"
#include "preload/deep.h"
#include "preload/handler.h"
#include "preload/memory.h"
#include "preload/process.h"
#include "preload/say.h"
#include "preload/sys.h"
#include "preload/thread.h"

/* After a failure to grow, this many events are lost before the next try. */
#define STUCK_EVENTS 4096u
/* A frame of the recorder that is further up the stack than this is not the one a handler interrupted:
 * it was left by longjmp. */
#define HANDLER_STACK_BYTES (1024u * 1024u)
/* So many times in a row a frame is taken for interrupted before the stack is searched for the handler. */
#define NESTED_PATIENCE 64u

__thread struct sp_tls sp_tls;

/*
 * `emitting` names a frame that entered the recorder and has not left it. Either it is still there and
 * we run in a signal handler above it, or it was left by longjmp out of a handler; then a frame that
 * enters now is not deeper than it, or far deeper, or there is no handler between them. This is asked once a
 * block, not once an event.
 */
int sp_recorder_is_nested(struct sp_recorder *r, uintptr_t frame)
{
	uintptr_t there = r->hot.emitting;

	if (!there)
		return 0;
	if (sp_deep_is_signal_stack())
		return 1;
	if (frame < there && there - frame < HANDLER_STACK_BYTES &&
	    (++r->nested % NESTED_PATIENCE || sp_handler_is_between(frame, there)))
		return 1;
	r->hot.emitting = 0;
	return 0;
}

static void lose(struct sp_recorder *r, enum sp_lost_cause cause)
{
	if (!r->capacity) {
		sp_process_lose(1);
		return;
	}
	r->lost[cause]++;
	__atomic_store_n(&sp_stream_window(&r->stream)->lost[cause], sp_checked_make(r->lost[cause]),
			 __ATOMIC_RELAXED);
}

/* The last eighth of the ring is kept for signal handlers that come while a block is made. */
static void room_set(struct sp_recorder *r)
{
	r->hot.limit = r->hot.base + r->capacity - r->capacity / 8;
}

void sp_recorder_adopt(struct sp_recorder *r, uint64_t capacity)
{
	r->capacity = capacity;
	r->hot.ring = sp_stream_slots(&r->stream);
	r->hot.mask = capacity - 1;
	r->hot.shift = (uint32_t)__builtin_ctzll(capacity);
	room_set(r);
	r->hot.mark = &sp_stream_window(&r->stream)->mark;
}

/* Where there is no memory for larger blocks, the smaller ones go on. */
static void pack_widen(struct sp_recorder *r, uint32_t slots)
{
	struct sp_pack before = r->pack;
	void *memory;

	if (r->pack.slots >= slots)
		return;
	memory = sp_pages_make(sp_pack_memory_bytes(slots));
	if (!memory)
		return;
	/* In this order a longjmp out of a handler leaves a pack that can be used. */
	sp_pack_init(&r->pack, memory, slots);
	if (before.slots > SP_WINDOW_SLOTS_MIN)
		sp_pages_free(before.memory, before.memory_bytes);
}

/* A busy thread gets a window four times as large with each growth, up to the largest. */
static int grow(struct sp_recorder *r, size_t block_bytes)
{
	uint64_t wanted = r->capacity * 4 < SP_WINDOW_SLOTS_MAX ? r->capacity * 4 : SP_WINDOW_SLOTS_MAX;
	unsigned long before;
	int ret;

	before = sp_signals_block();
	ret = sp_stream_grow(&r->stream, block_bytes, (uint32_t)wanted, r->hot.base, r->hot.head);
	if (!ret)
		sp_recorder_adopt(r, wanted);
	sp_signals_restore(before);
	return ret;
}

/* The slots below are published. */
static void base_move(struct sp_recorder *r, uint64_t base)
{
	r->hot.limit += base - r->hot.base;
	__atomic_store_n(&r->hot.base, base, __ATOMIC_RELEASE);
}

static int publish_one(struct sp_recorder *r, uint32_t slots, uint16_t flags)
{
	struct sp_block_header header = {.flags = flags, .lost = 0};
	uint32_t widen = 0;
	size_t bound = sp_pack_encode(&r->pack, r->hot.ring, r->capacity, r->hot.base, slots,
				      sp_clock.grain, &header);
	int ret = 0;

	for (unsigned i = 0; i < SP_LOST_CAUSES; i++)
		header.lost += r->lost[i];
	if (sp_process_is_frozen() && (r->stream.write_mode || sp_stream_block_room(&r->stream) < bound))
		return -EPERM;
	if (sp_stream_block_room(&r->stream) < bound) {
		ret = grow(r, bound);
		widen = ret ? 0 : (uint32_t)r->capacity;
	}
	if (!ret)
		ret = sp_pack_compress(&r->pack, sp_stream_block_at(&r->stream),
				       sp_stream_block_room(&r->stream), &header);
	if (ret)
		return ret;
	sp_clock_read(&header.published);
	ret = sp_stream_publish(&r->stream, &header);
	if (ret)
		return ret;
	base_move(r, r->hot.base + slots);
	if (widen)
		pack_widen(r, widen);
	return 0;
}

int sp_recorder_publish(struct sp_recorder *r, uint16_t flags)
{
	/* Slots that a handler took beyond the ring and left by longjmp are holes of the next block. */
	uint64_t published = sp_stream_settle(&r->stream), full, end;
	int ret = 0;

	if (published > r->hot.base)
		base_move(r, published);
	full = r->hot.base + r->capacity;
	end = r->hot.head < full ? r->hot.head : full;

	while (!ret && (r->hot.base < end || flags)) {
		uint64_t left = end - r->hot.base;
		uint32_t slots = left < r->pack.slots ? (uint32_t)left : r->pack.slots;
		int last = left == slots;

		ret = publish_one(r, slots, last ? flags : 0);
		if (last)
			break;
	}
	return ret;
}

/* Gives slots back that were taken and not used, unless a handler has taken more since: then they stay
 * as holes. */
static void slots_return(struct sp_thread *t, uint64_t number, uint32_t slots)
{
	uint64_t expected = number + slots;

	__atomic_compare_exchange_n(&t->head, &expected, number, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static uint32_t blob_bytes(const struct sp_record *record)
{
	return record->facts_bytes + record->text_bytes;
}

/* Byte i of a definition's facts and text as one. */
static void blob_copy(uint8_t *to, const struct sp_record *record, uint32_t from, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		to[i] = from + i < record->facts_bytes ?
				((const uint8_t *)record->facts)[from + i] :
				(uint8_t)record->text[from + i - record->facts_bytes];
}

static void blob_store(struct sp_thread *t, const struct sp_record *record, uint64_t number,
		       uint32_t from)
{
	uint32_t left = blob_bytes(record) - from;
	uint32_t bytes = left < SP_SLOT_BLOB_BYTES ? left : SP_SLOT_BLOB_BYTES;
	uint64_t words[3] = {0, 0, 0};

	blob_copy((uint8_t *)words, record, from, bytes);
	sp_slot_store(t, number, words[0], words[1], (int64_t)words[2], sp_what_make(SP_KIND_BLOB, bytes));
}

/* The first slot is committed last: a reader takes a record only with all that belongs to it. */
static void record_store(struct sp_thread *t, const struct sp_record *record, uint32_t slots,
			 uint64_t number)
{
	for (uint32_t i = 1; i < slots; i++) {
		if (record->extra)
			sp_slot_store(t, number + i, record->extra[0], record->extra[1],
				      (int64_t)record->extra[2], sp_what_make(SP_KIND_EXTRA, 0));
		else
			blob_store(t, record, number + i, (i - 1) * SP_SLOT_BLOB_BYTES);
	}
	sp_slot_store(t, number, record->start, record->ticks, record->value, record->what);
}

static int is_event(const struct sp_record *record)
{
	return sp_commit_kind(record->what) < SP_KIND_DEFINE;
}

/* A full window is made a block. Where that fails the window keeps what it has, and what comes is lost
 * until a later try succeeds. */
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
	error = sp_recorder_publish(r, 0);
	sp_process_spend(sp_clock_span_ns(sp_clock_ticks() - begin));
	if (!error) {
		room_set(r);
		return;
	}
	r->stuck = STUCK_EVENTS;
	r->hot.limit = r->hot.base + r->capacity;
	sp_say("cannot extend", r->stream.name, error,
	       "training goes on, events are lost and counted in the report");
}

/* A loop asks from the same frame each time: whether that is on a small stack is asked once. */
static void make_room_deep(struct sp_recorder *r, uintptr_t frame)
{
	if (frame == r->roomy_frame)
		make_room(r);
	else if (sp_deep_call(make_room, r) == 0)
		r->roomy_frame = frame;
}

void sp_record_slow(struct sp_thread *t, const struct sp_record *record, uint32_t slots,
		    uint64_t number)
{
	struct sp_recorder *r = sp_recorder_of(t);
	int nested = sp_recorder_is_nested(r, record->frame);

	if (!nested) {
		slots_return(t, number, slots);
		r->nested = 0;
		t->emitting = record->frame;
		if (r->capacity)
			make_room_deep(r, record->frame);
		number = sp_slots_take(&t->head, slots);
	}
	if (number + slots - t->base <= r->capacity) {
		record_store(t, record, slots, number);
	} else {
		slots_return(t, number, slots);
		if (is_event(record))
			lose(r, nested ? SP_LOST_NESTED : SP_LOST_FULL);
	}
	if (!nested)
		t->emitting = 0;
}

static void record(struct sp_thread *t, struct sp_record *what, uint32_t slots)
{
	uintptr_t outer = t->emitting;
	uint64_t number;

	what->frame = (uintptr_t)__builtin_frame_address(0);
	t->emitting = what->frame;
	number = sp_slots_take(&t->head, slots);
	if (number + slots <= t->limit) {
		record_store(t, what, slots, number);
	} else {
		t->emitting = outer;
		sp_record_slow(t, what, slots, number);
		outer = t->emitting;
	}
	t->emitting = outer;
}

void sp_emit_extra(struct sp_thread *t, uint32_t kind, uint32_t arg, uint64_t start, uint64_t ticks,
		   int64_t value, const uint64_t extra[3])
{
	struct sp_record what = {.start = start,
				 .ticks = ticks,
				 .value = value,
				 .what = sp_what_make(kind, arg),
				 .extra = extra};

	record(t, &what, 2);
}

void sp_define(struct sp_thread *t, enum sp_define what, uint32_t id, const void *facts,
	       uint32_t facts_bytes, const char *text, size_t text_bytes)
{
	size_t most = SP_NAME_BYTES_MAX - facts_bytes;
	struct sp_record definition = {.start = sp_clock_ticks(),
				       .what = sp_what_make(SP_KIND_DEFINE + what, id),
				       .facts = facts,
				       .facts_bytes = facts_bytes,
				       .text = text,
				       .text_bytes = (uint32_t)(text_bytes < most ? text_bytes : most)};
	uint32_t bytes = blob_bytes(&definition);

	definition.value = bytes;
	record(t, &definition, 1 + (bytes + SP_SLOT_BLOB_BYTES - 1) / SP_SLOT_BLOB_BYTES);
}

void sp_span_abandon(struct sp_thread *t, uint64_t what, uint64_t start)
{
	struct sp_span span = {.thread = t, .start = start, .what = what};

	sp_span_end(&span, SP_VALUE_ABANDONED);
}
