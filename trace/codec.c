#include "trace/codec.h"

#include <errno.h>
#include <string.h>

enum { KINDS, ARGS, GAPS, TICKS, VALUES, EXTRAS, BLOBS };

/* Worst case of the first five columns for one slot; EXTRAS and BLOBS are written after them. */
static const uint8_t column_slot_bytes[EXTRAS] = {3, 5, 10, 10, 10};
_Static_assert(3 + 5 + 10 + 10 + 10 <= SP_SLOT_ENCODED_MAX, "scratch fits a slot's worst case");
_Static_assert(3 + 3 * 10 <= SP_SLOT_ENCODED_MAX, "scratch fits an EXTRA slot");
_Static_assert(3 + 1 + SP_SLOT_BLOB_BYTES <= SP_SLOT_ENCODED_MAX, "scratch fits a BLOB slot");
_Static_assert(SP_PAYLOAD_HEAD_BYTES + SP_BLOCK_SLOTS_MAX * SP_SLOT_ENCODED_MAX <= SP_PAYLOAD_BYTES_MAX,
	       "a full block fits a payload");

static inline uint64_t zigzag(int64_t x)
{
	return (uint64_t)x << 1 ^ (uint64_t)(x >> 63);
}

static inline int64_t unzigzag(uint64_t x)
{
	return (int64_t)(x >> 1 ^ -(x & 1));
}

static inline uint8_t *put(uint8_t *p, uint64_t x)
{
	while (x >= 0x80) {
		*p++ = (uint8_t)x | 0x80;
		x >>= 7;
	}
	*p++ = (uint8_t)x;
	return p;
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

static inline int64_t divide(struct divider *d, int64_t x)
{
	int64_t q = (int64_t)((uint64_t)(x >> d->shift) * d->inverse);

	d->inexact |= (uint64_t)q * d->grain ^ (uint64_t)x;
	return q;
}

struct columns {
	uint8_t *start[EXTRAS];
	uint8_t *end[EXTRAS];
};

static int is_span(uint32_t kind)
{
	return kind != SP_KIND_HOLE && kind != SP_KIND_EXTRA && kind != SP_KIND_BLOB;
}

struct ring {
	const struct sp_slot *slots;
	uint64_t mask, first;
	unsigned shift;
	uint32_t n;
};

static const struct sp_slot *ring_slot(const struct ring *r, uint32_t i, uint32_t *ret_kind)
{
	uint64_t number = r->first + i;
	const struct sp_slot *slot = &r->slots[number & r->mask];

	*ret_kind = sp_commit_kind(slot->commit);
	if ((slot->commit >> 16 & 0xFF) != (number >> r->shift & 0xFF))
		*ret_kind = SP_KIND_HOLE;
	return slot;
}

/* The five columns of events and definitions. Returns how many EXTRA and BLOB slots it passed over. */
static uint32_t encode_spans(struct columns *c, const struct ring *r, uint64_t base, struct divider *d,
			     struct sp_payload_facts *facts)
{
	uint8_t *kinds = c->start[KINDS], *args = c->start[ARGS], *gaps = c->start[GAPS];
	uint8_t *ticks = c->start[TICKS], *values = c->start[VALUES];
	uint64_t end = base, begin = UINT64_MAX, last = 0;
	uint32_t arg = 0, passed = 0, events = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t kind;
		const struct sp_slot *slot = ring_slot(r, i, &kind);

		kinds = put(kinds, kind);
		if (!is_span(kind)) {
			passed += kind != SP_KIND_HOLE;
			continue;
		}
		args = put(args, zigzag((int32_t)(sp_commit_arg(slot->commit) - arg)));
		arg = sp_commit_arg(slot->commit);
		gaps = put(gaps, zigzag(divide(d, (int64_t)(slot->start - end))));
		ticks = put(ticks, (uint64_t)divide(d, (int64_t)slot->ticks));
		values = put(values, zigzag(slot->value));
		end = slot->start + slot->ticks;
		if (kind < SP_KIND_DEFINE) {
			events++;
			begin = slot->start < begin ? slot->start : begin;
			last = end > last ? end : last;
		}
	}
	c->end[KINDS] = kinds;
	c->end[ARGS] = args;
	c->end[GAPS] = gaps;
	c->end[TICKS] = ticks;
	c->end[VALUES] = values;
	*facts = (struct sp_payload_facts){events, events ? begin : 0, last};
	return passed;
}

static uint8_t *encode_extras(uint8_t *p, const struct ring *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t kind;
		const struct sp_slot *slot = ring_slot(r, i, &kind);

		if (kind != SP_KIND_EXTRA)
			continue;
		p = put(p, slot->start);
		p = put(p, slot->ticks);
		p = put(p, (uint64_t)slot->value);
	}
	return p;
}

