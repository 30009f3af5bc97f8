/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/reader/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <xxhash.h>

#include "analyzer/base/progress.h"
#include "trace/columns.h"

#define AHEAD_BYTES (128u * 1024u) /* a part of the second-level cache */
#define WINDOW_TRIES 8		   /* a live writer moves its window whenever its file grows */

int sp_reader_init(struct sp_reader *r)
{
	int result;

	*r = (struct sp_reader){.source.fd = -1};
	result = sp_source_init(&r->source);
	if (result == 0)
		result = sp_window_init(&r->window);
	r->unzstd = sp_unzstd_create();
	r->payload = malloc(SP_PAYLOAD_BYTES_MAX);
	r->slots = malloc(SP_BLOCK_SLOTS_MAX * sizeof(*r->slots));
	if (result == 0 && (!r->unzstd || !r->payload || !r->slots))
		result = -ENOMEM;
	return result;
}

int sp_reader_by_kind(struct sp_reader *r)
{
	r->starts_of = SP_COLUMNS_ALL;
	r->columns = malloc(sizeof(*r->columns));
	return r->columns ? 0 : -ENOMEM;
}

void sp_reader_finish(struct sp_reader *r)
{
	sp_source_finish(&r->source);
	sp_window_finish(&r->window);
	sp_unzstd_destroy(r->unzstd);
	free(r->payload);
	free(r->slots);
	free(r->columns);
}

static const char *path_of(const struct sp_reader *r, const struct sp_segment *segment)
{
	return r->index->files[segment->file].path;
}

static bool is_of_stream(const struct sp_unit *u, uint64_t id)
{
	switch (u->kind) {
	case SP_UNIT_HEADER:
		return u->header.stream_id == id;
	case SP_UNIT_BLOCK:
		return u->block.stream_id == id;
	case SP_UNIT_WINDOW:
		return u->window.stream_id == id;
	default:
		return true;
	}
}

/* The offset of the stream's window, of the newer one while the writer moves it;
 * UINT64_MAX: none. */
static uint64_t find_window(struct sp_reader *r, const struct sp_segment *segment)
{
	uint64_t at = UINT64_MAX;
	struct sp_walk walk;
	struct sp_unit unit;

	sp_source_refresh(&r->source);
	sp_walk_init(&walk, &r->source, segment->at);
	while (sp_walk_next(&walk, &unit) > 0) {
		if (!is_of_stream(&unit, segment->stream_id))
			break;
		if (unit.kind == SP_UNIT_WINDOW)
			at = unit.at;
	}
	return at;
}

static bool read_window(struct sp_reader *r, const struct sp_segment *segment)
{
	uint64_t at = segment->window_at;

	for (int i = 0; i < WINDOW_TRIES && at != UINT64_MAX; i++) {
		if (sp_source_open(&r->source, path_of(r, segment), 4096) < 0)
			return false;
		if (sp_window_read(&r->window, &r->source, at, segment->stream_id) > 0)
			return true;
		at = find_window(r, segment);
	}
	return false;
}

/* The window that goes furthest, of several copies of one stream. */
static const struct sp_segment *window_segment(const struct sp_stream *stream)
{
	const struct sp_segment *best = NULL;

	for (const struct sp_segment *g = stream->segments; g; g = g->next)
		if (g->window_at != UINT64_MAX && (!best || g->limit > best->limit))
			best = g;
	return best;
}

static void begin(struct sp_reader *r, const struct sp_index *index, const struct sp_stream *stream)
{
	const struct sp_segment *segment = stream->digested ? NULL : window_segment(stream);

	r->index = index;
	r->stream = stream;
	r->next = r->passed = r->given = 0;
	r->window_of = segment;
	r->has_window = segment && read_window(r, segment);
	r->segment = stream->digested ? NULL : stream->segments; /* a digest has no events */
	r->segment_is_open = false;
}

void sp_reader_open(struct sp_reader *r, const struct sp_index *index, struct sp_stream *stream)
{
	__atomic_fetch_add(&stream->readings, 1, __ATOMIC_RELAXED);
	begin(r, index, stream);
}

static void report(struct sp_reader *r, uint64_t at, uint64_t bytes)
{
	if (r->damaged)
		r->damaged(r->context, r->segment->file, at, bytes);
}

static bool read_payload(struct sp_reader *r, const struct sp_unit *u)
{
	const struct sp_block_header *b = &u->block;
	const uint8_t *p;
	ssize_t n = sp_source_bytes(&r->source, u->at + SP_BLOCK_FRAME_BYTES, b->zstd_bytes, &p);

	return n == (ssize_t)b->zstd_bytes && XXH64(p, (size_t)n, 0) == b->zstd_hash &&
	       sp_unzstd_frame(r->unzstd, r->payload, b->payload_bytes, p, (size_t)n) == 0;
}

/* Cuts a batch down to new slots below the stream's limit.
 * Returns false if the payload is damaged. */
