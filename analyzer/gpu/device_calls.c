/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/gpu/device_calls.h"

#include "analyzer/gpu/copy_streams.h"
#include "analyzer/gpu/gpu_calls.h"
#include "analyzer/totals/totals.h"
#include "analyzer/training/training.h"

#define BLOCKED_NS 100000u
#define WAITED_NS 20000 /* a sync without anything to wait for takes less */

/* One thread of a training process. */
struct device_calls_pass {
	struct sp_device_calls *calls;
	const struct sp_steps *steps; /* the trainer's */
	struct sp_event_reader events;
	struct sp_copy_streams *copies;
	struct sp_gpu_walk spans; /* for allocations */
	bool is_trainer;
	int64_t first_ns;   /* begin of the first step */
	uint32_t step;	    /* the first step that ends after the last event */
	uint32_t wait;	    /* the first wait whose queue is not finalized */
	int64_t drained_ns; /* the device has had no work since then */
	bool is_drained;
	bool is_by_allocation;	/* drained by an allocation */
	bool is_copied;		/* drained by a copy in a step, and no event came after the copy */
	uint64_t allocating_ns; /* of allocations since drained_ns */
	/* Since the end of the last sync. */
	int64_t synced_ns;
	uint32_t synced_step;
	uint64_t queued_wait_ns; /* of waits for the loader with work queued before */
};

static bool is_in_step(struct device_calls_pass *pass, int64_t start_ns, int64_t end_ns)
{
	const struct sp_steps *s = pass->steps;

	while (pass->step < s->count && s->steps[pass->step].end_ns < end_ns)
		pass->step++;
	return pass->step < s->count && start_ns >= s->steps[pass->step].start_ns;
}

/* Divides the time from drained_ns until now, in which the device had no work: allocations get
 * their part. */
static void add_idle(struct device_calls_pass *pass, int64_t until_ns)
{
	uint64_t ns = until_ns > pass->drained_ns ? (uint64_t)(until_ns - pass->drained_ns) : 0;
	uint64_t allocating =
		pass->is_by_allocation || pass->allocating_ns > ns ? ns : pass->allocating_ns;

	pass->calls->allocation_idle_ns += allocating;
	pass->calls->idle_ns += ns - allocating;
	pass->allocating_ns = 0;
}

/* Idle time before the first step is set-up, and no part of the training time. */
static void drain(struct device_calls_pass *pass, int64_t at_ns, bool by_allocation)
{
	pass->drained_ns = at_ns > pass->first_ns ? at_ns : pass->first_ns;
	pass->is_drained = true;
	pass->is_by_allocation = by_allocation;
	pass->allocating_ns = 0;
}

/* Finalizes the waits for the loader that began before this instant, because their queue is known
 * now. */
static void finish_waits(struct device_calls_pass *pass, int64_t until_ns)
{
	const struct sp_steps *s = pass->steps;

	for (; pass->wait < s->wait_count && s->waits[pass->wait].start_ns < until_ns;
	     pass->wait++) {
		const struct sp_interval *wait = &s->waits[pass->wait];
		uint64_t ns = (uint64_t)(wait->end_ns - wait->start_ns);

		pass->calls->wait_ns += ns;
		if (!pass->is_drained)
			pass->queued_wait_ns += ns;
		if (!pass->is_drained || wait->start_ns < pass->drained_ns)
			continue;
		pass->calls->drained_wait_ns += ns;
		/* lost to the loader, not to the sync */
		add_idle(pass, wait->start_ns);
		pass->drained_ns = wait->end_ns;
	}
}

/* An event other than a sync follows the copy. */
static void finish_copy(struct device_calls_pass *pass)
{
	pass->calls->blocking_copies += pass->is_copied;
	pass->is_copied = false;
}

static void take_work(struct device_calls_pass *pass, int64_t start_ns, bool in_step)
{
	finish_copy(pass);
	if (pass->is_drained && in_step)
		add_idle(pass, start_ns);
	pass->is_drained = false;
}

