/*
 * Trace events as PyTorch's profiler (Kineto) writes them, so that what reads its files reads these: JSON in
 * gzip. Categories, ProfilerStep# and the keys of args are those that HolisticTraceAnalysis looks for.
 */
#include <errno.h>
#include <string.h>

#include "analyzer/gzip.h"
#include "analyzer/json.h"
#include "analyzer/step_stats.h"
#include "analyzer/text.h"
#include "analyzer/tracks.h"

#define SCHEMA_VERSION 1u
#define TEXT_BYTES 4096u

/* Numbers of processes and threads are below 2^22 on Linux. What is beside a thread, and processes of other
 * hosts, have numbers above. */
#define BESIDE (UINT64_C(1) << 23)
#define STEPS_LANE (UINT64_C(1) << 20)
#define BATCH_NAME "batch"

struct chrome {
	struct sp_export *export;
	struct sp_tracks tracks;
	struct sp_json json;
	uint64_t correlation;
};

static uint64_t pid_of(const struct chrome *f, uint32_t process)
{
	const struct sp_tracks_process *its = &f->tracks.processes[process];

	return its->pid + its->host * BESIDE;
}

static uint64_t tid_of(const struct chrome *f, uint32_t track, uint64_t lane)
{
	return f->tracks.tracks[track].tid + lane * BESIDE;
}

static void put_text(struct sp_json *j, const char *key, const char *text, size_t bytes)
{
	char safe[TEXT_BYTES];

	sp_text_escape(safe, sizeof(safe), text, bytes);
	sp_json_string(j, key, safe, strlen(safe));
}

static void put_word(struct sp_json *j, const char *key, const char *word)
{
	sp_json_string(j, key, word, strlen(word));
}

/* The event stays open. */
static void begin(struct chrome *f, const char *phase, uint32_t track, uint64_t lane, int64_t at_ns)
{
	struct sp_json *j = &f->json;

	sp_json_open(j, NULL, '{');
	put_word(j, "ph", phase);
	sp_json_count(j, "pid", pid_of(f, f->tracks.tracks[track].process));
	sp_json_count(j, "tid", tid_of(f, track, lane));
	sp_json_us(j, "ts", at_ns - f->export->report->begin_ns);
}

static void put_meta(struct chrome *f, uint32_t process, const uint64_t *tid, const char *what,
		     const char *text, size_t bytes)
{
	struct sp_json *j = &f->json;

	sp_json_open(j, NULL, '{');
	put_word(j, "ph", "M");
	put_word(j, "name", what);
	sp_json_count(j, "pid", pid_of(f, process));
	if (tid)
		sp_json_count(j, "tid", *tid);
	sp_json_open(j, "args", '{');
	put_text(j, "name", text, bytes);
	sp_json_close(j, '}');
	sp_json_close(j, '}');
}

static int write_process(void *context, uint32_t process)
{
	struct chrome *f = context;
	size_t bytes;
	const char *name = sp_tracks_process_name(&f->tracks, process, &bytes);

	put_meta(f, process, NULL, "process_name", name, bytes);
	return 0;
}

static void name_lane(struct chrome *f, uint32_t track, uint64_t lane, const char *more)
{
	const struct sp_tracks_thread *its = &f->tracks.tracks[track];
	uint64_t tid = tid_of(f, track, lane);
	char name[128];

	snprintf(name, sizeof(name), "%s %u%s", sp_report_thread_name(f->export->report, its->stream),
		 its->tid, more);
	put_meta(f, its->process, &tid, "thread_name", name, strlen(name));
}

static int write_track(void *context, uint32_t track)
{
	name_lane(context, track, 0, "");
	return 0;
}

