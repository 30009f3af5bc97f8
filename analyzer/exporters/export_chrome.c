/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trace events as PyTorch's profiler (Kineto) writes them, for programs that read its files: JSON
 * in gzip. HolisticTraceAnalysis relies on these categories, on ProfilerStep# and on the keys of
 * args.
 */
#include <errno.h>
#include <string.h>

#include "analyzer/symbols/demangle.h"
#include "analyzer/gpu/gpu_work.h"
#include "analyzer/exporters/gzip.h"
#include "analyzer/text/json.h"
#include "analyzer/training/step_stats.h"
#include "analyzer/text/text.h"
#include "analyzer/exporters/export.h"
#include "analyzer/exporters/tracks.h"

#define SCHEMA_VERSION 1u
#define TEXT_BYTES 4096u

/* Numbers of processes and threads are below 2^22 on Linux. Lanes that are no thread, and processes
 * of other hosts, have numbers above. */
#define BESIDE (UINT64_C(1) << 23)
#define STEPS_LANE (UINT64_C(1) << 20)
#define BATCH_NAME "batch"
#define FLOW_TO_GPU "ac2g"
#define FLOW_TO_BACKWARD "fwdbwd"
/* After those numbers: each GPU of a process, as a process. */
#define GPU (UINT64_C(1) << 32)
#define GPU_STREAMS_MAX 256u /* further ones have no name */
#define OWN_CORRELATIONS                                                                           \
	(UINT64_C(1) << 30) /* where CUPTI gave some, it is not likely to have come so far */

