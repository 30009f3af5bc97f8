/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole analyzer on one file of any bytes: headers, frames, blocks. Hashes would keep a fuzzer
 * out of all code that needs them, so the mutator sets them right again after most of its changes.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <xxhash.h>

#include "tests/fuzz/whole.h"
#include "trace/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max) __attribute__((weak));

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	sp_fuzz_whole(data, size);
	return 0;
}

static void mend(uint8_t *p, size_t left, size_t hash_at)
{
	uint64_t hash;

	if (left < hash_at + sizeof(hash))
		return;
	hash = XXH64(p, hash_at, 0);
	memcpy(p + hash_at, &hash, sizeof(hash));
}

static void mend_block(uint8_t *p, size_t left)
{
	struct sp_block_header b;

	if (left < sizeof(b))
		return;
	memcpy(&b, p, sizeof(b));
	if (b.zstd_bytes <= left - sizeof(b)) {
		b.zstd_hash = XXH64(p + sizeof(b), b.zstd_bytes, 0);
		memcpy(p, &b, sizeof(b));
	}
	mend(p, left, offsetof(struct sp_block_header, header_hash));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	size = LLVMFuzzerMutate(data, size, max);
	if (seed % 8 == 0)
		return size;
	for (size_t at = 0; at + 8 <= size; at++) {
		uint32_t magic;

		memcpy(&magic, data + at, sizeof(magic));
		if (magic == SP_FRAME_HEADER)
			mend(data + at, size - at, offsetof(struct sp_file_header, header_hash));
		else if (magic == SP_FRAME_BLOCK)
			mend_block(data + at, size - at);
		else if (magic == SP_FRAME_WINDOW)
			mend(data + at, size - at, offsetof(struct sp_window_header, header_hash));
	}
	return size;
}