/*
 * If each step has the same work, a device that was idle during the waits for the loader has at a
 * sync no more left than the work of the last step. If it has more than a mean step's work left, it
 * was never idle.
 */
static void finish_queue(struct device_calls_pass *pass, int64_t start_ns, int64_t end_ns)
{
	double steps = (double)(pass->step - pass->synced_step);

	if (pass->synced_ns && steps >= 2 &&
	    (double)(end_ns - start_ns) * steps > (double)(end_ns - pass->synced_ns))
		pass->calls->hidden_wait_ns += pass->queued_wait_ns;
	pass->queued_wait_ns = 0;
	pass->synced_ns = end_ns > pass->first_ns ? end_ns : pass->first_ns;
	pass->synced_step = pass->step;
}

static void take_sync(struct device_calls_pass *pass, int64_t start_ns, int64_t end_ns)
{
	if (!pass->is_drained)
		finish_queue(pass, start_ns, end_ns);
	/* A sync that waited shows that there was work, from any thread. */
	if (!pass->is_drained || end_ns - start_ns >= WAITED_NS)
		drain(pass, end_ns, false);
}

/* The device works in a span that gets no further work; in one that does there may be gaps. */
static void cover_allocation(struct device_calls_pass *pass, int64_t start_ns, int64_t end_ns)
{
	uint64_t ns = (uint64_t)(end_ns - start_ns);
	uint64_t any_ns = sp_gpu_walk_covered_ns(&pass->spans, start_ns, end_ns, SP_GPU_ANY_SPAN);
	uint64_t sure_ns = sp_gpu_walk_covered_ns(&pass->spans, start_ns, end_ns, start_ns);

	pass->calls->allocation_wait_ns += ns;
	pass->calls->allocation_gap_ns += ns - any_ns;
	pass->calls->allocation_open_ns += any_ns > sure_ns ? any_ns - sure_ns : 0;
}

/* A long allocation is taken for one that waited for all queued work. */
static void take_allocation(struct device_calls_pass *pass, int64_t start_ns, int64_t end_ns,
			    bool in_step)
{
	uint64_t ns = in_step ? (uint64_t)(end_ns - start_ns) : 0;

	pass->calls->allocations += in_step;
	pass->calls->allocation_ns += ns;
	if (pass->is_drained) {
		pass->allocating_ns += ns;
		return;
	}
	if (in_step)
		cover_allocation(pass, start_ns, end_ns);
	if (ns >= BLOCKED_NS)
		drain(pass, end_ns, true);
}

/* For memory that is not known to be pinned, the duration of the copy decides. */
static bool is_blocking(uint32_t kind, uint32_t arg, int64_t ns)
{
	return sp_gpu_copy_blocks(kind, arg) ||
	       (sp_cuda_arg_direction(arg) == SP_COPY_TO_HOST && ns >= WAITED_NS &&
		sp_cuda_arg_host(arg) == SP_COPY_HOST_UNKNOWN);
}

static void take_copy(struct device_calls_pass *pass, uint32_t kind, uint32_t arg, int64_t start_ns,
		      int64_t end_ns, bool in_step)
{
	uint64_t ns = in_step ? (uint64_t)(end_ns - start_ns) : 0;

	take_work(pass, start_ns, in_step);
	if (sp_cuda_arg_direction(arg) == SP_COPY_TO_DEVICE) {
		pass->calls->h2d_ns += ns;
		pass->calls->h2d_pageable_ns +=
			sp_cuda_arg_host(arg) == SP_COPY_HOST_PINNED ? 0 : ns;
	} else if (is_blocking(kind, arg, end_ns - start_ns)) {
		pass->calls->blocking_copy_ns += ns;
		pass->is_copied = in_step;
		/* A copy that returns at once may not have waited, but a sync after it does. */
		if (sp_gpu_copy_is_synchronous(kind) || end_ns - start_ns >= WAITED_NS)
			take_sync(pass, start_ns, end_ns);
	}
}

