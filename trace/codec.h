/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encoding of slots as a block's payload, and its decoding.
 *
 * A payload is a head of SP_PAYLOAD_HEAD_BYTES and then SP_COLUMNS columns, in this order:
 *
 *	kinds	varints: the number of kinds in the block; then for each kind, in the order of
 *		first slots, the kind and its number of slots; then for each slot its token
 *	args	a zigzag varint for each token with SP_ARG_IS_NEW: the difference to the last
 *		arg that was not 0
 *	values	a zigzag varint for each token that announces one
 *	blobs	for each BLOB slot a byte (the number of its valid bytes) and those bytes
 *	gaps	(start - end of the slot before) / grain, packed by sp_numbers_pack(); none for
 *		EXTRA, BLOB and HOLE; sorted by kind, within a kind in the order of slots
 *	ticks	duration / grain; packed and sorted as the gaps
 *	extras	packed: the `start` words of all EXTRA slots, then all `ticks`, then all `value`
 *
 * A token is index << 3 | source of the arg << 1 | 1 if the value differs from that of the previous
 * slot of this kind (0 at first). In tokens of EXTRA, BLOB and HOLE the lower bits are 0.
 *
 * The first "end of the slot before" is base_ticks. The grain is 1 in a block whose times are not
 * all multiples of the clock's grain (relative to base_ticks), so the encoding loses nothing.
 *
 * The last three columns are packed noise and do not compress. The others go through zstd.
 *
 * No allocation, no state, async-signal-safe. The decoder trusts no byte.
 */
#ifndef STAGEPROF_TRACE_CODEC_H
#define STAGEPROF_TRACE_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

enum sp_block_column {
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
	SP_ARG_IS_LAST, /* the last arg of any kind that was not 0; 0 at first */
	SP_ARG_IS_ZERO,
	SP_ARG_IS_NEW,
	SP_ARG_IS_OF_KIND, /* the last arg of this kind that was not 0 */
};

enum sp_payload_coding {
	SP_CODING_TOKENS = 1,
};

struct sp_payload_head {
	uint32_t slots;
	uint32_t grain;
	uint64_t base_ticks;
	uint32_t column_bytes[SP_COLUMNS];
	uint32_t coding; /* enum sp_payload_coding */
};

#define SP_PAYLOAD_HEAD_BYTES sizeof(struct sp_payload_head)

/* The most bytes that one slot takes in all columns together. 4,096 slots fit
 * SP_PAYLOAD_BYTES_MAX. */
#define SP_SLOT_ENCODED_MAX 48u

/* Sums of the encoder for the block header. */
struct sp_payload_metadata {
	uint32_t packed_bytes; /* the last columns, which do not compress */
	uint32_t events;
	uint32_t definitions;		 /* not 0 if the block has DEFINE or BLOB slots */
	uint64_t begin_ticks, end_ticks; /* 0, 0 where events == 0 */
};

/* Bytes of scratch that the encoder needs for n slots; the payload is built inside it. */
size_t sp_encode_scratch_bytes(uint32_t n);

/*
 * Encodes slots [first, first + n) of a ring of `capacity` (a power of two), n at most
 * SP_BLOCK_SLOTS_MAX; slots that are not committed become HOLE. `scratch` is aligned to 8 and has
 * sp_encode_scratch_bytes(n). Returns the payload's length; the payload begins at scratch. Cannot
 * fail.
 */
size_t sp_payload_encode(uint8_t *scratch, const struct sp_slot *ring, uint64_t capacity,
			 uint64_t first, uint32_t n, uint32_t grain,
			 struct sp_payload_metadata *ret_metadata);

#ifdef SP_HAS_ENCODER_AVX2
/* Makes the same bytes, on a processor with AVX2, BMI, BMI2 and LZCNT. */
size_t sp_payload_encode_avx2(uint8_t *scratch, const struct sp_slot *ring, uint64_t capacity,
			      uint64_t first, uint32_t n, uint32_t grain,
			      struct sp_payload_metadata *ret_metadata);
#endif

/*
 * Decodes exactly n slots. Their commit words have generation and check 0. Returns 0, or
 * -EBADMSG for a payload that the encoder cannot have made.
 */
int sp_payload_decode(struct sp_slot *slots, uint32_t n, const uint8_t *payload, size_t bytes);

#endif
