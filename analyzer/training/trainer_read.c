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

/* A span at the end of a batch, whose EXTRA words the next one begins with. */
struct carry {
	struct sp_slot slot;
	uint64_t number; /* of the slot that comes next; 0: none is carried */
};

static void take_span(struct sp_gpu_time *gpu, const struct sp_clock *clock,
		      const struct sp_slot *slot, const struct sp_slot *extra)
{
	bool has_extra = extra && sp_commit_kind(extra->commit) == SP_KIND_EXTRA;

	sp_gpu_time_take(gpu, slot, has_extra ? extra : NULL,
			 sp_clock_realtime_ns(clock, slot->start),
			 sp_clock_realtime_ns(clock, slot->start + slot->ticks),
			 clock->ns_per_tick);
}

/* The batch is NULL at the end. */
static void take_carried(struct sp_gpu_time *gpu, const struct sp_clock *clock, struct carry *carry,
			 const struct sp_batch *batch)
{
	bool fits = batch && batch->n && batch->number == carry->number;

	if (carry->number)
		take_span(gpu, clock, &carry->slot, fits ? &batch->slots[0] : NULL);
	carry->number = 0;
}

/* One thread as it is read. */
struct thread {
	const bool *wants; /* by kind of event */
	const struct sp_clock *clock;
	struct sp_cutter cutter;
	struct sp_gpu_time *gpu;
	struct carry carry;
	struct sp_process_calls collectives; /* of its process */
};

static void take_event(struct thread *t, const struct sp_slot *slot, uint32_t kind)
{
	int64_t start_ns = sp_clock_realtime_ns(t->clock, slot->start);
	int64_t end_ns = sp_clock_realtime_ns(t->clock, slot->start + slot->ticks);
	bool is_collective =
		kind == SP_EV_cond_wait && sp_collective_wait(&t->collectives, &start_ns, &end_ns);

	t->cutter.steps->nccl_calls += sp_slot_is_nccl(t->cutter.image, slot);
	sp_cutter_take(&t->cutter, slot, start_ns, end_ns, is_collective);
}

static void take_batch(struct thread *t, const struct sp_batch *batch)
{
	take_carried(t->gpu, t->clock, &t->carry, batch);
	for (uint32_t i = 0; i < batch->n; i++) {
		const struct sp_slot *slot = &batch->slots[i];
		uint32_t kind = sp_commit_kind(slot->commit);

		if (kind >= SP_EVENT_KINDS || !t->wants[kind])
			continue;
		if (kind != SP_EV_gpu_span) {
			take_event(t, slot, kind);
			continue;
		}
		t->carry = (struct carry){*slot, batch->number + batch->n};
		if (i + 1 < batch->n) {
			t->carry.number = 0;
			take_span(t->gpu, t->clock, slot, slot + 1);
		}
	}
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
		for (uint32_t i = 0; i < own->steps.count; i++)
			own->nccl_elsewhere_ns +=
				own->steps.steps[i].sum[SP_STEP_SUM_nccl_elsewhere];
	}
	if (r == 0 && training->keeps_steps) {
		r = sp_gpu_time_finalize(&own->gpu, &own->steps);
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

bool sp_trainer_is_same_thread(const struct sp_run *run, uint32_t a, uint32_t b)
{
	const struct sp_stream *x = run->index.streams[a], *y = run->index.streams[b];

	return x->image == y->image && x->tid == y->tid;
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
	struct thread t = {.wants = wants,
			   .gpu = &own->gpu,
			   .clock = &index->hosts[index->images[image].host].clock};
	int result = sp_collective_calls_read(&t.collectives, reader, run, image);
	struct sp_batch batch;

	sp_cutter_init(&t.cutter, &own->steps, &run->metadata.images[image]);
	t.cutter.checkpoints = checkpoints;
	for (uint32_t s = first; result == 0 && s < index->stream_count; s++) {
		if (!sp_trainer_is_same_thread(run, first, s))
			break;
		sp_reader_open(reader, index, index->streams[s]);
		while (sp_reader_next(reader, &batch))
			take_batch(&t, &batch);
		take_carried(t.gpu, t.clock, &t.carry, NULL);
	}
	sp_cutter_finish(&t.cutter);
	own->steps.has_exchanges = run->metadata.images[image].has_exchanges;
	if (result == 0)
		result = finalize(training, own, &t.collectives);
	sp_process_calls_finish(&t.collectives);
	return result;
}