static uint8_t *encode_blobs(uint8_t *p, const struct ring *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t kind;
		const struct sp_slot *slot = ring_slot(r, i, &kind);
		uint32_t bytes = sp_commit_arg(slot->commit);

		if (kind != SP_KIND_BLOB)
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
	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t kind;
		const struct sp_slot *slot = ring_slot(r, i, &kind);

		if (is_span(kind))
			return slot->start;
	}
	return 0;
}

size_t sp_payload_encode(uint8_t *scratch, const struct sp_slot *slots, uint64_t capacity,
			 uint64_t first, uint32_t n, uint32_t grain, struct sp_payload_facts *ret_facts)
{
	struct ring r = {slots, capacity - 1, first, (unsigned)__builtin_ctzll(capacity), n};
	struct sp_payload_head head = {.slots = n, .grain = grain ? grain : 1, .base_ticks = base_of(&r)};
	struct columns c;
	struct divider d;
	uint32_t passed;
	uint8_t *p = scratch + SP_PAYLOAD_HEAD_BYTES;

	for (unsigned i = 0; i < EXTRAS; i++) {
		c.start[i] = p;
		p += (size_t)n * column_slot_bytes[i];
	}
	divider_init(&d, head.grain);
	passed = encode_spans(&c, &r, head.base_ticks, &d, ret_facts);
	if (d.inexact) {
		head.grain = 1;
		divider_init(&d, 1);
		passed = encode_spans(&c, &r, head.base_ticks, &d, ret_facts);
	}
	p = scratch + SP_PAYLOAD_HEAD_BYTES;
	for (unsigned i = 0; i < EXTRAS; i++) {
		head.column_bytes[i] = (uint32_t)(c.end[i] - c.start[i]);
		memmove(p, c.start[i], head.column_bytes[i]);
		p += head.column_bytes[i];
	}
	if (passed) {
		uint8_t *extras = p, *blobs = encode_extras(extras, &r);

		p = encode_blobs(blobs, &r);
		head.column_bytes[EXTRAS] = (uint32_t)(blobs - extras);
		head.column_bytes[BLOBS] = (uint32_t)(p - blobs);
	}
	memcpy(scratch, &head, sizeof(head));
	return (size_t)(p - scratch);
}

/* A column being read. Running past its end sets `bad` and yields 0, so that the loops stay simple. */
struct input {
	const uint8_t *at, *end;
	int bad;
};

static uint64_t get_long(struct input *in)
{
	uint64_t x = 0;

	for (unsigned shift = 0; shift < 64 && in->at < in->end; shift += 7) {
		uint64_t byte = *in->at++;

		x |= (byte & 0x7F) << shift;
		if (byte < 0x80) {
			in->bad |= shift == 63 && byte > 1;
			return x;
		}
	}
	in->bad = 1;
	return 0;
}

static inline uint64_t get(struct input *in)
{
	if (in->at < in->end && *in->at < 0x80)
		return *in->at++;
	return get_long(in);
}

static void decode_extra(struct sp_slot *slot, struct input *in)
{
	slot->start = get(in);
	slot->ticks = get(in);
	slot->value = (int64_t)get(in);
	slot->commit = SP_KIND_EXTRA;
}

static void decode_blob(struct sp_slot *slot, struct input *in)
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

static int columns_open(struct input in[SP_COLUMNS], const struct sp_payload_head *head,
			const uint8_t *payload, size_t bytes)
{
	const uint8_t *at = payload + sizeof(*head), *end = payload + bytes;

	for (unsigned i = 0; i < SP_COLUMNS; i++) {
		if ((size_t)(end - at) < head->column_bytes[i])
			return -EBADMSG;
		in[i] = (struct input){at, at + head->column_bytes[i], 0};
		at += head->column_bytes[i];
	}
	return at == end ? 0 : -EBADMSG;
}

static int columns_close(const struct input in[SP_COLUMNS])
{
	for (unsigned i = 0; i < SP_COLUMNS; i++)
		if (in[i].bad || in[i].at != in[i].end)
			return -EBADMSG;
	return 0;
}

/* What one slot tells the next. */
struct last {
	uint64_t end, grain;
	uint32_t arg;
};

/* Any slot. Returns 0 or -EBADMSG. */
static int decode_slot(struct sp_slot *slot, struct input in[SP_COLUMNS], struct last *last)
{
	uint64_t kind = get(&in[KINDS]);

	if (kind == SP_KIND_HOLE) {
		memset(slot, 0, sizeof(*slot));
	} else if (kind == SP_KIND_EXTRA) {
		decode_extra(slot, &in[EXTRAS]);
	} else if (kind == SP_KIND_BLOB) {
		decode_blob(slot, &in[BLOBS]);
	} else if (kind > SP_KIND_BLOB) {
		return -EBADMSG;
	} else {
		last->arg += (uint32_t)unzigzag(get(&in[ARGS]));
		slot->start = last->end + (uint64_t)unzigzag(get(&in[GAPS])) * last->grain;
		slot->ticks = get(&in[TICKS]) * last->grain;
		slot->value = unzigzag(get(&in[VALUES]));
		slot->commit = (uint64_t)last->arg << 32 | kind;
		last->end = slot->start + slot->ticks;
	}
	return 0;
}

