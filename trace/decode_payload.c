/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/codec.h"

#include <errno.h>
#include <string.h>

#include "trace/columns.h"
#include "trace/numbers.h"
#include "trace/varint.h"

/* Kinds that a one-byte token can name. Tables have entries for all,
 * so the loop checks no bound. */
#define SHORT_KINDS 16u

enum form {
	FORM_NONE, /* no such kind in this block */
	FORM_SPAN,
	FORM_HOLE,
	FORM_EXTRA,
	FORM_BLOB,
};

struct kind {
	int64_t value;	/* of its last slot */
	uint32_t arg;	/* of its last slot whose arg was not 0 */
	uint32_t at;	/* index of the next slot's times */
	uint32_t limit; /* end of its times */
	uint32_t kind;
	uint32_t form; /* enum form */
	int32_t event; /* all bits set for an event. The struct has 32 bytes, because the innermost
			  loop computes its address */
};

struct decoder {
	struct sp_input in[SP_COLUMNS];
	uint32_t slots, kind_count, spans, extras;
	uint32_t extra_at; /* index of the next EXTRA slot */
	uint64_t base_ticks;
	uint32_t last_arg;
	struct kind kinds[SP_COLUMNS_KINDS_MAX];
	int64_t gaps[SP_COLUMNS_ROOM];
};

static enum form form_of(uint64_t kind)
{
	switch (kind) {
	case SP_KIND_HOLE:
		return FORM_HOLE;
	case SP_KIND_EXTRA:
		return FORM_EXTRA;
	case SP_KIND_BLOB:
		return FORM_BLOB;
	}
	return kind < SP_KIND_EVENTS || (kind >= SP_KIND_DEFINE && kind < SP_KIND_EXTRA)
		       ? FORM_SPAN
		       : FORM_NONE;
}

static int kinds_read(struct decoder *d)
{
	struct sp_input *in = &d->in[SP_COLUMN_KINDS];
	uint64_t count = sp_varint_get(in), slots = 0;

	if (count > SP_COLUMNS_KINDS_MAX)
		return -EBADMSG;
	d->kind_count = (uint32_t)count;
	memset(d->kinds, 0, SHORT_KINDS * sizeof(*d->kinds));
	for (uint32_t i = 0; i < count; i++) {
		uint64_t kind = sp_varint_get(in), with = sp_varint_get(in);
		enum form form = form_of(kind);

		if (form == FORM_NONE || with > d->slots - slots)
			return -EBADMSG;
		slots += with;
		d->kinds[i] = (struct kind){.kind = (uint32_t)kind, .form = form, .at = d->spans};
		d->kinds[i].event = kind < SP_KIND_EVENTS ? -1 : 0;
		d->spans += form == FORM_SPAN ? (uint32_t)with : 0;
		d->extras += form == FORM_EXTRA ? (uint32_t)with : 0;
		d->kinds[i].limit = d->spans;
	}
	return in->bad || slots != d->slots ? -EBADMSG : 0;
}

static int times_read(struct decoder *d, struct sp_columns *c)
{
	sp_numbers_unpack(d->gaps, d->spans, &d->in[SP_COLUMN_GAPS]);
	sp_numbers_unpack(c->ticks, d->spans, &d->in[SP_COLUMN_TICKS]);
	for (int i = 0; i < 3; i++)
		sp_numbers_unpack(c->extras[i], d->extras, &d->in[SP_COLUMN_EXTRAS]);
	return d->in[SP_COLUMN_GAPS].bad || d->in[SP_COLUMN_TICKS].bad ||
			       d->in[SP_COLUMN_EXTRAS].bad
		       ? -EBADMSG
		       : 0;
}

/* Reads the head, the list of kinds, and all times. */
static int open_payload(struct decoder *d, struct sp_columns *c, const struct sp_payload_head *head,
			const uint8_t *payload, size_t bytes)
{
	d->slots = head->slots;
	d->spans = d->extras = d->extra_at = d->last_arg = 0;
	d->base_ticks = head->base_ticks;
	c->grain = head->grain;
	if (sp_columns_open(d->in, head, payload, bytes) < 0 || kinds_read(d) < 0)
		return -EBADMSG;
	return times_read(d, c);
}

static int decode_extra(struct decoder *d, struct sp_columns *c, uint32_t owner,
			struct sp_slot *slot)
{
	uint32_t i = d->extra_at++;

