/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/columns.h"

#include <errno.h>
#include <string.h>

void sp_blob_get(struct sp_slot *slot, struct sp_input *in)
{
	size_t bytes = in->at < in->end ? *in->at++ : SP_SLOT_BLOB_BYTES + 1;

	memset(slot, 0, sizeof(*slot));
	slot->commit = (uint64_t)bytes << 32 | SP_KIND_BLOB;
	if (bytes > SP_SLOT_BLOB_BYTES || (size_t)(in->end - in->at) < bytes) {
		in->bad = 1;
		return;
	}
	memcpy(slot, in->at, bytes);
	in->at += bytes;
}

int sp_columns_open(struct sp_input in[SP_COLUMNS], const struct sp_payload_head *head,
		    const uint8_t *payload, size_t bytes)
{
	const uint8_t *at = payload + sizeof(*head), *end = payload + bytes;

	for (unsigned i = 0; i < SP_COLUMNS; i++) {
		if ((size_t)(end - at) < head->column_bytes[i])
			return -EBADMSG;
		in[i] = (struct sp_input){at, at + head->column_bytes[i], 0};
		at += head->column_bytes[i];
	}
	return at == end ? 0 : -EBADMSG;
}

int sp_columns_close(const struct sp_input in[SP_COLUMNS])
{
	for (unsigned i = 0; i < SP_COLUMNS; i++)
		if (in[i].bad || in[i].at != in[i].end)
			return -EBADMSG;
	return 0;
}

/* The kind's index in c->kinds; a new kind is appended. `hint`: the index of the previous slot. */
static uint32_t number_of(struct sp_columns *c, uint32_t kind, uint32_t hint)
{
	uint32_t i = 0;

	kind = kind < SP_KIND_EVENTS ? kind : SP_KIND_EVENTS;
	if (hint < c->kind_count && c->kinds[hint].kind == kind)
		return hint;
	while (i < c->kind_count && c->kinds[i].kind != kind)
		i++;
	if (i == c->kind_count)
		c->kinds[c->kind_count++] = (struct sp_column_kind){.kind = kind};
	return i;
}

static int is_event(const struct sp_slot *slot)
{
	uint32_t kind = sp_commit_kind(slot->commit);

	return kind != SP_KIND_HOLE && kind < SP_KIND_DEFINE;
}

/* Finds the kinds of the slots and their ranges in the arrays. numbers[i]: the index of slot i's
 * kind, if the slot is an event. */
static void kinds_find(struct sp_columns *c, uint16_t *numbers, const struct sp_slot *slots,
		       uint32_t n)
{
	uint32_t number = 0, first = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!is_event(&slots[i]))
			continue;
		number = number_of(c, sp_commit_kind(slots[i].commit), number);
		numbers[i] = (uint16_t)number;
		c->kinds[number].limit++;
	}
	for (uint32_t i = 0; i < c->kind_count; i++) {
		uint32_t count = c->kinds[i].limit;

		c->kinds[i].first = c->kinds[i].limit = first;
		first += count;
	}
}

static void take_event(struct sp_columns *c, uint32_t at, const struct sp_slot *slot)
{
	uint64_t end = slot->start + slot->ticks;

	c->ticks[at] = (int64_t)slot->ticks;
	c->starts[at] = slot->start;
	c->values[at] = slot->value;
	c->args[at] = sp_commit_arg(slot->commit);
	c->end_ticks = end > c->end_ticks ? end : c->end_ticks;
	c->last = at;
}

static void take_other(struct sp_columns *c, const struct sp_slot *slot)
{
	uint32_t kind = sp_commit_kind(slot->commit);

	if (kind == SP_KIND_EXTRA) {
		c->owners[c->extra_count] = c->last;
		c->extras[0][c->extra_count] = (int64_t)slot->start;
		c->extras[1][c->extra_count] = (int64_t)slot->ticks;
		c->extras[2][c->extra_count++] = slot->value;
	}
	c->holes += kind == SP_KIND_HOLE;
	c->last = SP_COLUMNS_NONE;
}

void sp_columns_take(struct sp_columns *c, const struct sp_slot *slots, uint32_t n)
{
	uint16_t numbers[SP_BLOCK_SLOTS_MAX];

	c->kind_count = c->extra_count = c->holes = 0;
	c->last = SP_COLUMNS_BEFORE;
	c->has_starts = 1;
	c->grain = 1;
	c->end_ticks = 0;
	kinds_find(c, numbers, slots, n);
	for (uint32_t i = 0; i < n; i++)
		if (is_event(&slots[i]))
			take_event(c, c->kinds[numbers[i]].limit++, &slots[i]);
		else
			take_other(c, &slots[i]);
}

static void move(struct sp_columns *c, uint32_t to, uint32_t from)
{
	c->ticks[to] = c->ticks[from];
	c->starts[to] = c->starts[from];
	c->values[to] = c->values[from];
	c->args[to] = c->args[from];
}

/* places[i]: the new index of index i, for i below limit. */
static void owners_move(struct sp_columns *c, const uint32_t *places, uint32_t limit)
{
	for (uint32_t i = 0; i < c->extra_count; i++)
		c->owners[i] = c->owners[i] < limit ? places[c->owners[i]] : c->owners[i];
	c->last = c->last < limit ? places[c->last] : c->last;
}

void sp_columns_keep(struct sp_columns *c, uint64_t from_ticks, uint64_t to_ticks)
{
	uint32_t places[SP_BLOCK_SLOTS_MAX], kept = 0, at = 0;

	c->end_ticks = 0;
	for (uint32_t k = 0; k < c->kind_count; k++) {
		struct sp_column_kind *kind = &c->kinds[k];

		for (kind->first = kept; at < kind->limit; at++) {
			uint64_t end = c->starts[at] + (uint64_t)c->ticks[at] * c->grain;
			uint64_t start = c->starts[at];
			int keep = kind->kind < SP_KIND_DEFINE && start >= from_ticks &&
				   start < to_ticks;

			places[at] = keep ? kept : SP_COLUMNS_NONE;
			if (!keep)
				continue;
			c->end_ticks = end > c->end_ticks ? end : c->end_ticks;
			move(c, kept++, at);
		}
		kind->limit = kept;
	}
	owners_move(c, places, at);
}
