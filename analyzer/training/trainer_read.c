/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/training/trainer_read.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/metadata/run.h"
#include "analyzer/reader/clock_convert.h"
#include "analyzer/steps/collective.h"
#include "analyzer/steps/step_classify.h"
#include "analyzer/steps/step_cutter.h"
#include "analyzer/training/training_account.h"

/* One thread as it is read. */
struct thread {
	struct sp_event_reader events;
	struct sp_cutter cutter;
	struct sp_gpu_time *gpu;
	struct sp_process_calls collectives; /* of its process */
};

static void take(struct thread *t, const struct sp_read_event *event)
{
	int64_t start_ns = sp_event_start_ns(&t->events, event);
	int64_t end_ns = sp_event_end_ns(&t->events, event);
	bool is_collective;

	if (event->kind == SP_EV_gpu_span) {
		sp_gpu_time_take(t->gpu, event->slot, event->extra, start_ns, end_ns,
				 t->events.clock->ns_per_tick);
		return;
	}
	is_collective = event->kind == SP_EV_cond_wait &&
			sp_collective_wait(&t->collectives, &start_ns, &end_ns);
	t->cutter.steps->nccl_calls += sp_slot_is_nccl(t->cutter.image, event->slot);
	sp_cutter_take(&t->cutter, event->slot, start_ns, end_ns, is_collective);
}

/* Finds for each step the collective that ended last among those that began in it. */
static void find_collectives(const struct sp_process_calls *calls, const struct sp_steps *steps,
			     struct sp_process_call *ret)
{
	for (uint32_t i = 0; i < calls->count; i++) {
		uint32_t step = sp_steps_at(steps, calls->list[i].start_ns);

		if (step < steps->count && calls->list[i].end_ns > ret[step].end_ns)
			ret[step] = calls->list[i];
	}
}

static struct sp_series_step series_step(const struct sp_trainer *own, uint32_t i,
					 const struct sp_process_call *collective)
{
	const struct sp_step *s = &own->steps.steps[i];
	struct sp_series_step ret = {.number = sp_step_number(&own->steps, i),
				     .of = {[SP_SERIES_START] = s->start_ns,
					    [SP_SERIES_WALL] = s->end_ns - s->start_ns,
					    [SP_SERIES_STAY] = -1,
					    [SP_SERIES_KIND] = s->kind,
					    [SP_SERIES_EPOCH] = s->epoch}};

	if (collective->end_ns) {
		ret.of[SP_SERIES_STAY] = collective->end_ns - collective->start_ns;
		ret.of[SP_SERIES_LEFT] = collective->end_ns;
	}
	for (int phase = 0; phase < SP_ACCOUNT_PHASES; phase++)
		ret.of[SP_SERIES_PHASE + phase] = (int64_t)s->account.ns[phase];
	return ret;
}

static int write_series(const struct sp_training *training, struct sp_trainer *own,
			const struct sp_process_calls *calls)
{
	struct sp_series_writer writer = {.series = &own->series};
	struct sp_process_call *collectives = calloc(own->steps.count + 1u, sizeof(*collectives));
	int r = collectives ? 0 : -ENOMEM;

	if (r == 0)
		find_collectives(calls, &own->steps, collectives);
	for (uint32_t i = 0; r == 0 && i < own->steps.count; i++) {
		struct sp_series_step step = series_step(own, i, &collectives[i]);

		if (sp_step_is_selected(training, own, i))
			r = sp_series_writer_take(&writer, &step);
	}
	if (r == 0)
		r = sp_series_writer_finish(&writer);
	free(collectives);
	return r;
}

/* The steps are complete. */
static int finalize(const struct sp_training *training, struct sp_trainer *own,
		    const struct sp_process_calls *collectives)
{
	struct sp_spill *spill = training->run->index.spill;
	int r = sp_steps_classify(&own->steps);

	if (r == 0 && training->keeps_series) {
		r = write_series(training, own, collectives);
		sp_series_keep(&own->series, spill);
		own->account = sp_trainer_account(training, own);
	}
	own->nccl_elsewhere_ns = 0;
	for (uint32_t i = 0; r == 0 && i < own->steps.count; i++)
		if (sp_step_is_selected(training, own, i))
			own->nccl_elsewhere_ns +=
				own->steps.steps[i].sum[SP_STEP_SUM_nccl_elsewhere];
	if (r == 0 && training->keeps_steps) {
		r = sp_gpu_time_finalize(&own->gpu, &own->steps);
		if (!training->keeps_timeline)
			sp_thread_timeline_finish(&own->steps.timeline);
		sp_gpu_time_keep(&own->gpu, own->steps.count, spill);
		sp_steps_keep(&own->steps, spill);
		return r;
	}
	sp_gpu_time_finish(&own->gpu);
	if (training->keeps_pauses)
		sp_steps_drop_steps(&own->steps);
	else
		sp_steps_drop_lists(&own->steps);
	return r;
}

void sp_trainer_wants(bool ret[SP_EVENT_KINDS])
{
	for (uint32_t kind = 0; kind < SP_EVENT_KINDS; kind++)
		ret[kind] = sp_phase_interval_wants(kind) || kind == SP_EV_gpu_span;
}

/*
 * A thread that goes on after its clean end has several streams; they follow each other in the
 * index.
 */
int sp_trainer_read(const struct sp_training *training, struct sp_reader *reader,
		    const bool wants[SP_EVENT_KINDS], const struct sp_process_calls *checkpoints,
		    struct sp_trainer *own)
{
	const struct sp_run *run = training->run;
	const struct sp_index *index = &run->index;
	uint32_t first = own->stream, image = index->streams[first]->image;
	struct thread t = {.gpu = &own->gpu};
	int result = sp_collective_calls_read(&t.collectives, reader, run, image);
	struct sp_read_event event;

	own->steps.keeps_timeline = training->keeps_timeline || run->metadata.times_device;
	sp_cutter_init(&t.cutter, &own->steps, &run->metadata.images[image]);
	t.cutter.checkpoints = checkpoints;
	for (uint32_t s = first; result == 0 && s < index->stream_count; s++) {
		if (!sp_trainer_is_same_thread(run, first, s))
			break;
		sp_event_reader_open(&t.events, reader, index, index->streams[s]);
		t.events.wants = wants;
		while (sp_event_reader_next(&t.events, &event))
			take(&t, &event);
	}
	sp_cutter_finish(&t.cutter);
	own->steps.has_exchanges = run->metadata.images[image].has_exchanges;
	if (result == 0)
		result = finalize(training, own, &t.collectives);
	sp_process_calls_finish(&t.collectives);
	return result;
}