static inline uint32_t load2(const uint8_t *p)
{
	uint16_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

static inline uint32_t load4(const uint8_t *p)
{
	uint32_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* A varint of at most two, and of at most four bytes, with no branch: which length it has cannot be foretold. */
static inline uint64_t take2(uint32_t word, const uint8_t **at)
{
	uint32_t more = word >> 7 & 1;

	*at += 1 + more;
	return (word & 0x7F) | (word >> 1 & 0x3F80 & -more);
}

static inline uint64_t take4(uint32_t word, const uint8_t **at)
{
	uint32_t stop = ~word & 0x80808080;

	*at += ((unsigned)__builtin_ctz(stop) >> 3) + 1;
	word &= stop ^ (stop - 1);
	return (word & 0x7F) | (word >> 1 & 0x3F80) | (word >> 2 & 0x1FC000) |
	       (word >> 3 & 0xFE00000);
}

static uint32_t least(uint32_t a, size_t b)
{
	return a < b ? a : (uint32_t)b;
}

/* How many slots can be read without looking at the columns' ends, at two and four bytes a number. */
static uint32_t slots_within(const struct input in[SP_COLUMNS], uint32_t n)
{
	n = least(n, (size_t)(in[KINDS].end - in[KINDS].at) / 2);
	n = least(n, (size_t)(in[ARGS].end - in[ARGS].at) / 2);
	n = least(n, (size_t)(in[GAPS].end - in[GAPS].at) / 4);
	n = least(n, (size_t)(in[TICKS].end - in[TICKS].at) / 4);
	return least(n, (size_t)(in[VALUES].end - in[VALUES].at) / 4);
}

/*
 * Events whose numbers are short: nearly all there are. The five columns go side by side, for the processor to
 * overlap them. Stops at the first other slot; returns how many were done.
 */
static uint32_t decode_events(struct sp_slot *slots, uint32_t n, struct input in[SP_COLUMNS],
			      struct last *last)
{
	const uint8_t *kinds = in[KINDS].at, *args = in[ARGS].at, *gaps = in[GAPS].at,
		      *ticks = in[TICKS].at, *values = in[VALUES].at;
	uint64_t end = last->end, grain = last->grain;
	uint32_t arg = last->arg, i;

	for (i = 0; i < n; i++) {
		uint32_t k = load2(kinds), a = load2(args), g = load4(gaps), t = load4(ticks),
			 v = load4(values);
		struct sp_slot *slot = &slots[i];

		if ((k & 0x8080) == 0x8080 || (k & 0xFF) == SP_KIND_HOLE || (a & 0x8080) == 0x8080 ||
		    (g & 0x80808080) == 0x80808080 || (t & 0x80808080) == 0x80808080 ||
		    (v & 0x80808080) == 0x80808080)
			break;
		arg += (uint32_t)unzigzag(take2(a, &args));
		slot->start = end + (uint64_t)unzigzag(take4(g, &gaps)) * grain;
		slot->ticks = take4(t, &ticks) * grain;
		slot->value = unzigzag(take4(v, &values));
		slot->commit = (uint64_t)arg << 32 | take2(k, &kinds);
		end = slot->start + slot->ticks;
	}
	in[KINDS].at = kinds;
	in[ARGS].at = args;
	in[GAPS].at = gaps;
	in[TICKS].at = ticks;
	in[VALUES].at = values;
	last->end = end;
	last->arg = arg;
	return i;
}

int sp_payload_decode(struct sp_slot *slots, uint32_t n, const uint8_t *payload, size_t bytes)
{
	struct sp_payload_head head;
	struct input in[SP_COLUMNS];
	struct last last;
	uint32_t i = 0;

	if (bytes < sizeof(head))
		return -EBADMSG;
	memcpy(&head, payload, sizeof(head));
	if (head.slots != n || head.grain == 0 || columns_open(in, &head, payload, bytes) < 0)
		return -EBADMSG;
	last = (struct last){head.base_ticks, head.grain, 0};
	while (i < n) {
		i += decode_events(slots + i, slots_within(in, n - i), in, &last);
		if (i < n && decode_slot(&slots[i++], in, &last) < 0)
			return -EBADMSG;
	}
	return columns_close(in);
}
