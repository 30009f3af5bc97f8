/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/events/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/reader/clock_convert.h"

struct sp_merge_cursor {
	int64_t key_ns; /* end of the event at `at`; before the first batch,
			   when the thread began */
	uint32_t stream;
	bool is_begun;
	struct sp_reader_mark mark;
	struct sp_slot *slots;
	uint32_t n, at, room;
};

static const struct sp_clock *clock_of(const struct sp_merge *m, uint32_t stream)
{
	return &sp_run_host(&m->report->run, stream)->clock;
}

static bool is_before(const struct sp_merge_cursor *a, const struct sp_merge_cursor *b)
{
	return a->key_ns != b->key_ns ? a->key_ns < b->key_ns : a->stream < b->stream;
}

static void sink(struct sp_merge *m, uint32_t i)
{
	struct sp_merge_cursor *moving = m->heap[i];

	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= m->count)
			break;
		if (child + 1 < m->count && is_before(m->heap[child + 1], m->heap[child]))
			child++;
		if (!is_before(m->heap[child], moving))
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = moving;
}

int sp_merge_init(struct sp_merge *m, const struct sp_report *report)
{
	uint32_t n = report->run.index.stream_count;

	*m = (struct sp_merge){.report = report};
	m->cursors = calloc(n + 1u, sizeof(*m->cursors));
	m->heap = calloc(n + 1u, sizeof(*m->heap));
	if (sp_reader_init(&m->reader) < 0 || !m->cursors || !m->heap)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		struct sp_merge_cursor *c = &m->cursors[i];
		int64_t end;

		c->stream = i;
		sp_stream_life(&report->run, &report->totals, i, &c->key_ns, &end);
		if (sp_run_selects(&report->run, i))
			m->heap[m->count++] = c;
	}
	for (uint32_t i = m->count / 2; i-- > 0;)
		sink(m, i);
	return 0;
}

void sp_merge_finish(struct sp_merge *m)
{
	for (uint32_t i = 0; m->cursors && i < m->report->run.index.stream_count; i++)
		free(m->cursors[i].slots);
	free(m->cursors);
	free(m->heap);
	sp_reader_finish(&m->reader);
}

static bool is_event(const struct sp_slot *slot)
{
	uint32_t kind = sp_commit_kind(slot->commit);

	return kind != SP_KIND_HOLE && kind < SP_KIND_DEFINE;
}

/* Keeps the slots from `at` on (an event that waits for its EXTRA slot) and adds the next batch. */
static int load(struct sp_merge *m, struct sp_merge_cursor *c)
{
	struct sp_stream *stream = m->report->run.index.streams[c->stream];
	uint32_t kept = c->n - c->at;
	struct sp_batch batch;
	bool more;

	if (c->is_begun)
		sp_reader_resume(&m->reader, &m->report->run.index, stream, &c->mark);
	else
		sp_reader_open(&m->reader, &m->report->run.index, stream);
	c->is_begun = true;
	more = sp_reader_next(&m->reader, &batch);
	c->mark = sp_reader_mark(&m->reader);
	if (!more)
		return 0;
	if (kept + batch.n > c->room) {
		struct sp_slot *slots = malloc((kept + batch.n) * sizeof(*slots));

		if (!slots)
			return -ENOMEM;
		if (kept)
			memcpy(slots, c->slots + c->at, kept * sizeof(*slots));
		free(c->slots);
		c->slots = slots;
		c->room = kept + batch.n;
	} else if (kept) {
		memmove(c->slots, c->slots + c->at, kept * sizeof(*c->slots));
	}
	if (batch.n) /* else there may be no slots to point to yet */
		memcpy(c->slots + kept, batch.slots, batch.n * sizeof(*c->slots));
	c->at = 0;
	c->n = kept + batch.n;
	return 1;
}

/* Moves to the next event. Returns 1, 0 where the stream has no more, or -ENOMEM. */
static int move_to_event(struct sp_merge *m, struct sp_merge_cursor *c)
{
	for (;;) {
		int r;

		while (c->at < c->n && !is_event(&c->slots[c->at]))
			c->at++;
		if (c->at + 1 < c->n)
			return 1;
		/* the last slot may be an event whose EXTRA slot comes with the next batch */
		r = load(m, c);
		if (r < 0)
			return r;
		if (r == 0)
			return c->at < c->n;
	}
}

static int64_t end_ns(const struct sp_merge *m, const struct sp_merge_cursor *c)
{
	const struct sp_slot *slot = &c->slots[c->at];

	return sp_clock_realtime_ns(clock_of(m, c->stream), slot->start + slot->ticks);
}

/* Puts the cursor that stands first back where it belongs, or drops it. */
static int advance(struct sp_merge *m)
{
	struct sp_merge_cursor *c = m->heap[0];
	int r = move_to_event(m, c);

	if (r < 0)
		return r;
	if (r == 0) {
		free(c->slots);
		c->slots = NULL;
		m->heap[0] = m->heap[--m->count];
	} else {
		c->key_ns = end_ns(m, c);
	}
	if (m->count)
		sink(m, 0);
	return 0;
}

int sp_merge_next(struct sp_merge *m, struct sp_merged *ret)
{
	const struct sp_slot *slot;
	struct sp_merge_cursor *c;
	bool has_extra;
	int r = 0;

	if (m->last) {
		m->last->at++;
		m->last = NULL;
		r = advance(m);
	}
	while (r == 0 && m->count && !m->heap[0]->is_begun)
		r = advance(m);
	if (r < 0 || m->count == 0)
		return r;
	c = m->last = m->heap[0];
	slot = &c->slots[c->at];
	has_extra = c->at + 1 < c->n && sp_commit_kind(slot[1].commit) == SP_KIND_EXTRA;
	*ret = (struct sp_merged){
		.stream = c->stream,
		.slot = slot,
		.extra = has_extra ? slot + 1 : NULL,
		.start_ns = sp_clock_realtime_ns(clock_of(m, c->stream), slot->start),
		.dur_ns = sp_clock_span_ns(clock_of(m, c->stream)->ns_per_tick, slot->ticks),
	};
	return 1;
}
