/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/exporters/perfetto_tracks.h"

#include <string.h>

static int describe(struct sp_perfetto *f, uint64_t track, uint64_t parent, const char *name)
{
	return sp_perfetto_end_named(f, sp_perfetto_open_descriptor(f, track, parent), name);
}

/* The timeline shows lost events, too. */
int sp_perfetto_write_run(struct sp_perfetto *f)
{
	const struct sp_report *report = f->export->report;
	uint64_t track = sp_perfetto_uuid(TAG_RUN, 0, 0);
	int r = describe(f, track, 0, "stageprof");
	struct sp_proto *p;
	size_t mark;

	if (r < 0)
		return r;
	p = sp_perfetto_begin_at(f, report->run.begin_ns);
	mark = sp_perfetto_open_event(p, TYPE_INSTANT, track);
	sp_proto_bytes(p, EVENT_NAME_TEXT, "run", 3);
	sp_perfetto_put_text_argument(p, ARG_VERSION, f->export->version);
	sp_perfetto_put_argument(p, ARG_EVENTS, ANNOTATION_UINT, report->totals.events);
	sp_perfetto_put_argument(p, ARG_LOST, ANNOTATION_UINT, report->totals.lost);
	sp_perfetto_put_argument(p, ARG_MISSING, ANNOTATION_UINT, report->totals.missing);
	sp_proto_close(p, mark);
	return sp_perfetto_end(f);
}

static int write_counter_track(struct sp_perfetto *f, uint32_t process,
			       enum sp_tracks_counter counter)
{
	static const char *const names[SP_TRACKS_COUNTERS] = {
		[SP_TRACKS_READ] = "bytes read in 100 ms",
		[SP_TRACKS_WRITTEN] = "bytes written in 100 ms",
	};
	size_t mark =
		sp_perfetto_open_descriptor(f, sp_perfetto_uuid(TAG_COUNTER, process, counter),
					    sp_perfetto_uuid(TAG_PROCESS, process, 0));
	size_t unit = sp_proto_open(&f->packet, TRACK_COUNTER);

	sp_proto_number(&f->packet, COUNTER_UNIT, UNIT_BYTES);
	sp_proto_close(&f->packet, unit);
	return sp_perfetto_end_named(f, mark, names[counter]);
}

/* Process numbers belong to one machine; processes of other machines become tracks by name. */
int sp_perfetto_write_process(void *context, uint32_t process)
{
	struct sp_perfetto *f = context;
	const struct sp_tracks_process *its = &f->tracks.processes[process];
	size_t bytes,
		mark = sp_perfetto_open_descriptor(f, sp_perfetto_uuid(TAG_PROCESS, process, 0), 0),
		inner;
	const char *name = sp_tracks_process_name(&f->tracks, process, &bytes);
	int r;

	if (its->host == 0) {
		inner = sp_proto_open(&f->packet, TRACK_PROCESS);
		sp_proto_number(&f->packet, PROCESS_PID, its->pid);
		sp_perfetto_put_text(&f->packet, PROCESS_NAME, name, bytes);
		sp_proto_close(&f->packet, inner);
		sp_proto_close(&f->packet, mark);
		r = sp_perfetto_end(f);
	} else {
		const struct sp_host *host = &f->export->report->run.index.hosts[its->host];
		char line[512];

		snprintf(line, sizeof(line), "%.*s: %.*s %u",
			 (int)strnlen(host->name, sizeof(host->name)), host->name, (int)bytes, name,
			 its->pid);
		r = sp_perfetto_end_named(f, mark, line);
	}
	for (int i = 0; r == 0 && i < SP_TRACKS_COUNTERS; i++)
		r = write_counter_track(f, process, (enum sp_tracks_counter)i);
	return r;
}

int sp_perfetto_write_track(void *context, uint32_t track)
{
	struct sp_perfetto *f = context;
	const struct sp_tracks_thread *its = &f->tracks.tracks[track];
	const struct sp_tracks_process *process = &f->tracks.processes[its->process];
	const char *name = sp_run_thread_name(&f->export->report->run, its->stream);
	size_t mark = sp_perfetto_open_descriptor(f, sp_perfetto_track_uuid(track, 0),
						  sp_perfetto_uuid(TAG_PROCESS, its->process, 0));
	size_t inner;

	if (process->host != 0) {
		char line[128];

		snprintf(line, sizeof(line), "%s %u", name, its->tid);
		return sp_perfetto_end_named(f, mark, line);
	}
	inner = sp_proto_open(&f->packet, TRACK_THREAD);
	sp_proto_number(&f->packet, THREAD_PID, process->pid);
	sp_proto_number(&f->packet, THREAD_TID, its->tid);
	sp_perfetto_put_text(&f->packet, THREAD_NAME, name, strlen(name));
	sp_proto_close(&f->packet, inner);
	sp_proto_close(&f->packet, mark);
	return sp_perfetto_end(f);
}

int sp_perfetto_write_steps_track(struct sp_perfetto *f, const struct sp_tracks_step *step)
{
	if (!sp_perfetto_is_new(f->trainers, step->trainer))
		return 0;
	return describe(f, sp_perfetto_uuid(TAG_STEPS, step->trainer, 0),
			sp_perfetto_track_uuid(step->track, 0), "steps");
}

int sp_perfetto_write_lane(struct sp_perfetto *f, const struct sp_tracks_slice *slice)
{
	if (slice->lane == 0)
		return 0;
	if (slice->lane < NEST_LANES_MAX) {
		if (f->lanes[slice->track] >> slice->lane & 1)
			return 0;
		f->lanes[slice->track] |= (uint16_t)(1u << slice->lane);
	}
	return describe(f, sp_perfetto_track_uuid(slice->track, slice->lane),
			sp_perfetto_track_uuid(slice->track, 0), "overlapping");
}

uint64_t sp_perfetto_gpu_uuid(const struct sp_tracks_slice *slice)
{
	return sp_perfetto_uuid(TAG_GPU, slice->track,
				slice->record->device << 24 |
					(slice->record->gpu_stream & 0xFFFFFF));
}

int sp_perfetto_write_gpu_track(struct sp_perfetto *f, const struct sp_tracks_slice *slice)
{
	uint32_t process = f->tracks.tracks[slice->track].process;
	uint64_t track = sp_perfetto_gpu_uuid(slice);
	char name[64];

	for (uint32_t i = 0; i < f->gpu_stream_count; i++)
		if (f->gpu_streams[i] == track)
			return 0;
	if (f->gpu_stream_count < GPU_STREAMS_MAX)
		f->gpu_streams[f->gpu_stream_count++] = track;
	snprintf(name, sizeof(name), "GPU %u stream %u", slice->record->device,
		 slice->record->gpu_stream);
	return describe(f, track, sp_perfetto_uuid(TAG_PROCESS, process, 0), name);
}
