#include "trace/codec.h"

#include <string.h>

/* Worst case of the first five columns for one slot; the other two are written after them. */
static const uint8_t column_slot_bytes[SP_COLUMN_EXTRAS] = {3, 5, 10, 10, 10};
_Static_assert(3 + 5 + 10 + 10 + 10 <= SP_SLOT_ENCODED_MAX, "scratch fits a slot's worst case");
_Static_assert(3 + 3 * 10 <= SP_SLOT_ENCODED_MAX, "scratch fits an EXTRA slot");
_Static_assert(3 + 1 + SP_SLOT_BLOB_BYTES <= SP_SLOT_ENCODED_MAX, "scratch fits a BLOB slot");
_Static_assert(SP_PAYLOAD_HEAD_BYTES + SP_BLOCK_SLOTS_MAX * SP_SLOT_ENCODED_MAX <= SP_PAYLOAD_BYTES_MAX,
	       "a full block fits a payload");

static inline uint64_t zigzag(int64_t x)
{
	return (uint64_t)x << 1 ^ (uint64_t)(x >> 63);
}

static uint8_t *put_long(uint8_t *p, uint64_t x)
{
	while (x >= 0x80) {
		*p++ = (uint8_t)x | 0x80;
		x >>= 7;
	}
	*p++ = (uint8_t)x;
	return p;
}

/* One or two bytes, which are nearly all there are, with no branch between them: which it is cannot be
 * foretold. Two are always stored. */
static inline uint8_t *put(uint8_t *p, uint64_t x)
{
	uint32_t low = (uint32_t)x, more = (0x7F - low) >> 31, two = low + (low & 0x3F80) + more * 0x80;

	if (__builtin_expect(x >= 0x4000, 0))
		return put_long(p, x);
	memcpy(p, &two, 2);
	return p + 1 + more;
}

/* Exact division by a constant found at run time: shift out the twos, multiply by the odd part's
 * inverse modulo 2^64, and check by multiplying back. */
struct divider {
	uint64_t grain, inverse;
	unsigned shift;
	uint64_t inexact; /* non-zero once a number was no multiple */
};

static void divider_init(struct divider *d, uint32_t grain)
{
	uint64_t odd = grain >> __builtin_ctz(grain);

	d->grain = grain;
	d->shift = (unsigned)__builtin_ctz(grain);
	d->inverse = odd; /* right to 3 bits; each round doubles them */
	for (int i = 0; i < 5; i++)
		d->inverse *= 2 - odd * d->inverse;
	d->inexact = 0;
}

/* `shifts`: the grain is a power of two. */
static inline int64_t divide(struct divider *d, int64_t x, int shifts)
{
	int64_t q = x >> d->shift;

	if (shifts) {
		d->inexact |= (uint64_t)x & (d->grain - 1);
		return q;
	}
	q = (int64_t)((uint64_t)q * d->inverse);
	d->inexact |= (uint64_t)q * d->grain ^ (uint64_t)x;
	return q;
}

/* Where the columns of times have come to. */
struct times {
	struct divider divider;
	uint64_t end;	      /* of the slot before */
	uint64_t first, last; /* earliest start and latest end of an event */
};

static struct times times_from(uint64_t base, uint32_t grain)
{
	struct times t = {.end = base, .first = UINT64_MAX};

	divider_init(&t.divider, grain);
	return t;
}

struct columns {
	uint8_t *start[SP_COLUMN_EXTRAS];
	uint8_t *end[SP_COLUMN_EXTRAS];
};

static int is_span(uint32_t kind)
{
	return kind != SP_KIND_HOLE && kind != SP_KIND_EXTRA && kind != SP_KIND_BLOB;
}

/* Slots that lie side by side and are of one generation: a block has one such stretch or two. */
struct stretch {
	const struct sp_slot *slots;
	uint32_t n, generation;
};

struct ring {
	struct stretch stretches[2];
};

static struct ring ring_make(const struct sp_slot *slots, uint64_t capacity, uint64_t first, uint32_t n)
{
	unsigned shift = (unsigned)__builtin_ctzll(capacity);
	uint64_t at = first & (capacity - 1);
	uint32_t before = capacity - at < n ? (uint32_t)(capacity - at) : n;