	if (i >= d->extras)
		return -EBADMSG;
	c->owners[i] = owner;
	slot->start = (uint64_t)c->extras[0][i];
	slot->ticks = (uint64_t)c->extras[1][i];
	slot->value = c->extras[2][i];
	slot->commit = SP_KIND_EXTRA;
	return 0;
}

/* Decodes a slot without times. `last`: the index of the slot before. Returns 0 or -EBADMSG. */
static int decode_other(struct decoder *d, struct sp_columns *c, uint32_t form, uint32_t last,
			struct sp_slot *slot)
{
	switch (form) {
	case FORM_HOLE:
		memset(slot, 0, sizeof(*slot));
		c->holes++;
		return 0;
	case FORM_EXTRA:
		return decode_extra(d, c, last, slot);
	case FORM_BLOB:
		sp_blob_get(slot, &d->in[SP_COLUMN_BLOBS]);
		return 0;
	default:
		return -EBADMSG;
	}
}

/* Reads a token of any length. NULL: the token names no kind. */
static struct kind *kind_of_long(struct decoder *d, uint32_t *token)
{
	struct sp_input *in = &d->in[SP_COLUMN_KINDS];
	uint64_t x;

	x = sp_varint_get(in);
	if (in->bad || x >> 3 >= d->kind_count)
		return NULL;
	*token = (uint32_t)x;
	return &d->kinds[x >> 3];
}

/* Reads the new value and the new arg that a token announces; most tokens announce none. Returns
 * the slot's arg. */
static inline __attribute__((always_inline)) uint32_t take_news(struct decoder *d,
								struct kind *kind, uint32_t token)
{
	if (token & 1)
		kind->value = sp_unzigzag(sp_varint_get(&d->in[SP_COLUMN_VALUES]));
	switch (token >> 1 & 3) {
	case SP_ARG_IS_ZERO:
		return 0;
	case SP_ARG_IS_NEW:
		d->last_arg += (uint32_t)sp_unzigzag(sp_varint_get(&d->in[SP_COLUMN_ARGS]));
		break;
	case SP_ARG_IS_OF_KIND:
		d->last_arg = kind->arg;
	}
	return d->last_arg;
}

/* The output of decode_tokens(). */
enum found {
	FOUND_SLOTS,
	FOUND_COLUMNS,
	FOUND_STARTS, /* columns, with the start times of events */
};

/* True for a token of one byte that announces neither value nor arg: only bits 3 to 6 are set. */
static inline int is_plain(uint32_t token)
{
	return !(token & ~UINT32_C(0x78));
}

struct clock {
	uint64_t end, latest; /* end of the slot before; latest end of an event */
};

/* Stores one slot, or the fields of index `at`. */
static inline __attribute__((always_inline)) void put(struct decoder *d, struct sp_columns *c,
						      enum found found, struct clock *clock,
						      const struct kind *kind, uint32_t at,
						      uint32_t arg, struct sp_slot *slot)
{
	uint64_t start, ticks;

	if (found != FOUND_COLUMNS) {
		start = clock->end + (uint64_t)d->gaps[at] * c->grain;
		ticks = (uint64_t)c->ticks[at] * c->grain;
		clock->end = start + ticks;
		if ((clock->end & (uint64_t)kind->event) > clock->latest)
			clock->latest = clock->end;
	}
	if (found == FOUND_SLOTS) {
		*slot = (struct sp_slot){start, ticks, kind->value,
					 (uint64_t)arg << 32 | kind->kind};
		return;
	}
	c->values[at] = kind->value;
	c->args[at] = arg;
	if (found == FOUND_STARTS)
		c->starts[at] = start;
}

/*
 * The loop over all slots. One loop serves all outputs, so that all decode alike. It is inline, so
 * that no output pays for another. `slots` is for FOUND_SLOTS. A repeated plain token is decoded
 * together with the previous one, because a kind's index is slow to come back from memory.
 */
