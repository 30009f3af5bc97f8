#include "trace/codec.h"

#include <errno.h>
#include <string.h>

static inline int64_t unzigzag(uint64_t x)
{
	return (int64_t)(x >> 1 ^ -(x & 1));
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
	uint64_t kind = get(&in[SP_COLUMN_KINDS]);

	if (kind == SP_KIND_HOLE) {
		memset(slot, 0, sizeof(*slot));
	} else if (kind == SP_KIND_EXTRA) {
		decode_extra(slot, &in[SP_COLUMN_EXTRAS]);
	} else if (kind == SP_KIND_BLOB) {
		decode_blob(slot, &in[SP_COLUMN_BLOBS]);
	} else if (kind > SP_KIND_BLOB) {
		return -EBADMSG;
	} else {
		last->arg += (uint32_t)unzigzag(get(&in[SP_COLUMN_ARGS]));
		slot->start = last->end + (uint64_t)unzigzag(get(&in[SP_COLUMN_GAPS])) * last->grain;
		slot->ticks = get(&in[SP_COLUMN_TICKS]) * last->grain;
		slot->value = unzigzag(get(&in[SP_COLUMN_VALUES]));
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
	n = least(n, (size_t)(in[SP_COLUMN_KINDS].end - in[SP_COLUMN_KINDS].at) / 2);
	n = least(n, (size_t)(in[SP_COLUMN_ARGS].end - in[SP_COLUMN_ARGS].at) / 2);
	n = least(n, (size_t)(in[SP_COLUMN_GAPS].end - in[SP_COLUMN_GAPS].at) / 4);
	n = least(n, (size_t)(in[SP_COLUMN_TICKS].end - in[SP_COLUMN_TICKS].at) / 4);
	return least(n, (size_t)(in[SP_COLUMN_VALUES].end - in[SP_COLUMN_VALUES].at) / 4);
}

/*
 * Events whose numbers are short: nearly all there are. The five columns go side by side, for the processor to
 * overlap them. Stops at the first other slot; returns how many were done.
 */
static uint32_t decode_events(struct sp_slot *slots, uint32_t n, struct input in[SP_COLUMNS],
			      struct last *last)
{
	const uint8_t *kinds = in[SP_COLUMN_KINDS].at, *args = in[SP_COLUMN_ARGS].at, *gaps = in[SP_COLUMN_GAPS].at,
		      *ticks = in[SP_COLUMN_TICKS].at, *values = in[SP_COLUMN_VALUES].at;
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
	in[SP_COLUMN_KINDS].at = kinds;
	in[SP_COLUMN_ARGS].at = args;
	in[SP_COLUMN_GAPS].at = gaps;
	in[SP_COLUMN_TICKS].at = ticks;
	in[SP_COLUMN_VALUES].at = values;
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
