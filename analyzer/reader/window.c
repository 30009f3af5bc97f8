/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/reader/window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/each.h"
#include "analyzer/reader/walk.h"
#include "trace/window_copy.h"

int sp_window_init(struct sp_window *w)
{
	*w = (struct sp_window){.slots = 0};
	w->first = calloc(2 * SP_WINDOW_SLOTS_MAX, sizeof(*w->first));
	w->second = w->first ? w->first + SP_WINDOW_SLOTS_MAX : NULL;
	return w->first ? 0 : -ENOMEM;
}

void sp_window_finish(struct sp_window *w)
{
	free(w->first);
	w->first = w->second = NULL;
}

static int read_slots(struct sp_window *w, struct sp_source *source, uint64_t at,
		      struct sp_slot *slots)
{
	const uint8_t *p;
	ssize_t n;

	sp_source_refresh(source);
	n = sp_source_bytes(source, at + SP_WINDOW_HEAD_BYTES, w->header.capacity * sizeof(*slots),
			    &p);
	if (n < 0)
		return (int)n;
	w->slots = (uint32_t)((size_t)n / sizeof(*slots));
	if (w->slots > 0)
		memcpy(slots, p, w->slots * sizeof(*slots));
	return 0;
}

static int read_first(struct sp_window *w, struct sp_source *source, uint64_t at)
{
	uint32_t reads = 0;
	int r;

	do {
		r = read_slots(w, source, at, w->first);
	} while (r == 0 && ++reads < SP_WINDOW_COPIES_MOST &&
		 !sp_slots_are_of_one_time(w->first, w->slots));
	return r;
}

static int read_head(struct sp_window *w, struct sp_source *source, uint64_t at, uint64_t stream_id)
{
	struct sp_unit u;
	const uint8_t *p;
	ssize_t n;

	sp_source_refresh(source);
	n = sp_source_bytes(source, at, SP_WINDOW_HEAD_BYTES, &p);
	if (n < 0)
		return (int)n;
	if (sp_unit_parse(&u, p, (size_t)n) || u.kind != SP_UNIT_WINDOW ||
	    u.window.stream_id != stream_id)
		return 0;
	w->header = u.window;
	return 1;
}

int sp_window_read(struct sp_window *w, struct sp_source *source, uint64_t at, uint64_t stream_id)
{
	uint64_t hash;
	int r = read_head(w, source, at, stream_id);

	if (r <= 0)
		return r;
	hash = w->header.header_hash;
	r = read_first(w, source, at);
	if (r == 0)
		r = read_slots(w, source, at, w->second);
	if (r < 0)
		return r;
	/* The writer may have moved the window while its slots were being read. */
	r = read_head(w, source, at, stream_id);
	return r == 1 && w->header.header_hash != hash ? 0 : r;
}

static unsigned generation_shift(const struct sp_window *w)
{
	return (unsigned)__builtin_ctz(w->header.capacity);
}

static uint8_t slot_generation(const struct sp_slot *slot)
{
	return (uint8_t)(slot->commit >> 16);
}

/* Valid slots are of two generations, one after the other. */
uint64_t sp_window_newest(const struct sp_window *w)
{
	int64_t newest = INT64_MIN, period = 256 * (int64_t)w->header.capacity;
	uint8_t known = 0;

	for (uint32_t i = 0; i < w->slots; i++) {
		uint8_t generation = slot_generation(&w->first[i]);
		int64_t number;

		if (!sp_slot_valid(&w->first[i], generation))
			continue;
		known = newest == INT64_MIN ? generation : known;
		number = (known + (int8_t)(generation - known)) * (int64_t)w->header.capacity + i;
		newest = number > newest ? number : newest;
	}
	return newest == INT64_MIN ? UINT64_MAX : (uint64_t)((newest + 1 + period) % period);
}

uint64_t sp_window_number_near(uint64_t newest, uint32_t capacity, uint64_t near)
{
	uint64_t period = 256 * (uint64_t)capacity;
	uint64_t number = near / period * period + newest;

	if (number > near && number - near > period / 2 && number >= period)
		return number - period;
	return near > number && near - number > period / 2 ? number + period : number;
}

uint64_t sp_window_limit(const struct sp_window *w, uint64_t end)
{
	uint64_t least = end > w->header.first_index ? end : w->header.first_index;
	uint64_t newest = sp_window_newest(w), limit;

	if (newest == UINT64_MAX)
		return least;
	limit = sp_window_number_near(newest, w->header.capacity, least);
	return limit > least ? limit : least;
}

/* NULL: it is in neither read. */
static const struct sp_slot *slot_numbered(const struct sp_window *w, uint64_t number)
{
	uint64_t generation = number >> generation_shift(w);
	uint32_t position = (uint32_t)(number & (w->header.capacity - 1));

	if (position >= w->slots)
		return NULL;
	if (sp_slot_valid(&w->first[position], generation))
		return &w->first[position];
	return sp_slot_valid(&w->second[position], generation) ? &w->second[position] : NULL;
}

uint32_t sp_window_slots(const struct sp_window *w, uint64_t from, uint32_t n, struct sp_slot *out)
{
	uint32_t there = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct sp_slot *slot = slot_numbered(w, from + i);

		if (slot)
			out[i] = *slot;
		else
			memset(&out[i], 0, sizeof(out[i]));
		there += slot != NULL;
	}
	return there;
}

static int is_hole(const struct sp_slot *slot)
{
	static const struct sp_slot hole;

	return memcmp(slot, &hole, sizeof(hole)) == 0;
}

/* The least i for which another copy may have slot number from + i. */
static uint64_t copy_begin(const struct sp_window *w, uint64_t limit, uint64_t from)
{
	uint64_t least = limit > w->header.capacity ? limit - w->header.capacity : 0;

	if (least < w->header.first_index)
		least = w->header.first_index;
	return least > from ? least - from : 0;
}

/* A number is known modulo 256 generations, so slots of an old copy look like these. */
static int copy_agrees(const struct sp_window *w, uint64_t limit, uint64_t from, uint32_t n,
		       const struct sp_slot *out)
{
	for (uint64_t i = copy_begin(w, limit, from); i < n && from + i < limit; i++) {
		const struct sp_slot *slot = slot_numbered(w, from + i);

		if (slot && !is_hole(&out[i]) && memcmp(&out[i], slot, sizeof(*slot)) != 0)
			return 0;
	}
	return 1;
}

uint32_t sp_window_fill(const struct sp_window *w, uint64_t limit, uint64_t from, uint32_t n,
			struct sp_slot *out)
{
	uint32_t filled = 0;

	if (!copy_agrees(w, limit, from, n, out))
		return 0;
	for (uint64_t i = copy_begin(w, limit, from); i < n && from + i < limit; i++) {
		const struct sp_slot *slot = is_hole(&out[i]) ? slot_numbered(w, from + i) : NULL;

		if (slot)
			out[i] = *slot;
		filled += slot != NULL;
	}
	return filled;
}

uint32_t sp_window_unfinished(const struct sp_window *w)
{
	static const struct sp_slot empty;

	return SP_SUM(uint32_t, i, w->slots,
		      !sp_slot_valid(&w->first[i], slot_generation(&w->first[i])) &&
			      memcmp(&w->first[i], &empty, sizeof(empty)) != 0);
}
