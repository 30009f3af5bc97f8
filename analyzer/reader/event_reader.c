/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/reader/event_reader.h"

void sp_event_reader_open(struct sp_event_reader *e, struct sp_reader *reader,
			  const struct sp_index *index, struct sp_stream *stream)
{
	*e = (struct sp_event_reader){
		.span = {0, UINT64_MAX},
		.clock = &index->hosts[index->images[stream->image].host].clock,
		.reader = reader,
	};
	sp_reader_open(reader, index, stream);
}

static bool is_wanted(const struct sp_event_reader *e, const struct sp_slot *slot)
{
	uint32_t kind = sp_commit_kind(slot->commit);

	return kind < SP_EVENT_KINDS && (!e->wants || e->wants[kind]) &&
	       slot->start >= e->span.from_ticks && slot->start < e->span.to_ticks &&
	       sp_event_info(kind)->name;
}

static struct sp_read_event event_of(const struct sp_slot *slot, const struct sp_slot *next)
{
	uint32_t kind = sp_commit_kind(slot->commit);
	bool has_extra = next && sp_commit_kind(next->commit) == SP_KIND_EXTRA;

	return (struct sp_read_event){slot, has_extra ? next : NULL, sp_event_info(kind), kind};
}

/* Keeps the last slot of a batch if it is an event. */
static bool next_in_batch(struct sp_event_reader *e, struct sp_read_event *ret)
{
	while (e->at < e->batch.n) {
		const struct sp_slot *slot = &e->batch.slots[e->at++];

		if (!is_wanted(e, slot))
			continue;
		if (e->at < e->batch.n) {
			*ret = event_of(slot, slot + 1);
			return true;
		}
		e->last = *slot;
		e->has_last = true;
	}
	return false;
}

bool sp_event_reader_next(struct sp_event_reader *e, struct sp_read_event *ret)
{
	uint64_t number;
	bool more = true;

	while (more) {
		if (next_in_batch(e, ret))
			return true;
		number = e->batch.number + e->batch.n;
		e->batch.n = e->at = 0;
		more = sp_reader_next(e->reader, &e->batch);
		if (e->has_last) {
			bool follows = more && e->batch.n && e->batch.number == number;

			e->has_last = false;
			*ret = event_of(&e->last, follows ? e->batch.slots : NULL);
			return true;
		}
	}
	return false;
}