static inline __attribute__((always_inline)) int
decode_tokens(struct decoder *d, struct sp_columns *c, enum found found, struct sp_slot *slots)
{
	struct sp_input *in = &d->in[SP_COLUMN_KINDS];
	struct clock clock = {d->base_ticks, 0};
	const uint8_t *tokens = in->at; /* in a register; in->at is in memory */
	uint32_t last = SP_COLUMNS_BEFORE;
	struct sp_slot other, *slot = found == FOUND_SLOTS ? slots : &other;

	for (uint32_t i = 0; i < d->slots; i++, slot += found == FOUND_SLOTS) {
		uint32_t token = tokens < in->end ? *tokens : 0x80, at, arg;
		struct kind *kind = &d->kinds[token >> 3 & (SHORT_KINDS - 1)];

		if (__builtin_expect(token >= 0x80, 0)) {
			in->at = tokens;
			kind = kind_of_long(d, &token);
			if (!kind)
				return -EBADMSG;
			tokens = in->at;
		} else {
			tokens++;
		}
		if (__builtin_expect(kind->form != FORM_SPAN, 0)) {
			if (decode_other(d, c, kind->form, last, slot) < 0)
				return -EBADMSG;
			last = SP_COLUMNS_NONE;
			continue;
		}
		arg = token & 7 ? take_news(d, kind, token) : d->last_arg;
		if (arg)
			kind->arg = arg;
		at = kind->at;
		put(d, c, found, &clock, kind, at, arg, slot);
		while (is_plain(token) && i + 1 < d->slots && tokens < in->end &&
		       *tokens == token) {
			tokens++;
			i++;
			slot += found == FOUND_SLOTS;
			put(d, c, found, &clock, kind, ++at, arg, slot);
		}
		last = at;
		kind->at = at + 1;
	}
	in->at = tokens;
	c->end_ticks = clock.latest;
	c->last = last;
	return 0;
}

static int all_is_used(const struct decoder *d)
{
	if (sp_columns_close(d->in) < 0 || d->extra_at != d->extras)
		return 0;
	for (uint32_t i = 0; i < d->kind_count; i++)
		if (d->kinds[i].form == FORM_SPAN && d->kinds[i].at != d->kinds[i].limit)
			return 0;
	return 1;
}

/* Returns 0, or -EBADMSG if the payload does not hold this number of slots. */
static int head_read(struct sp_payload_head *ret, uint32_t n, const uint8_t *payload, size_t bytes)
{
	if (bytes < sizeof(*ret))
		return -EBADMSG;
	memcpy(ret, payload, sizeof(*ret));
	return ret->slots != n || n > SP_BLOCK_SLOTS_MAX || ret->grain == 0 ||
			       ret->coding != SP_CODING_TOKENS
		       ? -EBADMSG
		       : 0;
}

static void kinds_tell(struct sp_columns *c, const struct decoder *d)
{
	uint32_t first = 0;

	c->kind_count = d->kind_count;
	for (uint32_t i = 0; i < d->kind_count; i++) {
		c->kinds[i] = (struct sp_column_kind){d->kinds[i].kind, first, d->kinds[i].limit};
		first = d->kinds[i].limit;
	}
	c->extra_count = d->extras;
}

static int has_kind(const struct decoder *d, uint32_t kind)
{
	for (uint32_t i = 0; i < d->kind_count; i++)
		if (d->kinds[i].kind == kind)
			return 1;
	return 0;
}

int sp_payload_columns(struct sp_columns *c, uint32_t starts_of, uint32_t n, const uint8_t *payload,
		       size_t bytes)
{
	struct sp_payload_head head;
	struct decoder d;

	c->holes = 0;
	if (head_read(&head, n, payload, bytes) < 0 ||
	    open_payload(&d, c, &head, payload, bytes) < 0)
		return -EBADMSG;
	c->has_starts = starts_of == SP_COLUMNS_ALL || has_kind(&d, starts_of);
	if ((c->has_starts ? decode_tokens(&d, c, FOUND_STARTS, NULL)
			   : decode_tokens(&d, c, FOUND_COLUMNS, NULL)) < 0)
		return -EBADMSG;
	kinds_tell(c, &d);
	return all_is_used(&d) ? 0 : -EBADMSG;
}

int sp_payload_decode(struct sp_slot *slots, uint32_t n, const uint8_t *payload, size_t bytes)
{
	struct sp_payload_head head;
	struct sp_columns c;
	struct decoder d;

	if (head_read(&head, n, payload, bytes) < 0 ||
	    open_payload(&d, &c, &head, payload, bytes) < 0 ||
	    decode_tokens(&d, &c, FOUND_SLOTS, slots) < 0)
		return -EBADMSG;
	return all_is_used(&d) ? 0 : -EBADMSG;
}