	return (struct ring){{{slots + at, before, first >> shift & 0xFF},
			      {slots, n - before, ((first >> shift) + 1) & 0xFF}}};
}

static inline uint32_t slot_kind(const struct sp_slot *slot, uint32_t generation)
{
	return (slot->commit >> 16 & 0xFF) == generation ? sp_commit_kind(slot->commit) : SP_KIND_HOLE;
}

/* What the columns and the block header are to know of the slots' kinds. */
struct kinds_seen {
	uint32_t events, passed, definitions;
};

static void see_kind(struct kinds_seen *seen, uint32_t kind)
{
	seen->events += kind - 1u < SP_KIND_DEFINE - 1u;
	seen->passed += kind == SP_KIND_EXTRA || kind == SP_KIND_BLOB;
	seen->definitions += kind >= SP_KIND_DEFINE && kind != SP_KIND_EXTRA;
}

/* Most slots differ from the one before in neither kind nor arg. */
#define COMMIT_CHECK_MASK (UINT64_C(0xFF) << 24)

static void encode_kinds(struct columns *c, const struct stretch *s, uint32_t *arg,
			 struct kinds_seen *seen)
{
	uint8_t *kinds = c->end[SP_COLUMN_KINDS], *args = c->end[SP_COLUMN_ARGS];
	uint64_t same = UINT64_MAX;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct sp_slot *slot = &s->slots[i];
		uint32_t kind;

		if (((slot->commit ^ same) & ~COMMIT_CHECK_MASK) == 0) {
			*kinds++ = (uint8_t)same;
			*args++ = 0;
			seen->events++;
			continue;
		}
		kind = slot_kind(slot, s->generation);
		kinds = put(kinds, kind);
		see_kind(seen, kind);
		if (!is_span(kind))
			continue;
		args = put(args, zigzag((int32_t)(sp_commit_arg(slot->commit) - *arg)));
		*arg = sp_commit_arg(slot->commit);
		same = kind < 0x80 ? slot->commit : UINT64_MAX;
	}
	c->end[SP_COLUMN_KINDS] = kinds;
	c->end[SP_COLUMN_ARGS] = args;
}

static inline int is_event(const struct sp_slot *slot, uint32_t generation)
{
	return slot_kind(slot, generation) - 1u < SP_KIND_DEFINE - 1u;
}

/*
 * `plain`: every slot is an event; then the time they span is found on the way. `end`: of the slot before.
 */
static inline __attribute__((always_inline)) void
encode_times(struct columns *c, const struct stretch *s, struct times *times, int plain, int shifts)
{
	/* A copy: for all the compiler knows, a byte stored to a column may change anything else. */
	struct times t = *times;
	uint8_t *gaps = c->end[SP_COLUMN_GAPS], *ticks = c->end[SP_COLUMN_TICKS];

	for (const struct sp_slot *slot = s->slots, *stop = slot + s->n; slot < stop; slot++) {
		uint64_t start = slot->start, length = slot->ticks;

		if (!plain && !is_span(slot_kind(slot, s->generation)))
			continue;
		gaps = put(gaps, zigzag(divide(&t.divider, (int64_t)(start - t.end), shifts)));
		ticks = put(ticks, (uint64_t)divide(&t.divider, (int64_t)length, shifts));
		t.end = start + length;
		if (plain || is_event(slot, s->generation)) {
			t.first = start < t.first ? start : t.first;
			t.last = t.end > t.last ? t.end : t.last;
		}
	}
	*times = t;
	c->end[SP_COLUMN_GAPS] = gaps;
	c->end[SP_COLUMN_TICKS] = ticks;
}

static inline __attribute__((always_inline)) void encode_values(struct columns *c, const struct stretch *s,
								int plain)
{
	uint8_t *values = c->end[SP_COLUMN_VALUES];

	for (const struct sp_slot *slot = s->slots, *stop = slot + s->n; slot < stop; slot++)
		if (plain || is_span(slot_kind(slot, s->generation)))
			values = put(values, zigzag(slot->value));
	c->end[SP_COLUMN_VALUES] = values;
}

