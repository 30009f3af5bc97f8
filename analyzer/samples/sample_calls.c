/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/samples/sample_calls.h"

#include <stdlib.h>

#include "analyzer/base/order.h"
#include "analyzer/metadata/stage.h"
#include "analyzer/reader/event_reader.h"

/* The samples of one thread, in the order of time. */
struct thread_samples {
	struct sp_taken_sample *list;
	uint32_t count;
	uint32_t next; /* the first one that the last event's end does not come after */
};

SP_ORDER(compare_samples, struct sp_taken_sample, SP_UP(pid) ?: SP_UP(tid) ?: SP_UP(at))

static const uint8_t sampled[SP_PHASES] = {
#define SP_PHASE(name, title, interval, device, work, sampled) SP_SAMPLE_##sampled,
#include "trace/phases.def"
#undef SP_PHASE
};

static enum sp_sample_phase work_of_call(int64_t phase)
{
	return phase >= 0 && phase < SP_PHASES ? sampled[phase] : SP_SAMPLE_NO_FETCH;
}

static enum sp_sample_phase work_of(const struct sp_slot *slot, const struct sp_event_info *info)
{
	if (sp_commit_kind(slot->commit) == SP_EV_python_call)
		return work_of_call(slot->value);
	return sp_class_library(info->class) == SP_LIBRARY_DECODER ? SP_SAMPLE_DECODE
								   : SP_SAMPLE_NO_FETCH;
}

static bool is_call(const struct sp_event_info *info)
{
	return info->class != SP_CLASS_RANGE && info->class != SP_CLASS_OFF &&
	       info->class != SP_CLASS_MEMORY;
}

static void take_event(struct sp_taken_sample *sample, const struct sp_slot *slot,
		       const struct sp_event_info *info)
{
	enum sp_sample_phase work = work_of(slot, info);

	if (is_call(info) && slot->ticks < sample->call_ticks) {
		sample->call_ticks = slot->ticks;
		sample->call = (uint16_t)sp_commit_kind(slot->commit);
	}
	if (work != SP_SAMPLE_NO_FETCH && slot->ticks < sample->work_ticks) {
		sample->work_ticks = slot->ticks;
		sample->work = work;
	}
}

/* Events come in the order of their ends, mostly. */
static void take(struct thread_samples *samples, const struct sp_read_event *event)
{
	uint64_t start = event->slot->start, end = start + event->slot->ticks;

	if (end < start)
		return;
	while (samples->next > 0 && samples->list[samples->next - 1].at >= end)
		samples->next--;
	while (samples->next < samples->count && samples->list[samples->next].at < end)
		samples->next++;
	for (uint32_t i = samples->next; i > 0 && samples->list[i - 1].at >= start; i--)
		take_event(&samples->list[i - 1], event->slot, event->info);
}

static void read_calls(struct thread_samples *samples, struct sp_reader *reader,
		       const struct sp_index *index, struct sp_stream *stream)
{
	struct sp_event_reader events;
	struct sp_read_event event;

	samples->next = 0;
	sp_event_reader_open(&events, reader, index, stream);
	while (sp_event_reader_next(&events, &event))
		take(samples, &event);
}

static void join_thread(struct thread_samples *samples, struct sp_reader *reader,
			const struct sp_index *index, uint32_t host)
{
	for (uint32_t i = 0; i < index->stream_count; i++) {
		struct sp_stream *stream = index->streams[i];
		const struct sp_process_image *image = &index->images[stream->image];

		if (stream->tid == samples->list->tid && image->pid == samples->list->pid &&
		    image->host == host)
			read_calls(samples, reader, index, stream);
	}
}

static uint32_t thread_end(const struct sp_taken_sample *samples, uint32_t count, uint32_t at)
{
	uint32_t end = at;

	while (end < count && samples[end].pid == samples[at].pid &&
	       samples[end].tid == samples[at].tid)
		end++;
	return end;
}

int sp_sample_calls_join(struct sp_taken_sample *samples, uint32_t count, const struct sp_run *run,
			 uint32_t host)
{
	struct sp_reader reader;
	int r = sp_reader_init(&reader);

	if (r < 0)
		return r;
	qsort(samples, count, sizeof(*samples), compare_samples);
	for (uint32_t i = 0; i < count; i++) {
		samples[i].call = 0;
		samples[i].work = SP_SAMPLE_NO_FETCH;
		samples[i].call_ticks = samples[i].work_ticks = UINT64_MAX;
	}
	for (uint32_t at = 0, end; at < count; at = end) {
		struct thread_samples thread = {.list = samples + at};

		end = thread_end(samples, count, at);
		thread.count = end - at;
		join_thread(&thread, &reader, &run->index, host);
	}
	sp_reader_finish(&reader);
	return 0;
}
