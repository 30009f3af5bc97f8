/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/gpu/gpu_work.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/reader/clock_convert.h"

/* One stream of a GPU's events. */
struct gpu_stream_pass {
	struct sp_gpu_work *work;
	const struct sp_run *run;
	const struct sp_process_metadata *metadata;
	struct sp_event_reader events;
	const struct sp_trainer *trainer; /* NULL: none */
	uint32_t image;
};

bool sp_gpu_work_is_known(const struct sp_sums *stages)
{
	for (int stage = SP_STAGE_gpu_kernel; stage <= SP_STAGE_gpu_lost; stage++)
		if (stages[stage].calls)
			return true;
	return false;
}

static struct sp_gpu_device *device_of(const struct gpu_stream_pass *pass, uint32_t number)
{
	struct sp_gpu_work *work = pass->work;
	const struct sp_steps *steps = pass->trainer ? &pass->trainer->steps : NULL;
	bool trains = steps && steps->count;
	struct sp_gpu_device *device;

	for (uint32_t i = 0; i < work->device_count; i++)
		if (work->devices[i].image == pass->image && work->devices[i].device == number)
			return &work->devices[i];
	if (work->device_count == SP_GPU_DEVICES_MAX)
		return NULL;
	device = &work->devices[work->device_count++];
	device->image = pass->image;
	device->device = number;
	sp_gpu_busy_init(&device->busy, trains ? steps->steps[0].start_ns : 0,
			 trains ? steps->steps[steps->count - 1].end_ns : 0);
	return device;
}

static struct sp_gpu_row *row_of(const struct gpu_stream_pass *pass,
				 const struct sp_read_event *event)
{
	uint32_t arg = sp_commit_arg(event->slot->commit);

	if (event->kind == SP_EV_gpu_kernel)
		return &pass->work->rows[sp_process_label(pass->metadata, arg)];
	return &pass->work->rows[pass->work->labels +
				 sp_stage_of(event->kind, sp_fd_kind_of_copy(arg))];
}

static void add_phase(const struct gpu_stream_pass *pass, struct sp_gpu_row *row,
		      const struct sp_slot *extra, uint64_t ns)
{
	const struct sp_phase_segment *launch = NULL;

	if (!pass->trainer)
		return;
	if (extra && extra->value)
		launch = sp_thread_timeline_at(&pass->trainer->steps.timeline,
					       sp_clock_realtime_ns(pass->events.clock,
								    (uint64_t)extra->value));
	row->phase_ns[launch ? launch->within : SP_ACCOUNT_other] += ns;
}

static int take(struct gpu_stream_pass *pass, const struct sp_read_event *event)
{
	const struct sp_slot *slot = event->slot, *extra = event->extra;
	uint64_t ns = sp_clock_span_ns(pass->events.clock->ns_per_tick, slot->ticks);
	int64_t start_ns = sp_event_start_ns(&pass->events, event), end_ns;
	struct sp_gpu_device *device;
	struct sp_gpu_row *row;

	if (event->kind == SP_EV_gpu_lost) {
		pass->work->lost += slot->value > 0 ? (uint64_t)slot->value : 0;
		return 0;
	}
	row = row_of(pass, event);
	row->calls++;
	row->total_ns += ns;
	row->max_ns = ns > row->max_ns ? ns : row->max_ns;
	row->bytes += slot->value > 0 ? (uint64_t)slot->value : 0;
	add_phase(pass, row, extra, ns);
	device = device_of(pass, extra ? (uint32_t)(extra->start >> 32) : 0);
	if (!device || __builtin_add_overflow(start_ns, ns, &end_ns))
		return 0;
	return sp_gpu_busy_add(&device->busy, start_ns, end_ns);
}

static int read_stream(struct sp_gpu_work *work, const struct sp_training *training,
		       struct sp_reader *reader, uint32_t stream)
{
	const struct sp_index *index = &training->run->index;
	uint32_t image = index->streams[stream]->image;
	struct gpu_stream_pass pass = {
		.work = work,
		.run = training->run,
		.metadata = &training->run->metadata.images[image],
		.trainer = sp_training_of(training, image),
		.image = image,
	};
	struct sp_read_event event;
	int ret = 0;

	work->has_phases |= pass.trainer && pass.trainer->steps.end != SP_STEP_BY_GRAPH;
	sp_event_reader_open(&pass.events, reader, index, index->streams[stream]);
	pass.events.span = sp_run_span(training->run, image);
	while (ret == 0 && sp_event_reader_next(&pass.events, &event))
		if (event.kind >= SP_EV_gpu_kernel && event.kind <= SP_EV_gpu_lost)
			ret = take(&pass, &event);
	return ret;
}

static void add_up(struct sp_gpu_work *work)
{
	for (uint32_t i = 0; i < work->labels + SP_STAGES; i++) {
		work->total_ns += work->rows[i].total_ns;
		work->kernels += i < work->labels ? work->rows[i].calls : 0;
	}
	for (uint32_t i = 0; i < work->device_count; i++) {
		struct sp_gpu_busy *busy = &work->devices[i].busy;

		sp_gpu_busy_finalize(busy);
		work->busy_ns += busy->all.ns;
		work->inside_ns += busy->inside.ns;
		work->training_ns += busy->window_ns;
	}
}

int sp_gpu_work_read(struct sp_gpu_work *work, const struct sp_totals *totals,
		     const struct sp_training *training)
{
	const struct sp_run *run = training->run;
	struct sp_reader reader;
	int r = sp_reader_init(&reader);

	*work = (struct sp_gpu_work){.labels = run->metadata.labels.count + 1u};
	work->rows = calloc(work->labels + SP_STAGES, sizeof(*work->rows));
	if (!work->rows)
		r = -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < run->index.stream_count; i++)
		if (sp_run_selects(run, i) && sp_gpu_work_is_known(totals->streams[i].stages))
			r = read_stream(work, training, &reader, i);
	sp_reader_finish(&reader);
	add_up(work);
	return r;
}

void sp_gpu_work_finish(struct sp_gpu_work *work)
{
	free(work->rows);
	work->rows = NULL;
}
