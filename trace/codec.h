/*
 * Slots to a block's payload and back.
 *
 * A payload is a head of SP_PAYLOAD_HEAD_BYTES and then SP_COLUMNS columns, in this order:
 *
 *	kinds    varint each slot
 *	args     zigzag varint, difference to the arg of the slot before; not for EXTRA, BLOB, HOLE
 *	gaps     zigzag varint of (start - end of the slot before) / grain; likewise
 *	ticks    varint of duration / grain; likewise
 *	values   zigzag varint; likewise
 *	extras   three varints for each EXTRA slot
 *	blobs    for each BLOB slot a byte (its valid bytes) and that many bytes
 *
 * "end of the slot before" starts as base_ticks. grain is 1 in a block whose times are not all
 * multiples of the clock's grain (relative to base_ticks): the encoding loses nothing.
 *
 * No allocation, no state, async-signal-safe; the decoder trusts no byte.
 */
#ifndef STAGEPROF_TRACE_CODEC_H
#define STAGEPROF_TRACE_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

enum sp_column {
	SP_COLUMN_KINDS,
	SP_COLUMN_ARGS,
	SP_COLUMN_GAPS,
	SP_COLUMN_TICKS,
	SP_COLUMN_VALUES,
	SP_COLUMN_EXTRAS,
	SP_COLUMN_BLOBS,
	SP_COLUMNS
};

struct sp_payload_head {
	uint32_t slots;
	uint32_t grain;
	uint64_t base_ticks;
	uint32_t column_bytes[SP_COLUMNS];
	uint32_t reserved;
};

#define SP_PAYLOAD_HEAD_BYTES sizeof(struct sp_payload_head)

/* Most bytes that one slot can take in all columns together; 4,096 of them fit SP_PAYLOAD_BYTES_MAX. */
#define SP_SLOT_ENCODED_MAX 40u

/* What the encoder learned on its way, for the block header. */
struct sp_payload_facts {
	uint32_t events;
	uint32_t definitions; /* not 0 where there are definitions or parts of them */
	uint64_t begin_ticks, end_ticks; /* 0, 0 where events == 0 */
};

/* Bytes of scratch that the encoder needs for n slots; the payload is built inside it. */
static inline size_t sp_encode_scratch_bytes(uint32_t n)
{
	return SP_PAYLOAD_HEAD_BYTES + (size_t)n * SP_SLOT_ENCODED_MAX + 64;
}

/*
 * Encodes slots [first, first + n) of a ring of `capacity` (a power of two); slots that are not
 * committed become HOLE. `scratch` has sp_encode_scratch_bytes(n). Returns the payload's length; the
 * payload begins at scratch. Cannot fail.
 */
size_t sp_payload_encode(uint8_t *scratch, const struct sp_slot *ring, uint64_t capacity,
			 uint64_t first, uint32_t n, uint32_t grain, struct sp_payload_facts *ret_facts);

/*
 * Decodes exactly n slots. commit words come back with generation and check 0. Returns 0, or -EBADMSG
 * where the payload is not one that the encoder could have made.
 */
int sp_payload_decode(struct sp_slot *slots, uint32_t n, const uint8_t *payload, size_t bytes);

#endif