static int write_step(void *context, const struct sp_tracks_step *step)
{
	struct chrome *f = context;
	struct sp_json *j = &f->json;
	uint64_t dur_ns = step->end_ns > step->start_ns ? (uint64_t)(step->end_ns - step->start_ns) : 0;
	char name[64];

	if (step->number == 0 && step->step)
		name_lane(f, step->track, STEPS_LANE, " steps");
	if (step->step)
		snprintf(name, sizeof(name), "ProfilerStep#%u", step->number);
	else
		snprintf(name, sizeof(name), "%s", step->pause->is_validation ? "validation" : "between steps");
	begin(f, "X", step->track, STEPS_LANE, step->start_ns);
	sp_json_us(j, "dur", (int64_t)dur_ns);
	put_word(j, "cat", "user_annotation");
	put_word(j, "name", name);
	if (step->step) {
		sp_json_open(j, "args", '{');
		sp_json_count(j, "epoch", step->step->epoch);
		put_word(j, "kind", sp_step_kind_name((enum sp_step_kind)step->step->kind));
		sp_json_close(j, '}');
	}
	sp_json_close(j, '}');
	return 0;
}

/* As Kineto calls it; the stage where Kineto has nothing like it. */
static const char *category(const struct sp_record *record)
{
	const struct sp_event_info *info = sp_event_info(record->kind);

	if (record->kind == SP_EV_torch_op || record->kind == SP_EV_torch_backward)
		return "cpu_op";
	if (record->stage == SP_STAGE_range)
		return "user_annotation";
	if (info->name && info->arg != SP_ARG_NONE && strncmp(info->name, "cuda", 4) == 0)
		return "cuda_runtime";
	if (info->name && info->arg != SP_ARG_NONE && strncmp(info->name, "cu", 2) == 0)
		return "cuda_driver";
	return sp_stage_name(record->stage);
}

static void put_value(struct sp_json *j, const struct sp_record *record)
{
	enum sp_value means = (enum sp_value)sp_event_info(record->kind)->value;

	if (record->value == SP_VALUE_ABANDONED || means == SP_VALUE_NONE || means == SP_VALUE_PART)
		return;
	sp_json_signed(j, sp_record_has_bytes(record) ? "bytes" : "result", record->value);
}

/* Numbers that stand for the call: nothing of a GPU carries them, for nothing on a GPU was observed. */
static void put_cuda(struct chrome *f, const struct sp_record *record)
{
	sp_json_count(&f->json, "correlation", ++f->correlation);
	if (sp_event_info(record->kind)->arg == SP_ARG_CUDA)
		sp_json_count(&f->json, "cuda_stream", record->arg >> 8);
}

static void put_arguments(struct chrome *f, const struct sp_record *record, const char *category)
{
	struct sp_json *j = &f->json;
	char room[SP_RECORD_KIND_BYTES];
	size_t bytes;
	const char *text = sp_record_file(f->export->report, record, &bytes);

	sp_json_open(j, "args", '{');
	put_word(j, "stage", sp_stage_name(record->stage));
	if (record->stage == SP_STAGE_range)
		put_word(j, "event", sp_record_kind(record, room));
	put_value(j, record);
	if (record->has_image) {
		sp_json_count(j, "width", record->width);
		sp_json_count(j, "height", record->height);
		sp_json_count(j, "inside_ns", record->inside_ns);
	}
	if (strncmp(category, "cuda_", 5) == 0)
		put_cuda(f, record);
	if (text)
		put_text(j, "file", text, bytes);
	sp_json_close(j, '}');
}

static void put_flow(struct chrome *f, const char *phase, uint32_t track, uint64_t lane, int64_t at_ns,
		     uint64_t batch)
{
	struct sp_json *j = &f->json;

	begin(f, phase, track, lane, at_ns);
	put_word(j, "cat", BATCH_NAME);
	put_word(j, "name", BATCH_NAME);
	sp_json_count(j, "id", batch);
	put_word(j, "bp", "e");
	sp_json_close(j, '}');
}

