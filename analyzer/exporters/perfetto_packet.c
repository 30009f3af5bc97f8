/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/exporters/perfetto_packet.h"

#include <string.h>

#include "analyzer/text/text.h"

#define TEXT_BYTES 4096u
#define SEQUENCE 1u

static const char *const arguments[ARGS] = {
	[ARG_BYTES] = "bytes",	     [ARG_RESULT] = "result",
	[ARG_FILE] = "file",	     [ARG_EVENT] = "event",
	[ARG_WIDTH] = "width",	     [ARG_HEIGHT] = "height",
	[ARG_INSIDE] = "inside_ns",  [ARG_EPOCH] = "epoch",
	[ARG_KIND] = "kind",	     [ARG_LOST] = "events_lost",
	[ARG_EVENTS] = "events",     [ARG_MISSING] = "slots_missing",
	[ARG_VERSION] = "stageprof", [ARG_LINES] = "lines",
	[ARG_DATA_SET] = "data_set", [ARG_CORRELATION] = "correlation",
};

void sp_perfetto_put_text(struct sp_proto *p, uint32_t field, const char *text, size_t bytes)
{
	char safe[TEXT_BYTES];

	sp_text_escape(safe, sizeof(safe), text, bytes);
	sp_proto_bytes(p, field, safe, strlen(safe));
}

static struct sp_proto *begin(struct sp_perfetto *f)
{
	sp_proto_begin(&f->packet);
	sp_proto_number(&f->packet, PACKET_SEQUENCE, SEQUENCE);
	return &f->packet;
}

struct sp_proto *sp_perfetto_begin_at(struct sp_perfetto *f, int64_t at_ns)
{
	struct sp_proto *p = begin(f);

	sp_proto_number(p, PACKET_TIME, at_ns > 0 ? (uint64_t)at_ns : 0);
	sp_proto_number(p, PACKET_FLAGS, FLAG_NEEDS_STATE);
	return p;
}

int sp_perfetto_end(struct sp_perfetto *f)
{
	return sp_proto_write(&f->packet, TRACE_PACKET, f->export->file);
}

void sp_perfetto_put_interned(struct sp_proto *p, uint32_t field, uint32_t id, const char *text,
			      size_t bytes)
{
	size_t mark = sp_proto_open(p, field);

	sp_proto_number(p, INTERNED_ID, id);
	sp_perfetto_put_text(p, INTERNED_TEXT, text, bytes);
	sp_proto_close(p, mark);
}

static void put_clock(struct sp_proto *p, uint32_t id, uint64_t ns)
{
	size_t mark = sp_proto_open(p, CLOCKS_CLOCK);

	sp_proto_number(p, CLOCK_ID, id);
	sp_proto_number(p, CLOCK_TIME, ns);
	sp_proto_close(p, mark);
}

int sp_perfetto_write_clocks(struct sp_perfetto *f)
{
	const struct sp_index *index = &f->export->report->run.index;
	struct sp_proto *p = begin(f);
	size_t mark = sp_proto_open(p, PACKET_CLOCKS);
	const struct sp_clock_point *point =
		index->host_count ? &index->hosts[0].clock.first : NULL;

	put_clock(p, BUILTIN_REALTIME, point ? (uint64_t)point->realtime_ns : 0);
	put_clock(p, BUILTIN_MONOTONIC, point ? (uint64_t)point->monotonic_ns : 0);
	sp_proto_number(p, CLOCKS_PRIMARY, BUILTIN_REALTIME);
	sp_proto_close(p, mark);
	return sp_perfetto_end(f);
}

int sp_perfetto_write_state(struct sp_perfetto *f)
{
	struct sp_proto *p = begin(f);
	size_t mark;

	sp_proto_number(p, PACKET_FLAGS, FLAG_CLEARED);
	mark = sp_proto_open(p, PACKET_DEFAULTS);
	sp_proto_number(p, DEFAULTS_CLOCK, BUILTIN_REALTIME);
	sp_proto_close(p, mark);
	mark = sp_proto_open(p, PACKET_INTERNED);
	for (uint32_t i = 0; i < SP_STAGES; i++) {
		const char *name = sp_stage_name((enum sp_stage)i);

		sp_perfetto_put_interned(p, INTERNED_CATEGORY, i + 1, name, strlen(name));
	}
	for (uint32_t i = 1; i < ARGS; i++)
		sp_perfetto_put_interned(p, INTERNED_ANNOTATION, i, arguments[i],
					 strlen(arguments[i]));
	sp_proto_close(p, mark);
	return sp_perfetto_end(f);
}

void sp_perfetto_put_argument(struct sp_proto *p, enum sp_perfetto_argument arg, uint32_t field,
			      uint64_t value)
{
	size_t mark = sp_proto_open(p, EVENT_ANNOTATION);

	sp_proto_number(p, ANNOTATION_NAME, arg);
	sp_proto_number(p, field, value);
	sp_proto_close(p, mark);
}

void sp_perfetto_put_text_argument(struct sp_proto *p, enum sp_perfetto_argument arg,
				   const char *text)
{
	size_t mark = sp_proto_open(p, EVENT_ANNOTATION);

	sp_proto_number(p, ANNOTATION_NAME, arg);
	sp_proto_bytes(p, ANNOTATION_TEXT, text, strlen(text));
	sp_proto_close(p, mark);
}

size_t sp_perfetto_open_event(struct sp_proto *p, uint32_t type, uint64_t track)
{
	size_t mark = sp_proto_open(p, PACKET_EVENT);

	sp_proto_number(p, EVENT_TYPE, type);
	sp_proto_number(p, EVENT_TRACK, track);
	return mark;
}

int sp_perfetto_write_end(struct sp_perfetto *f, int64_t at_ns, uint64_t track)
{
	struct sp_proto *p = sp_perfetto_begin_at(f, at_ns);

	sp_proto_close(p, sp_perfetto_open_event(p, TYPE_END, track));
	return sp_perfetto_end(f);
}

size_t sp_perfetto_open_descriptor(struct sp_perfetto *f, uint64_t track, uint64_t parent)
{
	struct sp_proto *p = begin(f);
	size_t mark = sp_proto_open(p, PACKET_DESCRIPTOR);

	sp_proto_number(p, TRACK_UUID, track);
	if (parent)
		sp_proto_number(p, TRACK_PARENT, parent);
	return mark;
}

int sp_perfetto_end_named(struct sp_perfetto *f, size_t mark, const char *name)
{
	sp_perfetto_put_text(&f->packet, TRACK_NAME, name, strlen(name));
	sp_proto_close(&f->packet, mark);
	return sp_perfetto_end(f);
}
