/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/blocks/publish.h"

#include <errno.h>

#include "preload/sys/freeze.h"
#include "preload/sys/clock.h"
#include "preload/sys/fd_private_task.h"
#include "preload/sys/memory.h"

/* The last eighth of the ring is kept for signal handlers that run while a block is made. */
void sp_recorder_limit_set(struct sp_recorder *r)
{
	r->hot.limit = r->hot.base + r->capacity - r->capacity / 8;
}

void sp_recorder_adopt(struct sp_recorder *r, uint64_t capacity)
{
	r->capacity = capacity;
	/* The ring first: a handler may come in between. */
	__atomic_store_n(&r->hot.ring, sp_stream_slots(&r->stream), __ATOMIC_RELAXED);
	__atomic_store_n(&r->hot.mask, capacity - 1, __ATOMIC_RELEASE);
	r->hot.shift = (uint32_t)__builtin_ctzll(capacity);
	sp_recorder_limit_set(r);
	r->hot.mark = &sp_stream_window(&r->stream)->mark;
}

/* Without memory for larger blocks, the thread keeps making smaller blocks. */
static void pack_widen(struct sp_recorder *r, uint32_t slots)
{
	struct sp_pack before = r->pack;
	void *memory;

	if (r->pack.slots >= slots)
		return;
	memory = sp_pages_make(sp_pack_memory_bytes(slots));
	if (!memory)
		return;
	/* This order leaves a usable pack after a longjmp out of a handler. */
	sp_pack_init(&r->pack, memory, slots);
	if (before.slots > SP_WINDOW_SLOTS_MIN)
		sp_pages_free(before.memory, before.memory_bytes);
}

/* Each growth makes the window of a busy thread four times as large, up to the largest. */
static int grow(struct sp_recorder *r, size_t block_bytes)
{
	uint64_t wanted =
		r->capacity * 4 < SP_WINDOW_SLOTS_MAX ? r->capacity * 4 : SP_WINDOW_SLOTS_MAX;
	unsigned long before;
	int ret;

	before = sp_signals_block();
	/* This frame is one of them. */
	r->stream.keeps_windows = r->keeps_windows || r->hot.inside != 1;
	ret = sp_stream_grow(&r->stream, block_bytes, (uint32_t)wanted, r->hot.base, r->hot.head);
	if (!ret)
		sp_recorder_adopt(r, sp_stream_window(&r->stream)->capacity);
	sp_signals_restore(before);
	return ret;
}

/* Slots below `base` are published. */
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
				      sp_recorder_clock.grain, &header);
	int ret = 0;

	for (unsigned i = 0; i < SP_LOST_CAUSES; i++)
		header.lost += r->lost[i];
	if (sp_process_is_frozen() && sp_stream_block_room(&r->stream) < bound)
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
	sp_stream_publish(&r->stream, &header);
	base_move(r, r->hot.base + slots);
	if (widen)
		pack_widen(r, widen);
	return 0;
}

int sp_recorder_publish(struct sp_recorder *r, uint16_t flags)
{
	/* Slots that a handler took beyond the ring and left by longjmp are holes of the next
	 * block. */
	uint64_t published = sp_stream_catch_up(&r->stream), full, end;
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
