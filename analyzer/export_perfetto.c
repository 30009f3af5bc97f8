/*
 * Perfetto's protobuf: a stream of TracePacket. Field numbers are those of its public schema
 * (protos/perfetto/trace/perfetto_trace.proto); tests/exports/perfetto.proto has the ones used here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/demangle.h"
#include "analyzer/proto.h"
#include "analyzer/step_stats.h"
#include "analyzer/text.h"
#include "analyzer/tracks.h"

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
enum argument {
	ARG_BYTES = 1, ARG_RESULT, ARG_FILE, ARG_EVENT, ARG_WIDTH, ARG_HEIGHT, ARG_INSIDE, ARG_EPOCH,
	ARG_KIND, ARG_LOST, ARG_EVENTS, ARG_MISSING, ARG_VERSION, ARG_LINES, ARG_DATA_SET,
	ARG_CORRELATION, ARGS
};

static const char *const arguments[ARGS] = {
	[ARG_BYTES] = "bytes",	     [ARG_RESULT] = "result",	     [ARG_FILE] = "file",
	[ARG_EVENT] = "event",	     [ARG_WIDTH] = "width",	     [ARG_HEIGHT] = "height",
	[ARG_INSIDE] = "inside_ns",  [ARG_EPOCH] = "epoch",	     [ARG_KIND] = "kind",
	[ARG_LOST] = "events_lost",  [ARG_EVENTS] = "events",	     [ARG_MISSING] = "slots_missing",
	[ARG_VERSION] = "stageprof", [ARG_LINES] = "lines",	     [ARG_DATA_SET] = "data_set",
	[ARG_CORRELATION] = "correlation",
};

#define LABEL_ID (1u << 20) /* of the first label; below: kinds */
#define TEXT_BYTES 4096u
#define SEQUENCE 1u

enum tag { TAG_RUN = 1, TAG_PROCESS, TAG_TRACK, TAG_STEPS, TAG_COUNTER, TAG_GPU };

#define GPU_STREAMS_MAX 256u /* tracks that are remembered as described; others are again */
#define FLOW_TO_GPU (UINT64_C(1) << 63) /* beside those of batches */

struct perfetto {
	struct sp_export *export;
	struct sp_tracks tracks;
	uint8_t *labels, *files, *kinds; /* bits: which are interned */
	uint8_t *trainers;		 /* bits: whose steps have a track */
	uint16_t *lanes;		 /* bits, by track: which are described */
	uint64_t gpu_streams[GPU_STREAMS_MAX]; /* tracks that are described */
	uint32_t gpu_stream_count;
	struct sp_proto packet;
};

static uint64_t uuid(enum tag tag, uint32_t number, uint32_t lane)
{
	return (uint64_t)tag << 60 | (uint64_t)number << 32 | lane;
}

static uint64_t track_uuid(uint32_t track, uint32_t lane)
{
	return uuid(TAG_TRACK, track, lane);
}

static bool is_new(uint8_t *bits, uint32_t i)
{
	bool is_set = bits[i / 8] >> i % 8 & 1;

	bits[i / 8] |= (uint8_t)(1 << i % 8);
	return !is_set;
}

/* Any bytes, as UTF-8 that shows what it is. */
static void put_text(struct sp_proto *p, uint32_t field, const char *text, size_t bytes)
{
	char safe[TEXT_BYTES];

	sp_text_escape(safe, sizeof(safe), text, bytes);
	sp_proto_bytes(p, field, safe, strlen(safe));
}

static struct sp_proto *begin(struct perfetto *f)
{
	sp_proto_begin(&f->packet);
	sp_proto_number(&f->packet, PACKET_SEQUENCE, SEQUENCE);
	return &f->packet;
}

static struct sp_proto *begin_at(struct perfetto *f, int64_t at_ns)
{
	struct sp_proto *p = begin(f);

	sp_proto_number(p, PACKET_TIME, at_ns > 0 ? (uint64_t)at_ns : 0);
	sp_proto_number(p, PACKET_FLAGS, FLAG_NEEDS_STATE);
	return p;
}

static int end(struct perfetto *f)
{
	return sp_proto_write(&f->packet, TRACE_PACKET, f->export->file);
}

static void put_interned(struct sp_proto *p, uint32_t field, uint32_t id, const char *text, size_t bytes)
{
	size_t mark = sp_proto_open(p, field);

	sp_proto_number(p, INTERNED_ID, id);
	put_text(p, INTERNED_TEXT, text, bytes);
	sp_proto_close(p, mark);
}

