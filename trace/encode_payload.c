/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/codec.h"

#include <string.h>

#include "trace/encode_times.h"
#include "trace/simd.h"
#include "trace/numbers.h"
#include "trace/varint.h"

/* Dense numbers of kinds: events, then definitions, EXTRA and BLOB. */
#define NARROW_KINDS (SP_KIND_EVENTS + 256u)

/* Most bytes of one slot in the columns, and of one kind in the list of kinds. */
#define TOKEN_BYTES 2u
#define ARG_BYTES 5u
#define VALUE_BYTES 10u
#define KIND_BYTES 5u
#define SLACK_BYTES 192u

_Static_assert(NARROW_KINDS << 3 < 1u << 14, "a token fits two bytes");
_Static_assert(KIND_BYTES + TOKEN_BYTES + ARG_BYTES + VALUE_BYTES + 2 * 12 <= SP_SLOT_ENCODED_MAX,
	       "scratch fits a slot's worst case");
_Static_assert(TOKEN_BYTES + 3 * 12 <= SP_SLOT_ENCODED_MAX, "scratch fits an EXTRA slot");
_Static_assert(TOKEN_BYTES + 1 + SP_SLOT_BLOB_BYTES <= SP_SLOT_ENCODED_MAX, "scratch fits a BLOB "
									    "slot");
_Static_assert(SP_PAYLOAD_HEAD_BYTES + SP_BLOCK_SLOTS_MAX * SP_SLOT_ENCODED_MAX + SLACK_BYTES <=
		       SP_PAYLOAD_BYTES_MAX,
	       "a full block fits a payload");

/* Payload, three columns of numbers, kinds, indices, kinds of slots, and three unjoined columns. */
size_t sp_encode_scratch_bytes(uint32_t n)
{
	size_t payload = SP_PAYLOAD_HEAD_BYTES + (size_t)n * SP_SLOT_ENCODED_MAX + SLACK_BYTES;

	return (payload + 7) / 8 * 8 + 3 * 8 * (size_t)n +
	       (n < NARROW_KINDS ? n : NARROW_KINDS) * sizeof(struct sp_encode_kind) +
	       NARROW_KINDS * sizeof(uint16_t) + n * sizeof(uint16_t) +
	       (size_t)n * (TOKEN_BYTES + ARG_BYTES + VALUE_BYTES) + 16;
}

static struct sp_encode_work work_lay_out(uint8_t *scratch, uint32_t n)
{
	size_t payload = SP_PAYLOAD_HEAD_BYTES + (size_t)n * SP_SLOT_ENCODED_MAX + SLACK_BYTES;
	struct sp_encode_work w = {.gaps = (int64_t *)(void *)(scratch + (payload + 7) / 8 * 8)};

	w.ticks = w.gaps + n;
	w.thirds = w.ticks + n;
	w.narrow_gaps = (int32_t *)(void *)w.gaps;
	w.narrow_ticks = w.narrow_gaps + n;
	w.kinds = (struct sp_encode_kind *)(w.thirds + n);
	w.indices = (uint16_t *)(w.kinds + (n < NARROW_KINDS ? n : NARROW_KINDS));
	w.slot_kinds = w.indices + NARROW_KINDS;
	w.tokens = (uint8_t *)(w.slot_kinds + n);
	w.args = w.tokens + (size_t)n * TOKEN_BYTES;
	w.values = w.args + (size_t)n * ARG_BYTES;
	memset(w.indices, 0, NARROW_KINDS * sizeof(*w.indices));
	return w;
}

static struct sp_encode_ring ring_make(const struct sp_slot *slots, uint64_t capacity,
				       uint64_t first, uint32_t n)
{
	unsigned shift = (unsigned)__builtin_ctzll(capacity);
	uint64_t at = first & (capacity - 1);
	uint32_t before = capacity - at < n ? (uint32_t)(capacity - at) : n;

	return (struct sp_encode_ring){{{slots + at, before, first >> shift & 0xFF},
					{slots, n - before, ((first >> shift) + 1) & 0xFF}}};
}

static inline uint32_t slot_kind(const struct sp_slot *slot, uint32_t generation)
{
	return (slot->commit >> 16 & 0xFF) == generation ? sp_commit_kind(slot->commit)
							 : SP_KIND_HOLE;
}