static void encode_stretch(struct columns *c, const struct stretch *s, struct times *t, int plain)
{
	if (!plain)
		encode_times(c, s, t, 0, 0);
	else if (t->divider.inverse == 1)
		encode_times(c, s, t, 1, 1);
	else
		encode_times(c, s, t, 1, 0);
	if (plain)
		encode_values(c, s, 1);
	else
		encode_values(c, s, 0);
}

/* The five columns of events and definitions. */
static struct kinds_seen encode_spans(struct columns *c, const struct ring *r, struct times *t)
{
	struct kinds_seen seen = {0};
	uint32_t arg = 0;

	memcpy(c->end, c->start, sizeof(c->end));
	for (int i = 0; i < 2; i++)
		encode_kinds(c, &r->stretches[i], &arg, &seen);
	for (int i = 0; i < 2; i++)
		encode_stretch(c, &r->stretches[i], t,
			       seen.events == r->stretches[0].n + r->stretches[1].n);
	return seen;
}

static struct sp_payload_facts facts_of(const struct kinds_seen *seen, const struct times *t)
{
	return (struct sp_payload_facts){.events = seen->events,
					 .definitions = seen->definitions,
					 .begin_ticks = seen->events ? t->first : 0,
					 .end_ticks = t->last};
}

static uint8_t *encode_extras(uint8_t *p, const struct stretch *s)
{
	for (const struct sp_slot *slot = s->slots; slot < s->slots + s->n; slot++) {
		if (slot_kind(slot, s->generation) != SP_KIND_EXTRA)
			continue;
		p = put(p, slot->start);
		p = put(p, slot->ticks);
		p = put(p, (uint64_t)slot->value);
	}
	return p;
}

static uint8_t *encode_blobs(uint8_t *p, const struct stretch *s)
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

/* Where the first event or definition starts; the column of gaps begins there. */
static uint64_t base_of(const struct ring *r)
{
	for (int i = 0; i < 2; i++) {
		const struct stretch *s = &r->stretches[i];

		for (uint32_t k = 0; k < s->n; k++)
			if (is_span(slot_kind(&s->slots[k], s->generation)))
				return s->slots[k].start;
	}
	return 0;
}

/* Moves the columns together. Returns their end. */
static uint8_t *columns_join(uint8_t *p, const struct columns *c, struct sp_payload_head *head)
{
	for (unsigned i = 0; i < SP_COLUMN_EXTRAS; i++) {
		head->column_bytes[i] = (uint32_t)(c->end[i] - c->start[i]);
		memmove(p, c->start[i], head->column_bytes[i]);
		p += head->column_bytes[i];
	}
	return p;
}

size_t sp_payload_encode(uint8_t *scratch, const struct sp_slot *slots, uint64_t capacity,
			 uint64_t first, uint32_t n, uint32_t grain, struct sp_payload_facts *ret_facts)
{
	struct ring r = ring_make(slots, capacity, first, n);
	struct sp_payload_head head = {.slots = n, .grain = grain ? grain : 1, .base_ticks = base_of(&r)};
	struct kinds_seen seen;
	struct columns c;
	struct times t;
	uint8_t *p = scratch + SP_PAYLOAD_HEAD_BYTES, *blobs, *extras;

	for (unsigned i = 0; i < SP_COLUMN_EXTRAS; i++) {
		c.start[i] = p;
		p += (size_t)n * column_slot_bytes[i];
	}
	t = times_from(head.base_ticks, head.grain);
	seen = encode_spans(&c, &r, &t);
	if (t.divider.inexact) {
		head.grain = 1;
		t = times_from(head.base_ticks, head.grain);
		encode_spans(&c, &r, &t);
	}
	*ret_facts = facts_of(&seen, &t);
	p = blobs = extras = columns_join(scratch + SP_PAYLOAD_HEAD_BYTES, &c, &head);
	for (int i = 0; seen.passed && i < 2; i++)
		p = blobs = encode_extras(p, &r.stretches[i]);
	for (int i = 0; seen.passed && i < 2; i++)
		p = encode_blobs(p, &r.stretches[i]);
	head.column_bytes[SP_COLUMN_EXTRAS] = (uint32_t)(blobs - extras);
	head.column_bytes[SP_COLUMN_BLOBS] = (uint32_t)(p - blobs);
	memcpy(scratch, &head, sizeof(head));
	return (size_t)(p - scratch);
}

