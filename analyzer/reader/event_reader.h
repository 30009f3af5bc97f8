/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of one stream, each with its EXTRA slot. Holes, definitions and events of kinds that
 * this version does not know are left out.
 */
#ifndef STAGEPROF_ANALYZER_EVENT_READER_H
#define STAGEPROF_ANALYZER_EVENT_READER_H

#include "analyzer/reader/clock_convert.h"
#include "analyzer/reader/reader.h"
#include "trace/events.h"

/* Events count that start at or after `from` and before `to`. */
struct sp_tick_range {
	uint64_t from_ticks, to_ticks;
};

struct sp_read_event {
	const struct sp_slot *slot;
	const struct sp_slot *extra; /* NULL: it has none, or lost it */
	const struct sp_event_info *info;
	uint32_t kind;
};

struct sp_event_reader {
	/* Set by the caller between open and next; they leave out no event otherwise. */
	const bool *wants; /* by kind, SP_EVENT_KINDS; NULL: all */
	struct sp_tick_range span;

	const struct sp_clock *clock; /* of the stream's host */
	struct sp_reader *reader;
	struct sp_batch batch;
	uint32_t at;
	struct sp_slot last; /* of the batch before; its EXTRA slot may begin this one */
	bool has_last;
};

/* Begins a stream; the reader is the caller's and serves one event reader at a time. */
void sp_event_reader_open(struct sp_event_reader *e, struct sp_reader *reader,
			  const struct sp_index *index, struct sp_stream *stream);

/* Returns true and an event, whose slots are valid until the next call, or false at the end. */
bool sp_event_reader_next(struct sp_event_reader *e, struct sp_read_event *ret);

/* CLOCK_REALTIME. The end may lie before the start, because the counters of two processors may
 * differ. */
static inline int64_t sp_event_start_ns(const struct sp_event_reader *e,
					const struct sp_read_event *event)
{
	return sp_clock_realtime_ns(e->clock, event->slot->start);
}

static inline int64_t sp_event_end_ns(const struct sp_event_reader *e,
				      const struct sp_read_event *event)
{
	return sp_clock_realtime_ns(e->clock, event->slot->start + event->slot->ticks);
}

#endif
