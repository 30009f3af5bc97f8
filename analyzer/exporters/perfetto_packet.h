/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perfetto's protobuf: a stream of TracePacket. Field numbers are those of its public schema
 * (protos/perfetto/trace/perfetto_trace.proto); tests/report/exports/perfetto.proto has the ones
 * used here. Functions return 0 or -errno where they write; what is open in a packet is closed
 * before the packet ends.
 */
#ifndef STAGEPROF_ANALYZER_PERFETTO_PACKET_H
#define STAGEPROF_ANALYZER_PERFETTO_PACKET_H

#include "analyzer/exporters/proto.h"
#include "analyzer/exporters/tracks.h"

enum { TRACE_PACKET = 1 };

enum { /* TracePacket */
       PACKET_CLOCKS = 6,
       PACKET_TIME = 8,
       PACKET_SEQUENCE = 10,
       PACKET_EVENT = 11,
       PACKET_INTERNED = 12,
       PACKET_FLAGS = 13,
       PACKET_DEFAULTS = 59,
       PACKET_DESCRIPTOR = 60,
};

enum { DEFAULTS_CLOCK = 58 };
enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { CLOCKS_CLOCK = 1, CLOCKS_PRIMARY = 2, CLOCK_ID = 1, CLOCK_TIME = 2 };
enum { BUILTIN_REALTIME = 1, BUILTIN_MONOTONIC = 3 };
enum { INTERNED_CATEGORY = 1, INTERNED_NAME = 2, INTERNED_ANNOTATION = 3, INTERNED_VALUE = 29 };
enum { INTERNED_ID = 1, INTERNED_TEXT = 2 };

enum { /* TrackDescriptor */
       TRACK_UUID = 1,
       TRACK_NAME = 2,
       TRACK_PROCESS = 3,
       TRACK_THREAD = 4,
       TRACK_PARENT = 5,
       TRACK_COUNTER = 8,
};

enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { COUNTER_UNIT = 3, UNIT_BYTES = 3 };

enum { /* TrackEvent */
       EVENT_CATEGORY = 3,
       EVENT_ANNOTATION = 4,
       EVENT_TYPE = 9,
       EVENT_NAME = 10,
       EVENT_TRACK = 11,
       EVENT_NAME_TEXT = 23,
       EVENT_COUNTER = 30,
       EVENT_FLOW = 47,
       EVENT_FLOW_END = 48,
};

enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum { /* DebugAnnotation */
       ANNOTATION_NAME = 1,
       ANNOTATION_UINT = 3,
       ANNOTATION_INT = 4,
       ANNOTATION_TEXT = 6,
       ANNOTATION_VALUE = 17,
};

/* Names of annotations, and their numbers. */
enum sp_perfetto_argument {
	ARG_BYTES = 1,
	ARG_RESULT,
	ARG_FILE,
	ARG_EVENT,
	ARG_WIDTH,
	ARG_HEIGHT,
	ARG_INSIDE,
	ARG_EPOCH,
	ARG_KIND,
	ARG_LOST,
	ARG_EVENTS,
	ARG_MISSING,
	ARG_VERSION,
	ARG_LINES,
	ARG_DATA_SET,
	ARG_CORRELATION,
	ARGS
};

enum sp_perfetto_tag { TAG_RUN = 1, TAG_PROCESS, TAG_TRACK, TAG_STEPS, TAG_COUNTER, TAG_GPU };

#define GPU_STREAMS_MAX 256u /* tracks that are remembered as described; others are again */

struct sp_perfetto {
	struct sp_export *export;
	struct sp_tracks tracks;
	uint8_t *labels, *files, *kinds;       /* bits: which are interned */
	uint8_t *trainers;		       /* bits: whose steps have a track */
	uint16_t *lanes;		       /* bits, by track: which are described */
	uint64_t gpu_streams[GPU_STREAMS_MAX]; /* tracks that are described */
	uint32_t gpu_stream_count;
	struct sp_proto packet;
};

static inline uint64_t sp_perfetto_uuid(enum sp_perfetto_tag tag, uint32_t number, uint32_t lane)
{
	return (uint64_t)tag << 60 | (uint64_t)number << 32 | lane;
}

static inline uint64_t sp_perfetto_track_uuid(uint32_t track, uint32_t lane)
{
	return sp_perfetto_uuid(TAG_TRACK, track, lane);
}

static inline bool sp_perfetto_is_new(uint8_t *bits, uint32_t i)
{
	bool is_set = bits[i / 8] >> i % 8 & 1;

	bits[i / 8] |= (uint8_t)(1 << i % 8);
	return !is_set;
}

/* A packet with its time, and its end, which writes it. */
struct sp_proto *sp_perfetto_begin_at(struct sp_perfetto *f, int64_t at_ns);
int sp_perfetto_end(struct sp_perfetto *f);

/* Writes the packets that all others build on: the relations of the clocks, and the predefined
 * names. */
int sp_perfetto_write_clocks(struct sp_perfetto *f);
int sp_perfetto_write_state(struct sp_perfetto *f);

/* Writes any bytes as UTF-8, escaped. */
void sp_perfetto_put_text(struct sp_proto *p, uint32_t field, const char *text, size_t bytes);
void sp_perfetto_put_interned(struct sp_proto *p, uint32_t field, uint32_t id, const char *text,
			      size_t bytes);

void sp_perfetto_put_argument(struct sp_proto *p, enum sp_perfetto_argument arg, uint32_t field,
			      uint64_t value);
void sp_perfetto_put_text_argument(struct sp_proto *p, enum sp_perfetto_argument arg,
				   const char *text);

/* Return the mark to close. */
size_t sp_perfetto_open_event(struct sp_proto *p, uint32_t type, uint64_t track);
size_t sp_perfetto_open_descriptor(struct sp_perfetto *f, uint64_t track, uint64_t parent);

int sp_perfetto_write_end(struct sp_perfetto *f, int64_t at_ns, uint64_t track);
int sp_perfetto_end_named(struct sp_perfetto *f, size_t mark, const char *name);

#endif
