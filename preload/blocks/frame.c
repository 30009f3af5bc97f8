/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/blocks/frame.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define MAGIC 0xFD2FB528u
#define DESCRIPTOR 0xA4u
#define HEAD_BYTES (4u + 1u + 4u)
#define BLOCK_HEAD_BYTES 3u
#define BLOCK_BYTES_MAX (128u << 10)
#define CHECKSUM_BYTES 4u

_Static_assert(SP_FRAME_RAW_BYTES == HEAD_BYTES + BLOCK_HEAD_BYTES + CHECKSUM_BYTES, "what stands "
										     "around the "
										     "content");

enum block_type { BLOCK_RAW, BLOCK_REPEATS };

/* A shorter run is not worth a block of its own. */
#define RUN_BYTES_MIN 64u
/* A frame that would be larger than this share of the content is left to zstd. */
#define CONTENT_SHARE 32u

struct frame_writer {
	uint8_t *at;
	size_t left;
};

static void put(struct frame_writer *w, const void *bytes, size_t count)
{
	memcpy(w->at, bytes, count);
	w->at += count;
	w->left -= count;
}

static void put_head(struct frame_writer *w, uint32_t content_bytes)
{
	uint32_t magic = MAGIC;
	uint8_t descriptor = DESCRIPTOR;

	put(w, &magic, sizeof(magic));
	put(w, &descriptor, sizeof(descriptor));
	put(w, &content_bytes, sizeof(content_bytes));
}

static void put_block_head(struct frame_writer *w, enum block_type type, uint32_t bytes, int last)
{
	uint32_t head = bytes << 3 | (uint32_t)type << 1 | (last ? 1 : 0);

	put(w, &head, BLOCK_HEAD_BYTES);
}

static void put_checksum(struct frame_writer *w, const uint8_t *content, uint32_t bytes)
{
	uint32_t checksum = (uint32_t)XXH64(content, bytes, 0);

	put(w, &checksum, sizeof(checksum));
}

size_t sp_frame_put_raw(uint8_t *out, size_t room, const uint8_t *content, uint32_t bytes)
{
	struct frame_writer w = {out, room};

	if (room < bytes + SP_FRAME_RAW_BYTES)
		return 0;
	put_head(&w, bytes);
	put_block_head(&w, BLOCK_RAW, bytes, 1);
	put(&w, content, bytes);
	put_checksum(&w, content, bytes);
	return (size_t)(w.at - out);
}

/* The start of the next long run; `end` if the first `most` bytes have none. */
static const uint8_t *run_find(const uint8_t *p, const uint8_t *end, size_t most)
{
	for (; (size_t)(end - p) >= RUN_BYTES_MIN; p++) {
		if (memcmp(p, p + 1, RUN_BYTES_MIN - 1) == 0)
			return p;
		if (!most--)
			break;
	}
	return end;
}

static const uint8_t *run_end(const uint8_t *run, const uint8_t *end)
{
	const uint8_t *p = run + RUN_BYTES_MIN;

	if ((size_t)(end - run) > BLOCK_BYTES_MAX)
		end = run + BLOCK_BYTES_MAX;
	while (end - p >= 8 && memcmp(p, run, 8) == 0)
		p += 8;
	while (p < end && *p == *run)
		p++;
	return p;
}

size_t sp_frame_put_runs(uint8_t *out, size_t room, const uint8_t *content, uint32_t bytes)
{
	size_t most = bytes / CONTENT_SHARE;
	struct frame_writer w = {out, most};
	const uint8_t *p = content, *end = content + bytes;

	if (most < HEAD_BYTES || room < most)
		return 0;
	put_head(&w, bytes);
	while (p < end) {
		const uint8_t *run = run_find(p, end, w.left),
			      *next = run < end ? run_end(run, end) : end;

		if (w.left < 2 * BLOCK_HEAD_BYTES + 1 + CHECKSUM_BYTES + (size_t)(run - p))
			return 0;
		if (run > p) {
			put_block_head(&w, BLOCK_RAW, (uint32_t)(run - p),
				       next == end && run == end);
			put(&w, p, (size_t)(run - p));
		}
		if (next > run) {
			put_block_head(&w, BLOCK_REPEATS, (uint32_t)(next - run), next == end);
			put(&w, run, 1);
		}
		p = next;
	}
	put_checksum(&w, content, bytes);
	return (size_t)(w.at - out);
}
