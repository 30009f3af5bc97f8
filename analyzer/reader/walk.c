/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/reader/walk.h"

#include <stddef.h>
#include <string.h>
#include <xxhash.h>

/* A file is not a trace if no frame of ours begins before this offset. */
#define FOREIGN_SCAN_BYTES_MAX (UINT64_C(64) << 20)
#define SCAN_STEP_BYTES (64u * 1024u)
#define SLOT_NUMBER_MAX (UINT64_C(1) << 56)

static enum sp_damage check_version(struct sp_unit *u, uint16_t version)
{
	u->version = version;
	return version == SP_FORMAT_VERSION ? SP_DAMAGE_NONE : SP_DAMAGE_VERSION;
}

/* hash_at: the offset of the hash, which covers all bytes before it. */
static enum sp_damage check_head(const uint8_t *p, size_t bytes, size_t head_bytes, size_t hash_at,
				 const char *tag, size_t tag_bytes)
{
	uint64_t hash;

	if (bytes >= sizeof(struct sp_frame) + tag_bytes &&
	    memcmp(p + sizeof(struct sp_frame), tag, tag_bytes) != 0)
		return SP_DAMAGE_FOREIGN;
	if (bytes < head_bytes)
		return SP_DAMAGE_CUT;
	memcpy(&hash, p + hash_at, sizeof(hash));
	return hash == XXH64(p, hash_at, 0) ? SP_DAMAGE_NONE : SP_DAMAGE_HEAD;
}

static enum sp_damage parse_header(struct sp_unit *u, const uint8_t *p, size_t bytes)
{
	enum sp_damage d =
		check_head(p, bytes, SP_HEADER_FRAME_BYTES,
			   offsetof(struct sp_file_header, header_hash), SP_TAG_HEADER, 8);

	if (d)
		return d;
	memcpy(&u->header, p, sizeof(u->header));
	if (check_version(u, u->header.version))
		return SP_DAMAGE_VERSION;
	if (u->header.frame.size != SP_HEADER_FRAME_BYTES - sizeof(struct sp_frame))
		return SP_DAMAGE_HEAD;
	u->kind = SP_UNIT_HEADER;
	u->bytes = SP_HEADER_FRAME_BYTES;
	return SP_DAMAGE_NONE;
}

static enum sp_damage parse_block(struct sp_unit *u, const uint8_t *p, size_t bytes)
{
	const struct sp_block_header *b = &u->block;
	enum sp_damage d =
		check_head(p, bytes, SP_BLOCK_FRAME_BYTES,
			   offsetof(struct sp_block_header, header_hash), SP_TAG_BLOCK, 4);

	if (d)
		return d;
	memcpy(&u->block, p, sizeof(u->block));
	if (check_version(u, b->version))
		return SP_DAMAGE_VERSION;
	if (b->frame.size != SP_BLOCK_FRAME_BYTES - sizeof(struct sp_frame) ||
	    b->slots > SP_BLOCK_SLOTS_MAX || b->events > b->slots ||
	    b->payload_bytes > SP_PAYLOAD_BYTES_MAX || b->zstd_bytes > 2 * SP_PAYLOAD_BYTES_MAX ||
	    b->first_index > SLOT_NUMBER_MAX)
		return SP_DAMAGE_HEAD;
	u->kind = SP_UNIT_BLOCK;
	u->bytes = SP_BLOCK_FRAME_BYTES + (uint64_t)b->zstd_bytes;
	return SP_DAMAGE_NONE;
}

static enum sp_damage parse_window(struct sp_unit *u, const uint8_t *p, size_t bytes)
{
	const struct sp_window_header *w = &u->window;
	enum sp_damage d =
		check_head(p, bytes, SP_WINDOW_HEAD_BYTES,
			   offsetof(struct sp_window_header, header_hash), SP_TAG_WINDOW, 4);