static void take_launch(struct device_calls_pass *pass, int64_t start_ns, int64_t end_ns,
			bool in_step)
{
	uint64_t ns = (uint64_t)(end_ns - start_ns);

	if (pass->is_trainer)
		take_work(pass, start_ns, in_step);
	if (!in_step)
		return;
	pass->calls->launches++;
	pass->calls->launch_ns += ns;
	pass->calls->blocked_ns += ns >= BLOCKED_NS ? ns : 0;
}

static void take(struct device_calls_pass *pass, const struct sp_read_event *event)
{
	uint32_t kind = event->kind, arg = sp_commit_arg(event->slot->commit);
	int64_t start_ns = sp_event_start_ns(&pass->events, event);
	int64_t end_ns = sp_event_end_ns(&pass->events, event);
	uint8_t class = event->info->class;
	bool in_step = end_ns >= start_ns && is_in_step(pass, start_ns, end_ns);

	sp_copy_streams_take(pass->copies, class, arg);
	if (pass->is_trainer)
		finish_waits(pass, start_ns);
	if (class == SP_CLASS_CUDA_LAUNCH || class == SP_CLASS_CUDA_GRAPH)
		take_launch(pass, start_ns, end_ns, in_step);
	if (!pass->is_trainer)
		return;
	if (class == SP_CLASS_CUDA_COPY)
		take_copy(pass, kind, arg, start_ns, end_ns, in_step);
	if (class == SP_CLASS_CUDA_MEMSET)
		take_work(pass, start_ns, in_step);
	if (sp_gpu_call_stalls(kind))
		take_allocation(pass, start_ns, end_ns, in_step);
	if (class == SP_CLASS_CUDA_SYNC) {
		pass->calls->syncs += in_step;
		pass->calls->sync_ns += in_step ? (uint64_t)(end_ns - start_ns) : 0;
		pass->is_copied = false;
		take_sync(pass, start_ns, end_ns);
	}
}

static void read_stream(struct device_calls_pass *pass, struct sp_reader *reader,
			const struct sp_training *training, uint32_t stream)
{
	struct sp_read_event event;

	/* Before the first step the device counts as synced. */
	if (pass->steps->count) {
		pass->first_ns = pass->synced_ns = pass->steps->steps[0].start_ns;
		drain(pass, pass->first_ns, false);
	}
	sp_event_reader_open(&pass->events, reader, &training->run->index,
			     training->run->index.streams[stream]);
	while (sp_event_reader_next(&pass->events, &event))
		take(pass, &event);
	finish_copy(pass);
	if (pass->is_trainer)
		finish_waits(pass, INT64_MAX);
}

static void read_trainer(struct sp_device_calls *calls, const struct sp_totals *totals,
			 const struct sp_training *training, const struct sp_trainer *trainer,
			 struct sp_reader *reader)
{
	const struct sp_index *index = &training->run->index;
	uint32_t image = index->streams[trainer->stream]->image;
	struct sp_copy_streams copies = {.count = 0};

	for (uint32_t i = sp_index_first_stream(index, image);
	     i < index->stream_count && index->streams[i]->image == image; i++) {
		struct device_calls_pass pass = {
			.calls = calls,
			.steps = &trainer->steps,
			.copies = &copies,
			.spans = {.gpu = &trainer->gpu},
			.is_trainer = i == trainer->stream,
		};

		if (!sp_stages_have_cuda(totals->streams[i].stages))
			continue;
		calls->is_used = true;
		read_stream(&pass, reader, training, i);
	}
	calls->copying_ns += sp_copy_streams_alone_ns(&copies, trainer);
}

int sp_device_calls_read(struct sp_device_calls *calls, const struct sp_totals *totals,
			 const struct sp_training *training)
{
	struct sp_reader reader;
	int r = sp_reader_init(&reader);

	*calls = (struct sp_device_calls){.launches = 0};
	for (uint32_t t = 0; r == 0 && t < training->count; t++)
		read_trainer(calls, totals, training, &training->trainers[t], &reader);
	sp_reader_finish(&reader);
	return r;
}