static int write_slice(void *context, const struct sp_tracks_slice *slice)
{
	struct chrome *f = context;
	const struct sp_record *record = slice->record;
	const char *cat = category(record), *name;
	char room[SP_RECORD_KIND_BYTES];
	size_t bytes;

	begin(f, "X", slice->track, slice->lane, record->start_ns);
	sp_json_us(&f->json, "dur", (int64_t)record->dur_ns);
	put_word(&f->json, "cat", cat);
	name = sp_record_name(f->export->report, record, room, &bytes);
	put_text(&f->json, "name", name, bytes);
	put_arguments(f, record, cat);
	sp_json_close(&f->json, '}');
	if (slice->batch)
		put_flow(f, "s", slice->track, slice->lane, sp_record_end_ns(record), slice->batch);
	return 0;
}

static int write_arrival(void *context, const struct sp_tracks_arrival *arrival)
{
	put_flow(context, "f", arrival->track, 0, arrival->at_ns, arrival->batch);
	return 0;
}

static int write_counter(void *context, uint32_t process, enum sp_tracks_counter counter,
			 int64_t at_ns, uint64_t bytes)
{
	struct chrome *f = context;
	struct sp_json *j = &f->json;

	sp_json_open(j, NULL, '{');
	put_word(j, "ph", "C");
	sp_json_count(j, "pid", pid_of(f, process));
	sp_json_us(j, "ts", at_ns - f->export->report->begin_ns);
	put_word(j, "name",
		 counter == SP_TRACKS_READ ? "bytes read in 100 ms" : "bytes written in 100 ms");
	sp_json_open(j, "args", '{');
	sp_json_count(j, "bytes", bytes);
	sp_json_close(j, '}');
	sp_json_close(j, '}');
	return 0;
}

static const struct sp_tracks_sink sink = {
	.process = write_process,
	.track = write_track,
	.step = write_step,
	.slice = write_slice,
	.arrival = write_arrival,
	.counter = write_counter,
};

/* A file of Kineto is of one rank: that of the first process that has one. */
static void put_rank(struct chrome *f)
{
	const struct sp_index *index = &f->export->report->index;
	const struct sp_image *image = NULL;
	struct sp_json *j = &f->json;

	for (uint32_t i = 0; i < index->image_count && !image; i++)
		if (index->images[i].rank)
			image = &index->images[i];
	sp_json_open(j, "distributedInfo", '{');
	sp_json_count(j, "rank", image ? image->rank - 1 : 0);
	sp_json_count(j, "world_size", image && image->world_size ? image->world_size : 1);
	sp_json_bool(j, "rank_is_known", image != NULL);
	sp_json_close(j, '}');
}

static void put_head(struct chrome *f)
{
	const struct sp_report *report = f->export->report;
	struct sp_json *j = &f->json;

	sp_json_open(j, NULL, '{');
	sp_json_count(j, "schemaVersion", SCHEMA_VERSION);
	put_word(j, "displayTimeUnit", "ms");
	sp_json_signed(j, "baseTimeNanoseconds", report->begin_ns);
	put_rank(f);
	sp_json_open(j, "deviceProperties", '[');
	sp_json_close(j, ']');
	sp_json_open(j, "stageprof", '{');
	put_word(j, "version", f->export->version);
	sp_json_count(j, "events", report->events);
	sp_json_count(j, "events_lost", report->lost);
	sp_json_count(j, "slots_missing", report->missing);
	sp_json_close(j, '}');
	sp_json_open(j, "traceEvents", '[');
}

static int write_all(struct chrome *f)
{
	int r = sp_tracks_init(&f->tracks, f->export, &sink, f);

	put_head(f);
	if (r == 0)
		r = sp_tracks_run(&f->tracks);
	sp_json_close(&f->json, ']');
	sp_json_close(&f->json, '}');
	sp_tracks_finish(&f->tracks);
	return r;
}

int sp_export_chrome(struct sp_export *export)
{
	FILE *packed = sp_gzip_open(export->file);
	struct chrome f = {.export = export, .json = {.file = packed}};
	int r;

	if (!packed)
		return -ENOMEM;
	r = write_all(&f);
	if (ferror(packed))
		r = -EIO;
	return fclose(packed) != 0 && r == 0 ? -EIO : r;
}