static void put_clock(struct sp_proto *p, uint32_t id, uint64_t ns)
{
	size_t mark = sp_proto_open(p, CLOCKS_CLOCK);

	sp_proto_number(p, CLOCK_ID, id);
	sp_proto_number(p, CLOCK_TIME, ns);
	sp_proto_close(p, mark);
}

static int write_clocks(struct perfetto *f)
{
	const struct sp_index *index = &f->export->report->index;
	struct sp_proto *p = begin(f);
	size_t mark = sp_proto_open(p, PACKET_CLOCKS);
	const struct sp_clock_point *point = index->host_count ? &index->hosts[0].clock.first : NULL;

	put_clock(p, BUILTIN_REALTIME, point ? (uint64_t)point->realtime_ns : 0);
	put_clock(p, BUILTIN_MONOTONIC, point ? (uint64_t)point->monotonic_ns : 0);
	sp_proto_number(p, CLOCKS_PRIMARY, BUILTIN_REALTIME);
	sp_proto_close(p, mark);
	return end(f);
}

/* What all packets build on: the clock that they tell, and the names that are known beforehand. */
static int write_state(struct perfetto *f)
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

		put_interned(p, INTERNED_CATEGORY, i + 1, name, strlen(name));
	}
	for (uint32_t i = 1; i < ARGS; i++)
		put_interned(p, INTERNED_ANNOTATION, i, arguments[i], strlen(arguments[i]));
	sp_proto_close(p, mark);
	return end(f);
}

static void put_argument(struct sp_proto *p, enum argument arg, uint32_t field, uint64_t value)
{
	size_t mark = sp_proto_open(p, EVENT_ANNOTATION);

	sp_proto_number(p, ANNOTATION_NAME, arg);
	sp_proto_number(p, field, value);
	sp_proto_close(p, mark);
}

static void put_text_argument(struct sp_proto *p, enum argument arg, const char *text)
{
	size_t mark = sp_proto_open(p, EVENT_ANNOTATION);

	sp_proto_number(p, ANNOTATION_NAME, arg);
	sp_proto_bytes(p, ANNOTATION_TEXT, text, strlen(text));
	sp_proto_close(p, mark);
}

static size_t open_event(struct sp_proto *p, uint32_t type, uint64_t track)
{
	size_t mark = sp_proto_open(p, PACKET_EVENT);

	sp_proto_number(p, EVENT_TYPE, type);
	sp_proto_number(p, EVENT_TRACK, track);
	return mark;
}

static int write_end(struct perfetto *f, int64_t at_ns, uint64_t track)
{
	struct sp_proto *p = begin_at(f, at_ns);

	sp_proto_close(p, open_event(p, TYPE_END, track));
	return end(f);
}

static size_t open_descriptor(struct perfetto *f, uint64_t track, uint64_t parent)
{
	struct sp_proto *p = begin(f);
	size_t mark = sp_proto_open(p, PACKET_DESCRIPTOR);

	sp_proto_number(p, TRACK_UUID, track);
	if (parent)
		sp_proto_number(p, TRACK_PARENT, parent);
	return mark;
}

static int end_named(struct perfetto *f, size_t mark, const char *name)
{
	put_text(&f->packet, TRACK_NAME, name, strlen(name));
	sp_proto_close(&f->packet, mark);
	return end(f);
}

/* What the run lost is on its timeline, too. */
static int write_run(struct perfetto *f)
{
	const struct sp_report *report = f->export->report;
	int r = end_named(f, open_descriptor(f, uuid(TAG_RUN, 0, 0), 0), "stageprof");
	struct sp_proto *p;
	size_t mark;

	if (r < 0)
		return r;
	p = begin_at(f, report->begin_ns);
	mark = open_event(p, TYPE_INSTANT, uuid(TAG_RUN, 0, 0));
	sp_proto_bytes(p, EVENT_NAME_TEXT, "run", 3);
	put_text_argument(p, ARG_VERSION, f->export->version);
	put_argument(p, ARG_EVENTS, ANNOTATION_UINT, report->events);
	put_argument(p, ARG_LOST, ANNOTATION_UINT, report->lost);
	put_argument(p, ARG_MISSING, ANNOTATION_UINT, report->missing);
	sp_proto_close(p, mark);
	return end(f);
}