	if (d)
		return d;
	memcpy(&u->window, p, sizeof(u->window));
	if (check_version(u, w->version))
		return SP_DAMAGE_VERSION;
	if (w->head_bytes != SP_WINDOW_HEAD_BYTES || w->capacity < SP_WINDOW_SLOTS_MIN ||
	    w->capacity > SP_WINDOW_SLOTS_MAX || (w->capacity & (w->capacity - 1)) ||
	    w->first_index > SLOT_NUMBER_MAX)
		return SP_DAMAGE_HEAD;
	u->kind = SP_UNIT_WINDOW;
	u->bytes = sizeof(struct sp_frame) + (uint64_t)w->frame.size;
	if (u->bytes < SP_WINDOW_HEAD_BYTES + (uint64_t)w->capacity * sizeof(struct sp_slot))
		return SP_DAMAGE_HEAD;
	return SP_DAMAGE_NONE;
}

static enum sp_damage parse_run(struct sp_unit *u, const uint8_t *p, size_t bytes)
{
	if (bytes < SP_RUN_FRAME_BYTES)
		return SP_DAMAGE_CUT;
	memcpy(&u->run, p, sizeof(u->run));
	if (memcmp(u->run.tag, SP_TAG_RUN, 8) != 0 ||
	    u->run.frame.size != SP_RUN_FRAME_BYTES - sizeof(struct sp_frame))
		return SP_DAMAGE_HEAD;
	if (check_version(u, u->run.version))
		return SP_DAMAGE_VERSION;
	u->kind = SP_UNIT_RUN;
	u->bytes = SP_RUN_FRAME_BYTES;
	return SP_DAMAGE_NONE;
}

static enum sp_damage parse_call(struct sp_unit *u, const uint8_t *p, size_t bytes)
{
	enum sp_damage d = check_head(p, bytes, SP_CALL_FRAME_BYTES,
				      offsetof(struct sp_call_frame, hash), SP_TAG_CALL, 8);

	if (d)
		return d;
	memcpy(&u->call, p, sizeof(u->call));
	if (check_version(u, u->call.version))
		return SP_DAMAGE_VERSION;
	if (u->call.frame.size != SP_CALL_FRAME_BYTES - sizeof(struct sp_frame) ||
	    u->call.text_bytes > SP_CALL_TEXT_BYTES)
		return SP_DAMAGE_HEAD;
	u->kind = SP_UNIT_CALL;
	u->bytes = SP_CALL_FRAME_BYTES;
	return SP_DAMAGE_NONE;
}

/* A frame of ours whose magic is damaged looks like a frame of a later version's kind. */
static bool has_our_tag(const uint8_t *p, size_t bytes)
{
	p += sizeof(struct sp_frame);
	return bytes >= 16 && (memcmp(p, SP_TAG_HEADER, 8) == 0 || memcmp(p, SP_TAG_RUN, 8) == 0 ||
			       memcmp(p, SP_TAG_CALL, 8) == 0 || memcmp(p, SP_TAG_BLOCK, 4) == 0 ||
			       memcmp(p, SP_TAG_WINDOW, 4) == 0);
}

enum sp_damage sp_unit_parse(struct sp_unit *ret, const uint8_t *p, size_t bytes)
{
	struct sp_frame frame;

	if (bytes < sizeof(frame))
		return SP_DAMAGE_CUT;
	memcpy(&frame, p, sizeof(frame));
	switch (frame.magic) {
	case SP_FRAME_HEADER:
		return parse_header(ret, p, bytes);
	case SP_FRAME_BLOCK:
		return parse_block(ret, p, bytes);
	case SP_FRAME_WINDOW:
		return parse_window(ret, p, bytes);
	case SP_FRAME_RUN:
		return parse_run(ret, p, bytes);
	case SP_FRAME_CALL:
		return parse_call(ret, p, bytes);
	case 0xFD2FB528u: /* a zstd frame: RFC 8878 section 3.1.1 */
		return SP_DAMAGE_ORPHAN;
	}
	if ((frame.magic & ~0xFu) != SP_FRAME_HEADER)
		return SP_DAMAGE_FOREIGN;
	ret->kind = frame.magic == SP_FRAME_FREE ? SP_UNIT_FREE : SP_UNIT_UNKNOWN;
	if (ret->kind == SP_UNIT_UNKNOWN && has_our_tag(p, bytes))
		return SP_DAMAGE_HEAD;
	ret->bytes = sizeof(frame) + (uint64_t)frame.size;
	return SP_DAMAGE_NONE;
}

