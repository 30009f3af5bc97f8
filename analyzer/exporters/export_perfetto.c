/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/symbols/demangle.h"
#include "analyzer/exporters/export.h"
#include "analyzer/exporters/perfetto_packet.h"
#include "analyzer/exporters/perfetto_tracks.h"
#include "analyzer/training/step_stats.h"

#define LABEL_ID (1u << 20)		/* of the first label; below: kinds */
#define FLOW_TO_GPU (UINT64_C(1) << 63) /* beside those of batches */

static int write_step(void *context, const struct sp_tracks_step *step)
{
	struct sp_perfetto *f = context;
	uint64_t track = sp_perfetto_uuid(TAG_STEPS, step->trainer, 0);
	struct sp_proto *p;
	char name[64];
	size_t mark;
	int r = sp_perfetto_write_steps_track(f, step);

	if (r < 0)
		return r;
	if (step->step)
		snprintf(name, sizeof(name), "step %u", step->number);
	else
		snprintf(name, sizeof(name), "%s",
			 step->is_validation ? "validation" : "between steps");
	p = sp_perfetto_begin_at(f, step->start_ns);
	mark = sp_perfetto_open_event(p, TYPE_BEGIN, track);
	sp_proto_bytes(p, EVENT_NAME_TEXT, name, strlen(name));
	if (step->step) {
		sp_perfetto_put_argument(p, ARG_EPOCH, ANNOTATION_UINT, step->step->epoch);
		sp_perfetto_put_text_argument(p, ARG_KIND,
					      sp_step_kind_name(
						      (enum sp_step_kind)step->step->kind));
	}
	sp_proto_close(p, mark);
	r = sp_perfetto_end(f);
	if (r < 0)
		return r;
	return sp_perfetto_write_end(f,
				     step->end_ns > step->start_ns ? step->end_ns : step->start_ns,
				     track);
}