static int write_counter_track(struct perfetto *f, uint32_t process, enum sp_tracks_counter counter)
{
	static const char *const names[SP_TRACKS_COUNTERS] = {
		[SP_TRACKS_READ] = "bytes read in 100 ms",
		[SP_TRACKS_WRITTEN] = "bytes written in 100 ms",
	};
	size_t mark = open_descriptor(f, uuid(TAG_COUNTER, process, counter),
				      uuid(TAG_PROCESS, process, 0));
	size_t unit = sp_proto_open(&f->packet, TRACK_COUNTER);

	sp_proto_number(&f->packet, COUNTER_UNIT, UNIT_BYTES);
	sp_proto_close(&f->packet, unit);
	return end_named(f, mark, names[counter]);
}

/* Numbers of processes are those of one machine: processes of others are tracks by name. */
static int write_process(void *context, uint32_t process)
{
	struct perfetto *f = context;
	const struct sp_tracks_process *its = &f->tracks.processes[process];
	size_t bytes, mark = open_descriptor(f, uuid(TAG_PROCESS, process, 0), 0), inner;
	const char *name = sp_tracks_process_name(&f->tracks, process, &bytes);
	int r;

	if (its->host == 0) {
		inner = sp_proto_open(&f->packet, TRACK_PROCESS);
		sp_proto_number(&f->packet, PROCESS_PID, its->pid);
		put_text(&f->packet, PROCESS_NAME, name, bytes);
		sp_proto_close(&f->packet, inner);
		sp_proto_close(&f->packet, mark);
		r = end(f);
	} else {
		const struct sp_host *host = &f->export->report->index.hosts[its->host];
		char line[512];

		snprintf(line, sizeof(line), "%.*s: %.*s %u", (int)strnlen(host->name, sizeof(host->name)),
			 host->name, (int)bytes, name, its->pid);
		r = end_named(f, mark, line);
	}
	for (int i = 0; r == 0 && i < SP_TRACKS_COUNTERS; i++)
		r = write_counter_track(f, process, (enum sp_tracks_counter)i);
	return r;
}

static int write_track(void *context, uint32_t track)
{
	struct perfetto *f = context;
	const struct sp_tracks_thread *its = &f->tracks.tracks[track];
	const struct sp_tracks_process *process = &f->tracks.processes[its->process];
	const char *name = sp_report_thread_name(f->export->report, its->stream);
	size_t mark = open_descriptor(f, track_uuid(track, 0), uuid(TAG_PROCESS, its->process, 0));
	size_t inner;

	if (process->host != 0) {
		char line[128];

		snprintf(line, sizeof(line), "%s %u", name, its->tid);
		return end_named(f, mark, line);
	}
	inner = sp_proto_open(&f->packet, TRACK_THREAD);
	sp_proto_number(&f->packet, THREAD_PID, process->pid);
	sp_proto_number(&f->packet, THREAD_TID, its->tid);
	put_text(&f->packet, THREAD_NAME, name, strlen(name));
	sp_proto_close(&f->packet, inner);
	sp_proto_close(&f->packet, mark);
	return end(f);
}

static int write_steps_track(struct perfetto *f, const struct sp_tracks_step *step)
{
	if (!is_new(f->trainers, step->trainer))
		return 0;
	return end_named(f, open_descriptor(f, uuid(TAG_STEPS, step->trainer, 0), track_uuid(step->track, 0)),
			 "steps");
}

static int write_step(void *context, const struct sp_tracks_step *step)
{
	struct perfetto *f = context;
	uint64_t track = uuid(TAG_STEPS, step->trainer, 0);
	struct sp_proto *p;
	char name[64];
	size_t mark;
	int r = write_steps_track(f, step);

	if (r < 0)
		return r;
	if (step->step)
		snprintf(name, sizeof(name), "step %u", step->number);
	else
		snprintf(name, sizeof(name), "%s", step->pause->is_validation ? "validation" : "between steps");
	p = begin_at(f, step->start_ns);
	mark = open_event(p, TYPE_BEGIN, track);
	sp_proto_bytes(p, EVENT_NAME_TEXT, name, strlen(name));
	if (step->step) {
		put_argument(p, ARG_EPOCH, ANNOTATION_UINT, step->step->epoch);
		put_text_argument(p, ARG_KIND, sp_step_kind_name((enum sp_step_kind)step->step->kind));
	}
	sp_proto_close(p, mark);
	r = end(f);
	return r < 0 ? r
		     : write_end(f, step->end_ns > step->start_ns ? step->end_ns : step->start_ns, track);
}

