/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/codec.h"

#include <errno.h>
#include <string.h>

#include "trace/columns.h"
#include "trace/varint.h"

/* The columns in the order of version 1. */
enum column {
	COLUMN_KINDS,
	COLUMN_ARGS,
	COLUMN_GAPS,
	COLUMN_TICKS,
	COLUMN_VALUES,
	COLUMN_EXTRAS,
	COLUMN_BLOBS,
};

static void decode_extra(struct sp_slot *slot, struct sp_input *in)
{
	slot->start = sp_varint_get(in);
	slot->ticks = sp_varint_get(in);
	slot->value = (int64_t)sp_varint_get(in);
	slot->commit = SP_KIND_EXTRA;
}

/* State from the slot before. */
struct last {
	uint64_t end, grain;
	uint32_t arg;
};

/* Decodes one slot of any kind. Returns 0 or -EBADMSG. */
static int decode_slot(struct sp_slot *slot, struct sp_input in[SP_COLUMNS], struct last *last)
{
	uint64_t kind = sp_varint_get(&in[COLUMN_KINDS]);

	if (kind == SP_KIND_HOLE) {
		memset(slot, 0, sizeof(*slot));
	} else if (kind == SP_KIND_EXTRA) {
		decode_extra(slot, &in[COLUMN_EXTRAS]);
	} else if (kind == SP_KIND_BLOB) {
		sp_blob_get(slot, &in[COLUMN_BLOBS]);
	} else if (kind > SP_KIND_BLOB || (kind >= SP_KIND_EVENTS && kind < SP_KIND_DEFINE)) {
		return -EBADMSG;
	} else {
		last->arg += (uint32_t)sp_unzigzag(sp_varint_get(&in[COLUMN_ARGS]));
		slot->start = last->end +
			      (uint64_t)sp_unzigzag(sp_varint_get(&in[COLUMN_GAPS])) * last->grain;
		slot->ticks = sp_varint_get(&in[COLUMN_TICKS]) * last->grain;
		slot->value = sp_unzigzag(sp_varint_get(&in[COLUMN_VALUES]));
		slot->commit = (uint64_t)last->arg << 32 | kind;
		last->end = slot->start + slot->ticks;
	}
	return 0;
}