/* Adds the strings that the event is the first to use. Returns the id of its name. */
static uint32_t intern(struct sp_perfetto *f, struct sp_proto *p, const struct sp_record *record)
{
	const struct sp_report *report = f->export->report;
	bool has_label = sp_record_is_named(record) && record->label != SP_STRINGS_REST;
	uint32_t id = has_label ? LABEL_ID + record->label : record->kind + 1;
	bool new_name = has_label ? sp_perfetto_is_new(f->labels, record->label)
				  : record->kind >= SP_EVENT_KINDS ||
					    sp_perfetto_is_new(f->kinds, record->kind);
	bool new_file =
		record->file != SP_STRINGS_REST && sp_perfetto_is_new(f->files, record->file);
	char room[SP_RECORD_NAME_BYTES], plain[SP_DEMANGLED_BYTES];
	const char *text;
	size_t bytes, mark;

	if (!new_name && !new_file)
		return id;
	mark = sp_proto_open(p, PACKET_INTERNED);
	if (new_name) {
		text = sp_record_name(report, record, room, &bytes);
		if (record->stage == SP_STAGE_gpu_kernel)
			text = sp_demangle(text, &bytes, plain);
		sp_perfetto_put_interned(p, INTERNED_NAME, id, text, bytes);
	}
	if (new_file) {
		text = sp_record_file(report, record, &bytes);
		sp_perfetto_put_interned(p, INTERNED_VALUE, record->file, text, bytes);
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
		sp_perfetto_put_argument(p, ARG_BYTES, ANNOTATION_UINT, (uint64_t)record->value);
	else if (means == SP_VALUE_LINES && record->value >= 0)
		sp_perfetto_put_argument(p, ARG_LINES, ANNOTATION_UINT, (uint64_t)record->value);
	else if (means != SP_VALUE_NONE && means != SP_VALUE_PHASE)
		sp_perfetto_put_argument(p, ARG_RESULT, ANNOTATION_INT, (uint64_t)record->value);
}

static void put_arguments(struct sp_perfetto *f, struct sp_proto *p, const struct sp_record *record)
{
	char room[SP_RECORD_KIND_BYTES];
	const char *text;
	size_t bytes, mark;

	put_value(p, record);
	if (record->correlation)
		sp_perfetto_put_argument(p, ARG_CORRELATION, ANNOTATION_UINT, record->correlation);
	if (sp_record_is_named(record))
		sp_perfetto_put_text_argument(p, ARG_EVENT, sp_record_kind(record, room));
	if (record->has_image) {
		sp_perfetto_put_argument(p, ARG_WIDTH, ANNOTATION_UINT, record->width);
		sp_perfetto_put_argument(p, ARG_HEIGHT, ANNOTATION_UINT, record->height);
		sp_perfetto_put_argument(p, ARG_INSIDE, ANNOTATION_UINT, record->inside_ns);
	}
	if (record->file != SP_STRINGS_REST) {
		sp_perfetto_put_argument(p, ARG_FILE, ANNOTATION_VALUE, record->file);
		return;
	}
	text = sp_record_file(f->export->report, record, &bytes);
	if (!text)
		return;
	mark = sp_proto_open(p, EVENT_ANNOTATION);
	sp_proto_number(p, ANNOTATION_NAME, ARG_DATA_SET);
	sp_perfetto_put_text(p, ANNOTATION_TEXT, text, bytes);
	sp_proto_close(p, mark);
}

static void put_flow(struct sp_perfetto *f, struct sp_proto *p, const struct sp_tracks_slice *slice)
{
	const struct sp_record *record = slice->record;
	uint64_t image = f->export->report->run.index.streams[record->stream]->image;

	if (slice->batch)
		sp_proto_fixed64(p, EVENT_FLOW, slice->batch);
	if (record->correlation)
		sp_proto_fixed64(p, record->is_gpu ? EVENT_FLOW_END : EVENT_FLOW,
				 FLOW_TO_GPU | image << 32 | record->correlation);
}

static int write_slice(void *context, const struct sp_tracks_slice *slice)
{
	struct sp_perfetto *f = context;
	const struct sp_record *record = slice->record;
	uint64_t track = record->is_gpu ? sp_perfetto_gpu_uuid(slice)
					: sp_perfetto_track_uuid(slice->track, slice->lane);
	struct sp_proto *p;
	uint32_t name;
	size_t mark;
	int r = record->is_gpu ? sp_perfetto_write_gpu_track(f, slice)
			       : sp_perfetto_write_lane(f, slice);

	if (r < 0)
		return r;
	p = sp_perfetto_begin_at(f, record->start_ns);
	name = intern(f, p, record);
	mark = sp_perfetto_open_event(p, TYPE_BEGIN, track);
	sp_proto_number(p, EVENT_CATEGORY, record->stage + 1u);
	sp_proto_number(p, EVENT_NAME, name);
	put_arguments(f, p, record);
	put_flow(f, p, slice);
	sp_proto_close(p, mark);
	r = sp_perfetto_end(f);
	return r < 0 ? r : sp_perfetto_write_end(f, sp_record_end_ns(record), track);
}

static int write_arrival(void *context, const struct sp_tracks_arrival *arrival)
{
	struct sp_perfetto *f = context;
	uint64_t track = sp_perfetto_uuid(TAG_STEPS, arrival->trainer, 0);
	struct sp_proto *p;
	size_t mark;
	int r;

	if (arrival->trainer == UINT32_MAX)
		return 0;
	p = sp_perfetto_begin_at(f, arrival->at_ns);
	mark = sp_perfetto_open_event(p, TYPE_BEGIN, track);
	sp_proto_bytes(p, EVENT_NAME_TEXT, "batch arrives", 13);
	sp_proto_fixed64(p, EVENT_FLOW_END, arrival->batch);
	sp_proto_close(p, mark);
	r = sp_perfetto_end(f);
	return r < 0 ? r : sp_perfetto_write_end(f, arrival->at_ns, track);
}

static int write_counter(void *context, uint32_t process, enum sp_tracks_counter counter,
			 int64_t at_ns, uint64_t bytes)
{
	struct sp_perfetto *f = context;
	struct sp_proto *p = sp_perfetto_begin_at(f, at_ns);
	size_t mark = sp_perfetto_open_event(p, TYPE_COUNTER,
					     sp_perfetto_uuid(TAG_COUNTER, process, counter));

	sp_proto_number(p, EVENT_COUNTER, bytes);
	sp_proto_close(p, mark);
	return sp_perfetto_end(f);
}

static const struct sp_tracks_sink sink = {
	.process = sp_perfetto_write_process,
	.track = sp_perfetto_write_track,
	.step = write_step,
	.slice = write_slice,
	.arrival = write_arrival,
	.counter = write_counter,
};

static int write_all(struct sp_perfetto *f)
{
	const struct sp_report *report = f->export->report;
	int r;

	f->labels = calloc(report->run.metadata.labels.count / 8 + 1u, 1);
	f->files = calloc(report->run.metadata.files.count / 8 + 1u, 1);
	f->kinds = calloc(SP_EVENT_KINDS / 8, 1);
	f->trainers = calloc(report->training.count / 8 + 1u, 1);
	f->lanes = calloc(f->tracks.track_count + 1u, sizeof(*f->lanes));
	if (!f->labels || !f->files || !f->kinds || !f->trainers || !f->lanes)
		return -ENOMEM;
	r = sp_perfetto_write_clocks(f);
	if (r == 0)
		r = sp_perfetto_write_state(f);
	if (r == 0)
		r = sp_perfetto_write_run(f);
	return r == 0 ? sp_tracks_run(&f->tracks) : r;
}

int sp_export_perfetto(struct sp_export *export)
{
	struct sp_perfetto *f = calloc(1, sizeof(*f));
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