static bool decode_block(struct sp_reader *r, const struct sp_block_header *b, struct sp_batch *ret)
{
	uint32_t skip = b->first_index < r->next ? (uint32_t)(r->next - b->first_index) : 0;

	*ret = (struct sp_batch){r->slots + skip, b->slots - skip, b->first_index + skip,
				 r->columns};
	if (ret->number + ret->n > r->stream->limit)
		ret->n = (uint32_t)(r->stream->limit - ret->number);
	if (r->columns && ret->n == b->slots) {
		if (sp_payload_columns(r->columns, r->starts_of, b->slots, r->payload,
				       b->payload_bytes) < 0)
			return false;
		if (!r->columns->has_starts)
			r->columns->end_ticks = b->end_ticks;
		return true;
	}
	if (sp_payload_decode(r->slots, b->slots, r->payload, b->payload_bytes) < 0)
		return false;
	if (r->columns)
		sp_columns_take(r->columns, ret->slots, ret->n);
	return true;
}

/* Returns true where the block gives a batch. */
static bool take_block(struct sp_reader *r, const struct sp_unit *u, struct sp_batch *ret)
{
	const struct sp_block_header *b = &u->block;
	uint64_t end = b->first_index + b->slots;

	if (end <= r->next || b->first_index >= r->stream->limit)
		return false;
	if (r->want && !r->want(r->context, b)) {
		r->passed += end - (b->first_index > r->next ? b->first_index : r->next);
		r->next = end;
		return false;
	}
	if (u->cut || !read_payload(r, u) || !decode_block(r, b, ret)) {
		if (!u->cut) /* the index has reported blocks that are cut */
			report(r, u->at, u->bytes);
		return false;
	}
	r->next = ret->number + ret->n;
	return true;
}

static bool open_segment(struct sp_reader *r)
{
	if (sp_source_open(&r->source, path_of(r, r->segment), AHEAD_BYTES) < 0) {
		report(r, r->segment->at, 0);
		return false;
	}
	sp_walk_init(&r->walk, &r->source, r->segment->at);
	r->segment_is_open = true;
	return true;
}

static bool next_of_segment(struct sp_reader *r, struct sp_batch *ret)
{
	struct sp_unit unit;

	if (!r->segment_is_open && !open_segment(r))
		return false;
	while (sp_walk_next(&r->walk, &unit) > 0 && is_of_stream(&unit, r->stream->id))
		if (unit.kind == SP_UNIT_BLOCK && take_block(r, &unit, ret))
			return true;
	return false;
}

/* From other copies of the window. They take the place of the one that was read. */
static void fill_holes(struct sp_reader *r, uint64_t from, uint32_t n, uint32_t holes)
{
	const struct sp_segment *used = r->window_of;

	for (const struct sp_segment *g = r->stream->segments; g && holes; g = g->next) {
		if (g == used || g->window_at == UINT64_MAX || g->limit <= from)
			continue;
		r->window_of = g;
		r->has_window = read_window(r, g);
		if (r->has_window)
			holes -= sp_window_fill(&r->window, g->limit, from, n, r->slots);
	}
}

static bool next_of_window(struct sp_reader *r, struct sp_batch *ret)
{
	uint64_t from = r->next, capacity = r->window.header.capacity;

	if (!r->has_window || from >= r->stream->limit)
		return false;
	if (from < r->window.header.first_index)
		from = r->window.header.first_index;
	if (r->stream->limit > capacity && from < r->stream->limit - capacity)
		from = r->stream->limit - capacity;
	if (from >= r->stream->limit)
		return false;
	*ret = (struct sp_batch){r->slots, (uint32_t)(r->stream->limit - from), from, r->columns};
	fill_holes(r, from, ret->n, ret->n - sp_window_slots(&r->window, from, ret->n, r->slots));
	if (r->columns)
		sp_columns_take(r->columns, r->slots, ret->n);
	r->next = r->stream->limit;
	return true;
}

bool sp_reader_next(struct sp_reader *r, struct sp_batch *ret)
{
	bool more = false;

	while (!more && r->segment) {
		more = next_of_segment(r, ret);
		if (!more) {
			r->segment = r->segment->next;
			r->segment_is_open = false;
		}
	}
	if (!more)
		more = next_of_window(r, ret);
	r->given += more ? ret->n : 0;
	if (more && r->index->progress)
		sp_progress_share(r->index->progress, ret->n);
	return more;
}

struct sp_reader_mark sp_reader_mark(const struct sp_reader *r)
{
	uint64_t at = r->segment && r->segment_is_open ? r->walk.at : 0;

	return (struct sp_reader_mark){r->segment, at, r->next, r->given};
}

void sp_reader_resume(struct sp_reader *r, const struct sp_index *index,
		      const struct sp_stream *stream, const struct sp_reader_mark *mark)
{
	begin(r, index, stream);
	r->segment = mark->segment;
	r->next = mark->next;
	r->given = mark->given;
	if (mark->at && open_segment(r))
		r->walk.at = mark->at;
}

uint64_t sp_reader_missing(const struct sp_reader *r)
{
	return r->stream->limit - r->given - r->passed;
}