static inline uint64_t load8(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

#define TOP_BITS UINT64_C(0x8080808080808080)

/* Joins the lower seven bits of each byte. */
typedef uint64_t compact_bytes(uint64_t word);

static inline uint64_t compact_anywhere(uint64_t x)
{
	x = (x & 0x007F007F007F007F) | (x >> 1 & 0x3F803F803F803F80);
	x = (x & 0x00003FFF00003FFF) | (x >> 2 & 0x0FFFC0000FFFC000);
	return (x & 0x000000000FFFFFFF) | (x >> 4 & 0x00FFFFFFF0000000);
}

/* No branch, because the length of a varint is unpredictable. `word` contains the varint's end. */
static inline __attribute__((always_inline)) uint64_t take(uint64_t word, const uint8_t **at,
							   compact_bytes *compact)
{
	uint64_t stop = ~word & TOP_BITS;

	*at += ((unsigned)__builtin_ctzll(stop) >> 3) + 1;
	return compact(word & (stop ^ (stop - 1)) & ~TOP_BITS);
}

static int has_end(uint64_t word)
{
	return (~word & TOP_BITS) != 0;
}

/*
 * The number of slots that can be read without checks of the columns' ends, at up to eight bytes a
 * number. sp_columns_close() detects a column that ran into another one.
 */
static uint32_t slots_within(const struct sp_input in[SP_COLUMNS], const uint8_t *end, uint32_t n)
{
	for (unsigned i = 0; i < COLUMN_EXTRAS; i++)
		if ((size_t)(end - in[i].at) / 8 < n)
			n = (uint32_t)((size_t)(end - in[i].at) / 8);
	return n;
}

/*
 * Decodes events. The five columns are read in step, so that the processor overlaps them. Stops at
 * the first slot that is no event, and at a number of more than eight bytes. Returns the number of
 * decoded slots.
 */
static inline __attribute__((always_inline)) uint32_t
decode_events(struct sp_slot *slots, uint32_t n, struct sp_input in[SP_COLUMNS], struct last *last,
	      compact_bytes *compact)
{
	const uint8_t *kinds = in[COLUMN_KINDS].at, *args = in[COLUMN_ARGS].at;
	const uint8_t *gaps = in[COLUMN_GAPS].at, *ticks = in[COLUMN_TICKS].at;
	const uint8_t *values = in[COLUMN_VALUES].at;
	uint64_t end = last->end, grain = last->grain;
	uint32_t arg = last->arg, i;

	for (i = 0; i < n; i++) {
		uint64_t a = load8(args), g = load8(gaps), t = load8(ticks), v = load8(values);
		uint32_t kind = kinds[0], more = kind >> 7;
		struct sp_slot *slot = &slots[i];

		kind = (kind & 0x7F) | ((uint32_t)kinds[1] << 7 & -more);
		if (kind - 1 >= SP_KIND_EVENTS - 1 || !has_end(a) || !has_end(g) || !has_end(t) ||
		    !has_end(v))
			break;
		kinds += 1 + more;
		arg += (uint32_t)sp_unzigzag(take(a, &args, compact));
		slot->start = end + (uint64_t)sp_unzigzag(take(g, &gaps, compact)) * grain;
		slot->ticks = take(t, &ticks, compact) * grain;
		slot->value = sp_unzigzag(take(v, &values, compact));
		slot->commit = (uint64_t)arg << 32 | kind;
		end = slot->start + slot->ticks;
	}
	in[COLUMN_KINDS].at = kinds;
	in[COLUMN_ARGS].at = args;
	in[COLUMN_GAPS].at = gaps;
	in[COLUMN_TICKS].at = ticks;
	in[COLUMN_VALUES].at = values;
	last->end = end;
	last->arg = arg;
	return i;
}

static uint32_t decode_events_anywhere(struct sp_slot *slots, uint32_t n,
				       struct sp_input in[SP_COLUMNS], struct last *last)
{
	return decode_events(slots, n, in, last, compact_anywhere);
}

#if defined(__x86_64__)
__attribute__((target("bmi,bmi2"))) static inline uint64_t compact_bmi2(uint64_t x)
{
	return __builtin_ia32_pext_di(x, ~TOP_BITS);
}

__attribute__((target("bmi,bmi2"))) static uint32_t
decode_events_bmi2(struct sp_slot *slots, uint32_t n, struct sp_input in[SP_COLUMNS],
		   struct last *last)
{
	return decode_events(slots, n, in, last, compact_bmi2);
}

/* AMD's family 17h runs PEXT as slow microcode: https://uops.info, PEXT on Zen and Zen 2. */
static int bmi2_is_fast(void)
{
	return __builtin_cpu_supports("bmi2") && !__builtin_cpu_is("amdfam17h");
}
#else
#define decode_events_bmi2 decode_events_anywhere

static int bmi2_is_fast(void)
{
	return 0;
}
#endif

int sp_payload_decode_varints(struct sp_slot *slots, uint32_t n, const uint8_t *payload,
			      size_t bytes)
{
	struct sp_payload_head head;
	struct sp_input in[SP_COLUMNS];
	struct last last;
	uint32_t i = 0;
	int fast = bmi2_is_fast();

	if (bytes < sizeof(head))
		return -EBADMSG;
	memcpy(&head, payload, sizeof(head));
	if (head.slots != n || head.grain == 0 || sp_columns_open(in, &head, payload, bytes) < 0)
		return -EBADMSG;
	last = (struct last){head.base_ticks, head.grain, 0};
	while (i < n) {
		uint32_t within = slots_within(in, payload + bytes, n - i);

		i += fast ? decode_events_bmi2(slots + i, within, in, &last)
			  : decode_events_anywhere(slots + i, within, in, &last);
		if (i < n && decode_slot(&slots[i++], in, &last) < 0)
			return -EBADMSG;
	}
	return sp_columns_close(in);
}
