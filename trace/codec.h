/*
 * Slots to a block's payload and back.
 *
 * A payload is a head of SP_PAYLOAD_HEAD_BYTES and then SP_COLUMNS columns, in this order:
 *
 *	kinds    the kinds of the block, in the order of their first slot, as varints: how many; then of each
 *	         the kind, and how many slots have it. Then for each slot a token, as a varint
 *	args     zigzag varint for each token that says SP_ARG_IS_NEW: difference to the last arg that was not 0
 *	values   zigzag varint for each token that says so
 *	blobs    for each BLOB slot a byte (its valid bytes) and that many bytes
 *	gaps     (start - end of the slot before) / grain, as sp_numbers_pack() packs them; not for EXTRA, BLOB,
 *	         HOLE; by kind, in the order above, and among those of one kind in the order of their slots
 *	ticks    duration / grain; likewise
 *	extras   start of each EXTRA slot, packed likewise; then ticks of each; then the value of each
 *
 * A token is index << 3 | where the arg is from << 1 | whether the value is another than that of the slot of
 * this kind before (0 at first). Of EXTRA, BLOB and HOLE the lower bits are 0.
 *
 * "end of the slot before" starts as base_ticks. grain is 1 in a block whose times are not all
 * multiples of the clock's grain (relative to base_ticks): the encoding loses nothing.
 *
 * The last three columns do not compress: they are noise, packed. The others are for zstd.
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
	SP_COLUMN_VALUES,
	SP_COLUMN_BLOBS,
	SP_COLUMN_GAPS,
	SP_COLUMN_TICKS,
	SP_COLUMN_EXTRAS,
	SP_COLUMNS
};

enum sp_arg_source {
	SP_ARG_IS_LAST, /* the last one that was not 0, of any kind; 0 at first */
	SP_ARG_IS_ZERO,
	SP_ARG_IS_NEW,
	SP_ARG_IS_OF_KIND, /* the last one of this kind that was not 0 */
};

enum sp_payload_coding {
	SP_CODING_VARINTS, /* format version 1 */
	SP_CODING_TOKENS,
};

struct sp_payload_head {
	uint32_t slots;
	uint32_t grain;
	uint64_t base_ticks;
	uint32_t column_bytes[SP_COLUMNS];
	uint32_t coding; /* enum sp_payload_coding */
};

#define SP_PAYLOAD_HEAD_BYTES sizeof(struct sp_payload_head)

/* Most bytes that one slot can take in all columns together; 4,096 of them fit SP_PAYLOAD_BYTES_MAX. */
#define SP_SLOT_ENCODED_MAX 48u

/* What the encoder learned on its way, for the block header. */
struct sp_payload_facts {
	uint32_t packed_bytes; /* the last columns, which do not compress */
	uint32_t events;
	uint32_t definitions; /* not 0 where there are definitions or parts of them */
	uint64_t begin_ticks, end_ticks; /* 0, 0 where events == 0 */
};

/* Bytes of scratch that the encoder needs for n slots; the payload is built inside it. */
size_t sp_encode_scratch_bytes(uint32_t n);

/*
 * Encodes slots [first, first + n) of a ring of `capacity` (a power of two), n at most SP_BLOCK_SLOTS_MAX;
 * slots that are not committed become HOLE. `scratch` is aligned to 8 and has sp_encode_scratch_bytes(n). Returns the payload's length; the
 * payload begins at scratch. Cannot fail.
 */
size_t sp_payload_encode(uint8_t *scratch, const struct sp_slot *ring, uint64_t capacity,
			 uint64_t first, uint32_t n, uint32_t grain, struct sp_payload_facts *ret_facts);

#ifdef SP_HAS_ENCODER_AVX2
/* The same bytes, by a processor that has AVX2, BMI, BMI2 and LZCNT. */
size_t sp_payload_encode_avx2(uint8_t *scratch, const struct sp_slot *ring, uint64_t capacity,
			      uint64_t first, uint32_t n, uint32_t grain, struct sp_payload_facts *ret_facts);
#endif

/*
 * Decodes exactly n slots. commit words come back with generation and check 0. Returns 0, or -EBADMSG
 * where the payload is not one that the encoder could have made.
 */
int sp_payload_decode(struct sp_slot *slots, uint32_t n, const uint8_t *payload, size_t bytes);

/* Likewise, for SP_CODING_VARINTS alone; docs/FORMAT.md has its columns. */
int sp_payload_decode_varints(struct sp_slot *slots, uint32_t n, const uint8_t *payload, size_t bytes);

#endif