/* The dense number of a kind. A kind that no version has becomes a HOLE. */
static uint32_t narrow(uint32_t kind)
{
	if (kind >= SP_KIND_DEFINE)
		return SP_KIND_EVENTS + (kind - SP_KIND_DEFINE);
	return kind < SP_KIND_EVENTS ? kind : SP_KIND_HOLE;
}

static uint32_t index_of(struct sp_encode_work *w, uint32_t number)
{
	if (!w->indices[number]) {
		uint32_t kind =
			number < SP_KIND_EVENTS ? number : number - SP_KIND_EVENTS + SP_KIND_DEFINE;

		w->kinds[w->kind_count++] = (struct sp_encode_kind){.kind = kind};
		w->indices[number] = (uint16_t)w->kind_count;
	}
	return w->indices[number] - 1u;
}

/* Also updates the args that the next slots are compared with. */
static enum sp_arg_source arg_source(struct sp_encode_kind *kind, uint32_t *last, uint32_t arg)
{
	uint32_t of_kind = kind->arg;

	if (arg == 0)
		return *last == 0 ? SP_ARG_IS_LAST : SP_ARG_IS_ZERO;
	kind->arg = arg;
	if (arg == *last)
		return SP_ARG_IS_LAST;
	*last = arg;
	return arg == of_kind ? SP_ARG_IS_OF_KIND : SP_ARG_IS_NEW;
}

/* The progress of the columns of tokens. */
struct tokens {
	uint8_t *tokens, *args, *values;
	uint64_t same; /* commit word of the slot before; UINT64_MAX: equals none */
	struct sp_encode_kind *kind;
	uint32_t index, token;
	uint32_t last_arg;
	int passed; /* the block has EXTRA or BLOB slots */
};

/* Begins a slot whose kind or arg differs from the slot before. Returns 0 if the kind has neither
 * args nor times. */
static inline int turn(struct tokens *t, struct sp_encode_work *w, uint64_t commit, uint32_t kind)
{
	uint32_t arg = sp_commit_arg(commit), before = t->last_arg;
	enum sp_arg_source source;

	t->index = index_of(w, narrow(kind));
	t->kind = &w->kinds[t->index];
	t->token = t->index << 3;
	t->same = UINT64_MAX;
	if (!sp_kind_is_span(t->kind->kind))
		return 0;
	source = arg_source(t->kind, &t->last_arg, arg);
	t->token |= (uint32_t)source << 1;
	if (source == SP_ARG_IS_NEW)
		t->args = sp_varint_put(t->args, sp_zigzag((int32_t)(arg - before)));
	t->same = commit;
	return 1;
}

#define COMMIT_CHECK_MASK (UINT64_C(0xFF) << 24)

static inline sp_pairs value_and_commit(const struct sp_slot *slot)
{
	_Static_assert(offsetof(struct sp_slot, commit) == offsetof(struct sp_slot, value) + 8,
		       "side by side");
	return sp_pairs_load(&slot->value);
}

/* The number of next slots with the kind and arg of the slot before and the last value of that
 * kind. */
static inline uint32_t run_length(const struct sp_slot *slot, uint32_t most, const struct tokens *t)
{
	int64_t value = t->kind->value;
	sp_pairs like = {(uint64_t)value, t->same}, mask = {UINT64_MAX, ~COMMIT_CHECK_MASK};
	uint32_t n = 0;

	for (; most - n >= 4; n += 4) {
		sp_pairs a = value_and_commit(&slot[n]) ^ like,
			 b = value_and_commit(&slot[n + 1]) ^ like;
		sp_pairs c = value_and_commit(&slot[n + 2]) ^ like,
			 d = value_and_commit(&slot[n + 3]) ^ like;
		sp_pairs differ = (a | b | c | d) & mask;

		if (differ[0] | differ[1])
			break;
	}
	while (n < most && ((slot[n].commit ^ t->same) & ~COMMIT_CHECK_MASK) == 0 &&
	       slot[n].value == value)
		n++;
	return n;
}