struct chrome {
	struct sp_export *export;
	struct sp_tracks tracks;
	struct sp_json json;
	uint64_t correlation; /* of the last call that has none of CUPTI's */
	struct {
		uint64_t pid, stream;
	} gpu_streams[GPU_STREAMS_MAX]; /* that are named */
	uint32_t gpu_stream_count;
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

static uint64_t gpu_pid_of(const struct chrome *f, uint32_t track, uint32_t device)
{
	return pid_of(f, f->tracks.tracks[track].process) + (device + UINT64_C(1)) * GPU;
}

/* CUPTI counts per process. */
static uint64_t correlation_of(const struct chrome *f, const struct sp_record *record)
{
	uint64_t image = f->export->report->run.index.streams[record->stream]->image;

	return image << 32 | record->correlation;
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
	sp_json_us(j, "ts", at_ns - f->export->report->run.begin_ns);
}

static void put_meta_of(struct chrome *f, uint64_t pid, const uint64_t *tid, const char *what,
			const char *text, size_t bytes)
{
	struct sp_json *j = &f->json;

	sp_json_open(j, NULL, '{');
	put_word(j, "ph", "M");
	put_word(j, "name", what);
	sp_json_count(j, "pid", pid);
	if (tid)
		sp_json_count(j, "tid", *tid);
	sp_json_open(j, "args", '{');
	put_text(j, "name", text, bytes);
	sp_json_close(j, '}');
	sp_json_close(j, '}');
}

static void put_meta(struct chrome *f, uint32_t process, const uint64_t *tid, const char *what,
		     const char *text, size_t bytes)
{
	put_meta_of(f, pid_of(f, process), tid, what, text, bytes);
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

	snprintf(name, sizeof(name), "%s %u%s",
		 sp_run_thread_name(&f->export->report->run, its->stream), its->tid, more);
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
	uint64_t dur_ns =
		step->end_ns > step->start_ns ? (uint64_t)(step->end_ns - step->start_ns) : 0;
	char name[64];

	if (step->step && step->is_first)
		name_lane(f, step->track, STEPS_LANE, " steps");
	if (step->step)
		snprintf(name, sizeof(name), "ProfilerStep#%u", step->number);
	else
		snprintf(name, sizeof(name), "%s",
			 step->is_validation ? "validation" : "between steps");
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

/* Kineto's name; the stage where Kineto has no counterpart. */
static const char *category(const struct sp_record *record)
{
	const struct sp_event_info *info = sp_event_info(record->kind);

	if (record->kind == SP_EV_gpu_kernel)
		return "kernel";
	if (record->is_gpu)
		return record->kind == SP_EV_gpu_copy ? "gpu_memcpy" : "gpu_memset";
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

	if (record->value == SP_VALUE_ABANDONED || means == SP_VALUE_NONE ||
	    means == SP_VALUE_PHASE)
		return;
	sp_json_signed(j, sp_record_has_bytes(record) ? "bytes" : "result", record->value);
}

/* A call without work reported by CUPTI has a number that no GPU event carries. */
static void put_cuda(struct chrome *f, const struct sp_record *record)
{
	sp_json_count(&f->json, "correlation",
		      record->correlation ? correlation_of(f, record) : ++f->correlation);
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
	if (sp_record_has_communicator(record))
		sp_json_count(j, "communicator", record->arg);
	if (text)
		put_text(j, "file", text, bytes);
	sp_json_close(j, '}');
}

static void put_flow(struct chrome *f, const char *phase, uint32_t track, uint64_t lane,
		     int64_t at_ns, const char *name, uint64_t id)
{
	struct sp_json *j = &f->json;

	begin(f, phase, track, lane, at_ns);
	put_word(j, "cat", name);
	put_word(j, "name", name);
	sp_json_count(j, "id", id);
	put_word(j, "bp", "e");
	sp_json_close(j, '}');
}

/* The stream's name, once. */
static void name_stream(struct chrome *f, const struct sp_tracks_slice *slice)
{
	uint32_t process = f->tracks.tracks[slice->track].process, device = slice->record->device;
	uint64_t pid = gpu_pid_of(f, slice->track, device), stream = slice->record->gpu_stream;
	size_t bytes;
	const char *exe = sp_tracks_process_name(&f->tracks, process, &bytes);
	char name[128];

	for (uint32_t i = 0; i < f->gpu_stream_count; i++)
		if (f->gpu_streams[i].pid == pid && f->gpu_streams[i].stream == stream)
			return;
	if (f->gpu_stream_count == GPU_STREAMS_MAX)
		return;
	f->gpu_streams[f->gpu_stream_count].pid = pid;
	f->gpu_streams[f->gpu_stream_count++].stream = stream;
	snprintf(name, sizeof(name), "GPU %u of %.*s %u", device, (int)(bytes < 64 ? bytes : 64),
		 exe, f->tracks.processes[process].pid);
	put_meta_of(f, pid, NULL, "process_name", name, strlen(name));
	snprintf(name, sizeof(name), "stream %u", slice->record->gpu_stream);
	put_meta_of(f, pid, &stream, "thread_name", name, strlen(name));
}

/* Kineto's names of kernels and copies, by which HolisticTraceAnalysis distinguishes them. */
static void put_gpu_name(struct chrome *f, const struct sp_record *record)
{
	static const char *const copies[SP_COPY_DIRECTIONS] = {"HtoH", "HtoD", "DtoH", "DtoD",
							       "unknown"};
	static const char *const memories[] = {"Unknown", "Pageable", "Pinned", "Unknown"};
	uint32_t direction = sp_cuda_arg_direction(record->arg);
	const char *host = memories[sp_cuda_arg_host(record->arg)];
	char room[SP_RECORD_NAME_BYTES], name[64] = "Memset (Device)", plain[SP_DEMANGLED_BYTES];
	size_t bytes;
	const char *text;

	if (record->kind == SP_EV_gpu_kernel) {
		text = sp_record_name(f->export->report, record, room, &bytes);
		text = sp_demangle(text, &bytes, plain);
		put_text(&f->json, "name", text, bytes);
		return;
	}
	direction = direction < SP_COPY_DIRECTIONS ? direction : SP_COPY_UNKNOWN;
	if (record->kind == SP_EV_gpu_copy)
		snprintf(name, sizeof(name), "Memcpy %s (%s -> %s)", copies[direction],
			 direction == SP_COPY_TO_DEVICE ? host : "Device",
			 direction == SP_COPY_TO_HOST ? host : "Device");
	put_word(&f->json, "name", name);
}

static void put_gpu_flow(struct chrome *f, const char *phase, uint64_t pid, uint64_t tid,
			 const struct sp_record *record)
{
	struct sp_json *j = &f->json;

	sp_json_open(j, NULL, '{');
	put_word(j, "ph", phase);
	sp_json_count(j, "pid", pid);
	sp_json_count(j, "tid", tid);
	sp_json_us(j, "ts", record->start_ns - f->export->report->run.begin_ns);
	put_word(j, "cat", FLOW_TO_GPU);
	put_word(j, "name", FLOW_TO_GPU);
	sp_json_count(j, "id", correlation_of(f, record));
	put_word(j, "bp", "e");
	sp_json_close(j, '}');
}

static int write_gpu_slice(struct chrome *f, const struct sp_tracks_slice *slice)
{
	const struct sp_record *record = slice->record;
	uint64_t pid = gpu_pid_of(f, slice->track, record->device);
	struct sp_json *j = &f->json;

	name_stream(f, slice);
	sp_json_open(j, NULL, '{');
	put_word(j, "ph", "X");
	sp_json_count(j, "pid", pid);
	sp_json_count(j, "tid", record->gpu_stream);
	sp_json_us(j, "ts", record->start_ns - f->export->report->run.begin_ns);
	sp_json_us(j, "dur", (int64_t)record->dur_ns);
	put_word(j, "cat", category(record));
	put_gpu_name(f, record);
	sp_json_open(j, "args", '{');
	put_word(j, "stage", sp_stage_name(record->stage));
	sp_json_count(j, "device", record->device);
	sp_json_count(j, "stream", record->gpu_stream);
	sp_json_count(j, "correlation", correlation_of(f, record));
	put_value(j, record);
	sp_json_close(j, '}');
	sp_json_close(j, '}');
	if (record->correlation)
		put_gpu_flow(f, "f", pid, record->gpu_stream, record);
	return 0;
}

static int write_slice(void *context, const struct sp_tracks_slice *slice)
{
	struct chrome *f = context;
	const struct sp_record *record = slice->record;
	const char *cat = category(record), *name;
	char room[SP_RECORD_NAME_BYTES];
	size_t bytes;

	if (record->is_gpu)
		return write_gpu_slice(f, slice);
	begin(f, "X", slice->track, slice->lane, record->start_ns);
	sp_json_us(&f->json, "dur", (int64_t)record->dur_ns);
	put_word(&f->json, "cat", cat);
	name = sp_record_name(f->export->report, record, room, &bytes);
	put_text(&f->json, "name", name, bytes);
	put_arguments(f, record, cat);
	sp_json_close(&f->json, '}');
	if (record->correlation)
		put_gpu_flow(f, "s", pid_of(f, f->tracks.tracks[slice->track].process),
			     tid_of(f, slice->track, slice->lane), record);
	if (slice->batch)
		put_flow(f, "s", slice->track, slice->lane, sp_record_end_ns(record), BATCH_NAME,
			 slice->batch);
	return 0;
}

static int write_arrival(void *context, const struct sp_tracks_arrival *arrival)
{
	put_flow(context, "f", arrival->track, 0, arrival->at_ns, BATCH_NAME, arrival->batch);
	return 0;
}

static int write_backward(void *context, const struct sp_tracks_backward *backward)
{
	put_flow(context, "s", backward->forward_track, 0, backward->forward_ns, FLOW_TO_BACKWARD,
		 backward->number);
	put_flow(context, "f", backward->backward_track, 0, backward->backward_ns, FLOW_TO_BACKWARD,
		 backward->number);
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
	sp_json_us(j, "ts", at_ns - f->export->report->run.begin_ns);
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
	.backward = write_backward,
	.counter = write_counter,
};

/* A file of Kineto belongs to one rank: the rank of the first process that has one. */
static void put_rank(struct chrome *f)
{
	const struct sp_index *index = &f->export->report->run.index;
	const struct sp_process_image *image = NULL;
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
	sp_json_signed(j, "baseTimeNanoseconds", report->run.begin_ns);
	put_rank(f);
	sp_json_open(j, "deviceProperties", '[');
	sp_json_close(j, ']');
	sp_json_open(j, "stageprof", '{');
	put_word(j, "version", f->export->version);
	sp_json_count(j, "events", report->totals.events);
	sp_json_count(j, "events_lost", report->totals.lost);
	sp_json_count(j, "slots_missing", report->totals.missing);
	sp_json_close(j, '}');
	sp_json_open(j, "traceEvents", '[');
}

static int write_all(struct chrome *f)
{
	int r = sp_tracks_init(&f->tracks, f->export, &sink, f);

	put_head(f);
	if (sp_gpu_work_is_known(f->export->report->totals.stages))
		f->correlation = OWN_CORRELATIONS;
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
