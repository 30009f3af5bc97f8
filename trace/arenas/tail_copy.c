/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/arenas/tail_copy.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "trace/format.h"
#include "trace/window_copy.h"

size_t sp_arena_tail_used(const uint8_t *tail, uint32_t window_at)
{
	size_t at = SP_HEADER_FRAME_BYTES, next;
	struct sp_block_header block;

	while (at + sizeof(block) <= window_at) {
		memcpy(&block, tail + at, sizeof(block));
		next = at + sizeof(block.frame) + block.frame.size;
		if (block.frame.magic == SP_FRAME_BLOCK)
			next += block.zstd_bytes;
		else if (block.frame.magic != SP_FRAME_FREE || next >= window_at)
			break;
		if (next > window_at)
			break;
		at = next % 8 && block.frame.magic == SP_FRAME_BLOCK ? (next + 15) / 8 * 8 : next;
	}
	return at;
}

static int is_whole_block(const uint8_t *at, size_t room)
{
	struct sp_block_header h;
	size_t frame;

	if (room < SP_BLOCK_FRAME_BYTES)
		return 0;
	memcpy(&h, at, sizeof(h));
	frame = sizeof(h.frame) + h.frame.size;
	return frame == SP_BLOCK_FRAME_BYTES && h.zstd_bytes <= room - frame &&
	       h.header_hash == XXH64(&h, offsetof(struct sp_block_header, header_hash), 0) &&
	       h.zstd_hash == XXH64(at + frame, h.zstd_bytes, 0);
}

/* The end of the frames that are whole. A thread that lives may have put the others into its file
 * meanwhile. */
static size_t frames_end(const uint8_t *tail, size_t used)
{
	size_t at = SP_HEADER_FRAME_BYTES, whole = at;
	struct sp_frame frame;

	while (at + sizeof(frame) <= used) {
		memcpy(&frame, tail + at, sizeof(frame));
		if (frame.magic == SP_FRAME_BLOCK) {
			struct sp_block_header h;

			if (!is_whole_block(tail + at, used - at))
				break;
			memcpy(&h, tail + at, sizeof(h));
			at += SP_BLOCK_FRAME_BYTES + h.zstd_bytes;
		} else if (frame.magic == SP_FRAME_FREE &&
			   frame.size <= used - at - sizeof(frame)) {
			at += sizeof(frame) + frame.size;
		} else {
			break;
		}
		whole = at % sizeof(frame) ? whole : at;
	}
	return whole;
}

static int is_header(const struct sp_file_header *h)
{
	return h->frame.magic == SP_FRAME_HEADER &&
	       h->frame.size + sizeof(h->frame) == SP_HEADER_FRAME_BYTES &&
	       h->header_hash == XXH64(h, offsetof(struct sp_file_header, header_hash), 0);
}

static int is_window(const struct sp_window_header *w, size_t bytes)
{
	return w->frame.magic == SP_FRAME_WINDOW && w->frame.size + sizeof(w->frame) == bytes &&
	       w->header_hash == XXH64(w, offsetof(struct sp_window_header, header_hash), 0);
}

/* A thread that lives may have left the tail meanwhile, and another one taken its place. */
static int is_tail(const uint8_t *copy, size_t bytes, uint32_t window_at)
{
	return is_header((const struct sp_file_header *)copy) &&
	       is_window((const struct sp_window_header *)(copy + window_at), bytes - window_at);
}

/* The window first: slots that a block takes over meanwhile are then in both. */
size_t sp_tail_copy(uint8_t *copy, const uint8_t *tail, size_t bytes, uint32_t window_at)
{
	sp_window_copy(copy + window_at, tail + window_at, bytes - window_at);
	sp_loads_in_order();
	memcpy(copy, tail, window_at);
	if (!is_tail(copy, bytes, window_at))
		return 0;
	return frames_end(copy, sp_arena_tail_used(copy, window_at));
}
