/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns slots into finished zstd frames, on the recording thread. The only file of preload/ that
 * knows zstd.
 *
 * The caller owns all memory (one anonymous mapping for each thread): no allocation, no lock, no
 * system call. Not re-entrant: after a longjmp out of a pack, the next encode starts again.
 */
#ifndef STAGEPROF_PRELOAD_PACK_H
#define STAGEPROF_PRELOAD_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

struct sp_pack {
	uint8_t *memory;
	size_t memory_bytes;
	uint32_t slots; /* most slots of one block */
	size_t payload_bytes;
	uint32_t packed_bytes; /* at the payload's end: bytes that do not compress */
	void *context;	       /* zstd's, in `memory`; NULL: not made yet, or in use */
};

/* Constructor: from now on AVX2 encodes blocks (sp_processor_has_avx2()).
 * The bytes are the same. */
void sp_pack_use_avx2(void);

/* The memory for blocks of up to `slots`; most of its pages are never touched. */
size_t sp_pack_memory_bytes(uint32_t slots);
void sp_pack_init(struct sp_pack *pack, void *memory, uint32_t slots);

/*
 * Encodes slots [first, first + n). Fills the header's first_index, slots, events, ticks and
 * payload_bytes, and adds to its flags. Returns the most bytes that sp_pack_compress can need for
 * it.
 */
size_t sp_pack_encode(struct sp_pack *pack, const struct sp_slot *ring, uint64_t capacity,
		      uint64_t first, uint32_t n, uint32_t grain, struct sp_block_header *header);

/* Compresses what was encoded to `out`; fills zstd_bytes and zstd_hash. Returns 0 or -EIO. */
int sp_pack_compress(struct sp_pack *pack, uint8_t *out, size_t room,
		     struct sp_block_header *header);

#endif