static inline void put_run(struct tokens *t, uint16_t *slot_kinds, uint32_t n)
{
	uint64_t four = t->index * UINT64_C(0x0001000100010001);
	uint32_t k = 0;

	for (; n - k >= 4; k += 4)
		memcpy(slot_kinds + k, &four, sizeof(four));
	for (; k < n; k++)
		slot_kinds[k] = (uint16_t)t->index;
	t->kind->slots += n;
	if (t->token < 0x80) {
		memset(t->tokens, (int)t->token, n);
		t->tokens += n;
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		t->tokens = sp_varint_put(t->tokens, t->token);
}

/* Fast for runs: most slots have the kind and arg of the slot before, and many have its value. */
static void put_tokens(struct sp_encode_work *w, const struct sp_encode_stretch *s,
		       uint16_t *slot_kinds, struct tokens *tokens)
{
	struct tokens t = *tokens;

	t.same = UINT64_MAX;
	for (uint32_t i = 0; i < s->n; i++) {
		const struct sp_slot *slot = &s->slots[i];
		uint32_t value_is_new, run;

		if (((slot->commit ^ t.same) & ~COMMIT_CHECK_MASK) == 0) {
			if ((t.token >> 1 & 3) != SP_ARG_IS_ZERO)
				t.token &= ~7u;
			run = run_length(slot, s->n - i, &t);
			if (run) {
				put_run(&t, slot_kinds + i, run);
				i += run - 1;
				continue;
			}
		} else if (!turn(&t, w, slot->commit, slot_kind(slot, s->generation))) {
			t.tokens = sp_varint_put(t.tokens, t.token);
			t.kind->slots++;
			t.passed |= t.kind->kind != SP_KIND_HOLE;
			slot_kinds[i] = SP_NO_KIND;
			continue;
		}
		value_is_new = slot->value != t.kind->value;
		t.tokens = sp_varint_put(t.tokens, t.token | value_is_new);
		t.kind->slots++;
		slot_kinds[i] = (uint16_t)t.index;
		if (value_is_new) {
			t.kind->value = slot->value;
			t.values = sp_varint_put(t.values, sp_zigzag(slot->value));
		}
	}
	*tokens = t;
}

/* Packs the words of EXTRA slots, word by word. The words overwrite the times, which are packed
 * already. */
static uint8_t *put_extras(uint8_t *p, struct sp_encode_work *w, const struct sp_encode_ring *r)
{
	uint32_t n = 0;

	for (int i = 0; i < 2; i++) {
		const struct sp_encode_stretch *s = &r->stretches[i];

		for (const struct sp_slot *slot = s->slots; slot < s->slots + s->n; slot++) {
			if (slot_kind(slot, s->generation) != SP_KIND_EXTRA)
				continue;
			w->gaps[n] = (int64_t)slot->start;
			w->ticks[n] = (int64_t)slot->ticks;
			w->thirds[n++] = slot->value;
		}
	}
	p = sp_numbers_pack(p, w->gaps, n);
	p = sp_numbers_pack(p, w->ticks, n);
	return sp_numbers_pack(p, w->thirds, n);
}

static uint8_t *put_blobs(uint8_t *p, const struct sp_encode_stretch *s)
{
	for (const struct sp_slot *slot = s->slots; slot < s->slots + s->n; slot++) {
		uint32_t bytes = sp_commit_arg(slot->commit);

		if (slot_kind(slot, s->generation) != SP_KIND_BLOB)
			continue;
		bytes = bytes < SP_SLOT_BLOB_BYTES ? bytes : SP_SLOT_BLOB_BYTES;
		*p++ = (uint8_t)bytes;
		memcpy(p, slot, bytes);
		p += bytes;
	}
	return p;
}

/* The start of the first event or definition, from which the gaps count. */
static uint64_t base_of(const struct sp_encode_ring *r)
{
	for (int i = 0; i < 2; i++) {
		const struct sp_encode_stretch *s = &r->stretches[i];

		for (uint32_t k = 0; k < s->n; k++)
			if (sp_kind_is_span(slot_kind(&s->slots[k], s->generation)))
				return s->slots[k].start;
	}
	return 0;
}

static struct sp_payload_metadata metadata_of(const struct sp_encode_work *w)
{
	struct sp_payload_metadata metadata = {0};

	for (uint32_t i = 0; i < w->kind_count; i++) {
		const struct sp_encode_kind *k = &w->kinds[i];

		metadata.events += sp_kind_is_event(k->kind) ? k->slots : 0;
		metadata.definitions +=
			k->kind >= SP_KIND_DEFINE && k->kind != SP_KIND_EXTRA ? k->slots : 0;
	}
	return metadata;
}

static uint8_t *put_kinds(uint8_t *p, const struct sp_encode_work *w)
{
	p = sp_varint_put(p, w->kind_count);
	for (uint32_t i = 0; i < w->kind_count; i++) {
		p = sp_varint_put(p, w->kinds[i].kind);
		p = sp_varint_put(p, w->kinds[i].slots);
	}
	return p;
}

static uint8_t *put_column(uint8_t *p, const uint8_t *column, const uint8_t *end)
{
	memcpy(p, column, (size_t)(end - column));
	return p + (end - column);
}

/* Writes the columns for zstd. ret_ends: the end of each. */
static uint8_t *put_columns(uint8_t *p, const struct sp_encode_work *w, const struct tokens *t,
			    const struct sp_encode_ring *r, uint8_t *ret_ends[SP_COLUMNS])
{
	p = put_kinds(p, w);
	ret_ends[SP_COLUMN_KINDS] = p = put_column(p, w->tokens, t->tokens);
	ret_ends[SP_COLUMN_ARGS] = p = put_column(p, w->args, t->args);
	ret_ends[SP_COLUMN_VALUES] = p = put_column(p, w->values, t->values);
	for (int i = 0; t->passed && i < 2; i++)
		p = put_blobs(p, &r->stretches[i]);
	ret_ends[SP_COLUMN_BLOBS] = p;
	return p;
}

/* Writes the two columns of times. */
static void put_numbers(uint8_t *p, const struct sp_encode_work *w, const struct sp_encode_times *t,
			uint32_t n, uint8_t *ret_ends[SP_COLUMNS])
{
	if (t->narrow) {
		ret_ends[SP_COLUMN_GAPS] = p = sp_numbers_pack_narrow(p, w->narrow_gaps, n);
		ret_ends[SP_COLUMN_TICKS] = sp_numbers_pack_narrow(p, w->narrow_ticks, n);
	} else {
		ret_ends[SP_COLUMN_GAPS] = p = sp_numbers_pack(p, w->gaps, n);
		ret_ends[SP_COLUMN_TICKS] = sp_numbers_pack(p, w->ticks, n);
	}
}

size_t sp_payload_encode(uint8_t *scratch, const struct sp_slot *slots, uint64_t capacity,
			 uint64_t first, uint32_t n, uint32_t grain,
			 struct sp_payload_metadata *ret_metadata)
{
	struct sp_encode_ring r = ring_make(slots, capacity, first, n);
	struct sp_encode_work w = work_lay_out(scratch, n);
	struct sp_payload_head head = {.slots = n,
				       .grain = grain ? grain : 1,
				       .base_ticks = base_of(&r),
				       .coding = SP_CODING_TOKENS};
	struct tokens tokens = {.tokens = w.tokens, .args = w.args, .values = w.values};
	struct sp_encode_times t = sp_encode_times_from(head.base_ticks, head.grain);
	uint8_t *ends[SP_COLUMNS], *p = scratch + SP_PAYLOAD_HEAD_BYTES;
	uint32_t numbers;

	put_tokens(&w, &r.stretches[0], w.slot_kinds, &tokens);
	put_tokens(&w, &r.stretches[1], w.slot_kinds + r.stretches[0].n, &tokens);
	*ret_metadata = metadata_of(&w);
	numbers = sp_encode_times(&w, &r, &t, !ret_metadata->definitions);
	if (t.divider.inexact) {
		head.grain = 1;
		t = sp_encode_times_from(head.base_ticks, head.grain);
		sp_encode_times(&w, &r, &t, !ret_metadata->definitions);
	}
	ret_metadata->begin_ticks = ret_metadata->events ? t.first : 0;
	ret_metadata->end_ticks = t.last;
	p = put_columns(p, &w, &tokens, &r, ends);
	put_numbers(p, &w, &t, numbers, ends);
	ends[SP_COLUMN_EXTRAS] = ends[SP_COLUMN_TICKS];
	if (tokens.passed)
		ends[SP_COLUMN_EXTRAS] = put_extras(ends[SP_COLUMN_TICKS], &w, &r);
	ret_metadata->packed_bytes = (uint32_t)(ends[SP_COLUMN_EXTRAS] - p);
	for (unsigned i = 0; i < SP_COLUMNS; i++)
		head.column_bytes[i] =
			(uint32_t)(ends[i] - (i ? ends[i - 1] : scratch + SP_PAYLOAD_HEAD_BYTES));
	memcpy(scratch, &head, sizeof(head));
	return (size_t)(ends[SP_COLUMN_EXTRAS] - scratch);
}