static int write_lane(struct perfetto *f, const struct sp_tracks_slice *slice)
{
	if (slice->lane == 0)
		return 0;
	if (slice->lane < NEST_LANES_MAX) {
		if (f->lanes[slice->track] >> slice->lane & 1)
			return 0;
		f->lanes[slice->track] |= (uint16_t)(1u << slice->lane);
	}
	return end_named(f, open_descriptor(f, track_uuid(slice->track, slice->lane),
					    track_uuid(slice->track, 0)),
			 "overlapping");
}

/* Adds what the event refers to and no packet before did. Returns the id of its name. */
static uint32_t intern(struct perfetto *f, struct sp_proto *p, const struct sp_record *record)
{
	const struct sp_report *report = f->export->report;
	bool has_label = sp_record_is_named(record) && record->label != SP_NAMES_REST;
	uint32_t id = has_label ? LABEL_ID + record->label : record->kind + 1;
	bool new_name = has_label ? is_new(f->labels, record->label)
				  : record->kind >= SP_EVENT_KINDS || is_new(f->kinds, record->kind);
	bool new_file = record->file != SP_NAMES_REST && is_new(f->files, record->file);
	char room[SP_RECORD_KIND_BYTES], plain[SP_DEMANGLED_BYTES];
	const char *text;
	size_t bytes, mark;

	if (!new_name && !new_file)
		return id;
	mark = sp_proto_open(p, PACKET_INTERNED);
	if (new_name) {
		text = sp_record_name(report, record, room, &bytes);
		if (record->stage == SP_STAGE_gpu_kernel)
			text = sp_demangle(text, &bytes, plain);
		put_interned(p, INTERNED_NAME, id, text, bytes);
	}
	if (new_file) {
		text = sp_record_file(report, record, &bytes);
		put_interned(p, INTERNED_VALUE, record->file, text, bytes);
	}
	sp_proto_close(p, mark);
	return id;
}

static void put_value(struct sp_proto *p, const struct sp_record *record)
{
	enum sp_value means = (enum sp_value)sp_event_info(record->kind)->value;

	if (record->value == SP_VALUE_ABANDONED)
		return;
	if (sp_record_has_bytes(record))
		put_argument(p, ARG_BYTES, ANNOTATION_UINT, (uint64_t)record->value);
	else if (means == SP_VALUE_LINES && record->value >= 0)
		put_argument(p, ARG_LINES, ANNOTATION_UINT, (uint64_t)record->value);
	else if (means != SP_VALUE_NONE && means != SP_VALUE_PART)
		put_argument(p, ARG_RESULT, ANNOTATION_INT, (uint64_t)record->value);
}

static void put_arguments(struct perfetto *f, struct sp_proto *p, const struct sp_record *record)
{
	char room[SP_RECORD_KIND_BYTES];
	const char *text;
	size_t bytes, mark;

	put_value(p, record);
	if (record->correlation)
		put_argument(p, ARG_CORRELATION, ANNOTATION_UINT, record->correlation);
	if (sp_record_is_named(record))
		put_text_argument(p, ARG_EVENT, sp_record_kind(record, room));
	if (record->has_image) {
		put_argument(p, ARG_WIDTH, ANNOTATION_UINT, record->width);
		put_argument(p, ARG_HEIGHT, ANNOTATION_UINT, record->height);
		put_argument(p, ARG_INSIDE, ANNOTATION_UINT, record->inside_ns);
	}
	if (record->file != SP_NAMES_REST) {
		put_argument(p, ARG_FILE, ANNOTATION_VALUE, record->file);
		return;
	}
	text = sp_record_file(f->export->report, record, &bytes);
	if (!text)
		return;
	mark = sp_proto_open(p, EVENT_ANNOTATION);
	sp_proto_number(p, ANNOTATION_NAME, ARG_DATA_SET);
	put_text(p, ANNOTATION_TEXT, text, bytes);
	sp_proto_close(p, mark);
}

static uint64_t gpu_uuid(const struct sp_tracks_slice *slice)
{
	return uuid(TAG_GPU, slice->track,
		    slice->record->device << 24 | (slice->record->gpu_stream & 0xFFFFFF));
}

static int write_gpu_track(struct perfetto *f, const struct sp_tracks_slice *slice)
{
	uint32_t process = f->tracks.tracks[slice->track].process;
	uint64_t track = gpu_uuid(slice);
	char name[64];

	for (uint32_t i = 0; i < f->gpu_stream_count; i++)
		if (f->gpu_streams[i] == track)
			return 0;
	if (f->gpu_stream_count < GPU_STREAMS_MAX)
		f->gpu_streams[f->gpu_stream_count++] = track;
	snprintf(name, sizeof(name), "GPU %u stream %u", slice->record->device,
		 slice->record->gpu_stream);
	return end_named(f, open_descriptor(f, track, uuid(TAG_PROCESS, process, 0)), name);
}