void sp_walk_init(struct sp_walk *w, struct sp_source *source, uint64_t at)
{
	*w = (struct sp_walk){.source = source, .at = at, .free_at = UINT64_MAX};
}

/* True for a frame that cannot be there by chance: it has a right hash and this version. */
static bool is_anchor(const uint8_t *p, size_t bytes)
{
	struct sp_unit u;

	return sp_unit_parse(&u, p, bytes) == SP_DAMAGE_NONE &&
	       (u.kind == SP_UNIT_HEADER || u.kind == SP_UNIT_BLOCK || u.kind == SP_UNIT_WINDOW);
}

/*
 * Finds the next anchor at or after `at`. In a concatenation, a file that was cut short shifts the
 * files after it, so every offset is tried, not only every eighth.
 */
static int scan(struct sp_walk *w, uint64_t at, uint64_t *ret_at)
{
	uint64_t stop = w->found || w->source->size_bytes < FOREIGN_SCAN_BYTES_MAX
				? w->source->size_bytes
				: FOREIGN_SCAN_BYTES_MAX;

	while (at < stop) {
		const uint8_t *p, *hit;
		ssize_t n =
			sp_source_bytes(w->source, at, SCAN_STEP_BYTES + SP_HEADER_FRAME_BYTES, &p);
		size_t usable;

		if (n < 0)
			return (int)n;
		if (n < 4)
			break;
		usable = (size_t)n > SCAN_STEP_BYTES ? SCAN_STEP_BYTES : (size_t)n;
		/* bytes 1 to 3 of every magic of ours */
		for (size_t i = 0; i < usable; i = (size_t)(hit - p)) {
			hit = memmem(p + i + 1, (size_t)n - i - 1, "\x2A\x4D\x18", 3);
			if (!hit || (size_t)(hit - p) > usable)
				break;
			if (is_anchor(hit - 1, (size_t)(p + n - hit) + 1)) {
				*ret_at = at + (uint64_t)(hit - 1 - p);
				return 0;
			}
		}
		at += usable;
	}
	*ret_at = w->source->size_bytes;
	return 0;
}

static int pass_damage(struct sp_walk *w, struct sp_unit *ret, enum sp_damage why)
{
	uint64_t from = w->at, found = w->source->size_bytes;
	int r;

	/* The length of a FREE frame has no check, so look inside the FREE frame that led here. */
	if (w->free_at != UINT64_MAX)
		from = w->free_at + 7;
	r = scan(w, from + 1, &found);
	if (r < 0)
		return r;
	ret->kind = SP_UNIT_DAMAGE;
	ret->damage = why;
	ret->at = w->at;
	ret->bytes = found > w->at ? found - w->at : 0;
	w->at = found;
	w->free_at = UINT64_MAX;
	return 1;
}

int sp_walk_next(struct sp_walk *w, struct sp_unit *ret)
{
	uint64_t left = w->source->size_bytes - w->at;
	enum sp_damage why;
	const uint8_t *p;
	ssize_t n;

	if (w->at >= w->source->size_bytes)
		return 0;
	n = sp_source_bytes(w->source, w->at, SP_HEADER_FRAME_BYTES, &p);
	if (n < 0)
		return (int)n;
	ret->damage = SP_DAMAGE_NONE;
	ret->version = 0;
	why = sp_unit_parse(ret, p, (size_t)n);
	if (why)
		return pass_damage(w, ret, why);
	ret->at = w->at;
	ret->cut = ret->bytes > left;
	if (ret->cut && (ret->kind == SP_UNIT_FREE || ret->kind == SP_UNIT_UNKNOWN)) {
		w->free_at = w->at;
		return pass_damage(w, ret, SP_DAMAGE_CUT);
	}
	if (ret->cut)
		ret->bytes = left;
	w->found |= ret->kind != SP_UNIT_UNKNOWN && ret->kind != SP_UNIT_FREE;
	w->free_at = ret->kind == SP_UNIT_FREE || ret->kind == SP_UNIT_UNKNOWN ? w->at : UINT64_MAX;
	w->at += ret->bytes;
	return 1;
}
