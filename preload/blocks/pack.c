/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/blocks/pack.h"

#include <errno.h>

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "preload/blocks/frame.h"
#include "trace/codec.h"

static __typeof__(&sp_payload_encode) payload_encode = sp_payload_encode;

/* Less content than this is not worth a context of zstd's, with its CPUID, for one block. */
#define CONTEXT_BYTES_MIN 4096u
#define ALIGN_UP(x, to) (((x) + (to)-1) / (to) * (to))

/*
 * Level 1's strategy, tuned for columns of small numbers: matches shorter than seven bytes save
 * less than they cost, and a small table, cleared for each block, finds the long matches. It
 * takes a third less time than level 1 and 4% more bytes.
 */
static ZSTD_compressionParameters parameters(uint32_t slots)
{
	int small = slots <= 1024;

	return (ZSTD_compressionParameters){.windowLog = small ? 15 : 16,
					    .chainLog = ZSTD_CHAINLOG_MIN,
					    .hashLog = small ? 10 : 11,
					    .searchLog = 1,
					    .minMatch = 7,
					    .targetLength = 0,
					    .strategy = ZSTD_fast};
}

_Static_assert(2 * 12 * SP_BLOCK_SLOTS_MAX <= ZSTD_BLOCKSIZE_MAX, "the packed columns fit one "
								  "block");

void sp_pack_use_avx2(void)
{
#ifdef SP_HAS_ENCODER_AVX2
	payload_encode = sp_payload_encode_avx2;
#endif
}

static size_t scratch_bytes(uint32_t slots)
{
	return ALIGN_UP(sp_encode_scratch_bytes(slots), 64);
}

size_t sp_pack_memory_bytes(uint32_t slots)
{
	return scratch_bytes(slots) +
	       ALIGN_UP(ZSTD_estimateCCtxSize_usingCParams(parameters(slots)), 64);
}

void sp_pack_init(struct sp_pack *pack, void *memory, uint32_t slots)
{
	pack->memory = memory;
	pack->memory_bytes = sp_pack_memory_bytes(slots);
	pack->slots = slots;
	pack->payload_bytes = pack->packed_bytes = 0;
	pack->context = NULL;
}

size_t sp_pack_encode(struct sp_pack *pack, const struct sp_slot *ring, uint64_t capacity,
		      uint64_t first, uint32_t n, uint32_t grain, struct sp_block_header *header)
{
	struct sp_payload_metadata metadata;

	pack->payload_bytes =
		payload_encode(pack->memory, ring, capacity, first, n, grain, &metadata);
	pack->packed_bytes = metadata.packed_bytes;
	header->first_index = first;
	header->slots = n;
	header->events = metadata.events;
	if (!metadata.definitions)
		header->flags |= SP_BLOCK_NO_DEFINITIONS;
	header->begin_ticks = metadata.begin_ticks;
	header->end_ticks = metadata.end_ticks;
	header->payload_bytes = (uint32_t)pack->payload_bytes;
	return ZSTD_compressBound(pack->payload_bytes) + SP_FRAME_RAW_BYTES;
}

static void context_set(ZSTD_CCtx *context, uint32_t slots)
{
	ZSTD_compressionParameters p = parameters(slots);

	ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, (int)p.windowLog);
	ZSTD_CCtx_setParameter(context, ZSTD_c_hashLog, (int)p.hashLog);
	ZSTD_CCtx_setParameter(context, ZSTD_c_chainLog, (int)p.chainLog);
	ZSTD_CCtx_setParameter(context, ZSTD_c_searchLog, (int)p.searchLog);
	ZSTD_CCtx_setParameter(context, ZSTD_c_minMatch, (int)p.minMatch);
	ZSTD_CCtx_setParameter(context, ZSTD_c_targetLength, (int)p.targetLength);
	ZSTD_CCtx_setParameter(context, ZSTD_c_strategy, (int)p.strategy);
	ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
}

/* Making a context runs CPUID, which costs about 14 µs under a hypervisor. */
static ZSTD_CCtx *context_make(const struct sp_pack *pack)
{
	size_t scratch = scratch_bytes(pack->slots);
	ZSTD_CCtx *context =
		ZSTD_initStaticCCtx(pack->memory + scratch, pack->memory_bytes - scratch);

	if (context)
		context_set(context, pack->slots);
	return context;
}

/* A context is kept from block to block. While it is in use the pack holds no pointer to it,
 * because a longjmp out of a signal handler may leave it half done. */
static size_t compress_with_zstd(struct sp_pack *pack, uint8_t *out, size_t room)
{
	ZSTD_CCtx *context = pack->context ? pack->context : context_make(pack);
	size_t n;

	if (!context)
		return (size_t)-1;
	__atomic_store_n(&pack->context, NULL, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	n = ZSTD_compress2(context, out, room, pack->memory,
			   pack->payload_bytes - pack->packed_bytes);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (!ZSTD_isError(n))
		__atomic_store_n(&pack->context, context, __ATOMIC_RELAXED);
	return n;
}

static size_t compress(struct sp_pack *pack, uint8_t *out, size_t room)
{
	uint32_t bytes = (uint32_t)pack->payload_bytes - pack->packed_bytes;
	int kept = pack->context != NULL;
	size_t n = sp_frame_put_runs(out, room, pack->memory, bytes);

	if (n)
		return n;
	n = compress_with_zstd(pack, out, room);
	return ZSTD_isError(n) && kept ? compress_with_zstd(pack, out, room) : n;
}

static int is_only_block(const struct sp_pack *pack, const struct sp_block_header *header)
{
	return (header->flags & SP_BLOCK_LAST) && !pack->context &&
	       pack->payload_bytes < CONTEXT_BYTES_MIN;
}

static int store(struct sp_pack *pack, uint8_t *out, size_t room, struct sp_block_header *header)
{
	size_t n = sp_frame_put_raw(out, room, pack->memory, (uint32_t)pack->payload_bytes);

	if (!n)
		return -EIO;
	header->zstd_bytes = (uint32_t)n;
	header->zstd_hash = XXH64(out, n, 0);
	return 0;
}

int sp_pack_compress(struct sp_pack *pack, uint8_t *out, size_t room,
		     struct sp_block_header *header)
{
	const uint8_t *packed = pack->memory + pack->payload_bytes - pack->packed_bytes;
	size_t n, raw = 0;

	if (is_only_block(pack, header))
		return store(pack, out, room, header);
	n = compress(pack, out, room);
	if (ZSTD_isError(n))
		return -EIO;
	if (pack->packed_bytes) {
		raw = sp_frame_put_raw(out + n, room - n, packed, pack->packed_bytes);
		if (!raw)
			return -EIO;
	}
	header->zstd_bytes = (uint32_t)(n + raw);
	header->zstd_hash = XXH64(out, n + raw, 0);
	return 0;
}