static void put_flow(struct perfetto *f, struct sp_proto *p, const struct sp_tracks_slice *slice)
{
	const struct sp_record *record = slice->record;
	uint64_t image = f->export->report->index.streams[record->stream]->image;

	if (slice->batch)
		sp_proto_fixed64(p, EVENT_FLOW, slice->batch);
	if (record->correlation)
		sp_proto_fixed64(p, record->is_gpu ? EVENT_FLOW_END : EVENT_FLOW,
				 FLOW_TO_GPU | image << 32 | record->correlation);
}

static int write_slice(void *context, const struct sp_tracks_slice *slice)
{
	struct perfetto *f = context;
	const struct sp_record *record = slice->record;
	uint64_t track = record->is_gpu ? gpu_uuid(slice) : track_uuid(slice->track, slice->lane);
	struct sp_proto *p;
	uint32_t name;
	size_t mark;
	int r = record->is_gpu ? write_gpu_track(f, slice) : write_lane(f, slice);

	if (r < 0)
		return r;
	p = begin_at(f, record->start_ns);
	name = intern(f, p, record);
	mark = open_event(p, TYPE_BEGIN, track);
	sp_proto_number(p, EVENT_CATEGORY, record->stage + 1u);
	sp_proto_number(p, EVENT_NAME, name);
	put_arguments(f, p, record);
	put_flow(f, p, slice);
	sp_proto_close(p, mark);
	r = end(f);
	return r < 0 ? r : write_end(f, sp_record_end_ns(record), track);
}

static int write_arrival(void *context, const struct sp_tracks_arrival *arrival)
{
	struct perfetto *f = context;
	uint64_t track = uuid(TAG_STEPS, arrival->trainer, 0);
	struct sp_proto *p;
	size_t mark;
	int r;

	if (arrival->trainer == UINT32_MAX)
		return 0;
	p = begin_at(f, arrival->at_ns);
	mark = open_event(p, TYPE_BEGIN, track);
	sp_proto_bytes(p, EVENT_NAME_TEXT, "batch arrives", 13);
	sp_proto_fixed64(p, EVENT_FLOW_END, arrival->batch);
	sp_proto_close(p, mark);
	r = end(f);
	return r < 0 ? r : write_end(f, arrival->at_ns, track);
}

static int write_counter(void *context, uint32_t process, enum sp_tracks_counter counter,
			 int64_t at_ns, uint64_t bytes)
{
	struct perfetto *f = context;
	struct sp_proto *p = begin_at(f, at_ns);
	size_t mark = open_event(p, TYPE_COUNTER, uuid(TAG_COUNTER, process, counter));

	sp_proto_number(p, EVENT_COUNTER, bytes);
	sp_proto_close(p, mark);
	return end(f);
}

static const struct sp_tracks_sink sink = {
	.process = write_process,
	.track = write_track,
	.step = write_step,
	.slice = write_slice,
	.arrival = write_arrival,
	.counter = write_counter,
};

static int write_all(struct perfetto *f)
{
	const struct sp_report *report = f->export->report;
	int r;

	f->labels = calloc(report->facts.labels.count / 8 + 1u, 1);
	f->files = calloc(report->facts.files.count / 8 + 1u, 1);
	f->kinds = calloc(SP_EVENT_KINDS / 8, 1);
	f->trainers = calloc(report->training.count / 8 + 1u, 1);
	f->lanes = calloc(f->tracks.track_count + 1u, sizeof(*f->lanes));
	if (!f->labels || !f->files || !f->kinds || !f->trainers || !f->lanes)
		return -ENOMEM;
	r = write_clocks(f);
	if (r == 0)
		r = write_state(f);
	if (r == 0)
		r = write_run(f);
	return r == 0 ? sp_tracks_run(&f->tracks) : r;
}

int sp_export_perfetto(struct sp_export *export)
{
	struct perfetto *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return -ENOMEM;
	f->export = export;
	r = sp_tracks_init(&f->tracks, export, &sink, f);
	if (r == 0)
		r = write_all(f);
	sp_tracks_finish(&f->tracks);
	free(f->labels);
	free(f->files);
	free(f->kinds);
	free(f->trainers);
	free(f->lanes);
	free(f);
	return r;
}
