/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/training/gpu_time.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/order.h"
#include "analyzer/reader/clock_convert.h"
#include "analyzer/base/spill.h"
#include "analyzer/base/intervals.h"
#include "analyzer/base/grow.h"
#include "analyzer/steps/phase_interval.h"
#include "analyzer/steps/step.h"
#include "trace/events.h"

void sp_gpu_time_take(struct sp_gpu_time *gpu, const struct sp_slot *slot,
		      const struct sp_slot *extra, int64_t start_ns, int64_t end_ns,
		      uint64_t ns_per_tick)
{
	struct sp_gpu_span *added = SP_LIST_ADD(gpu->spans, gpu->count, gpu->room);
	struct sp_gpu_span span = {
		.start_ns = start_ns,
		.end_ns = end_ns < start_ns ? start_ns : end_ns,
		.host_ns = start_ns,
		.host_end_ns = start_ns,
		.stream = sp_commit_arg(slot->commit) >> 8,
		.phase = slot->value >= 0 && slot->value < SP_PHASES ? (uint8_t)slot->value
								     : SP_PHASE_none,
	};

	gpu->is_out_of_memory |= !added;
	if (!added)
		return;
	if (extra) {
		span.host_ns -= (int64_t)sp_clock_span_ns(ns_per_tick, extra->start);
		span.host_end_ns =
			span.host_ns + (int64_t)sp_clock_span_ns(ns_per_tick, extra->ticks);
		span.device = (uint8_t)extra->value;
		span.pool = (uint8_t)(extra->value >> 8);
		span.is_whole = true;
		gpu->dropped += (uint64_t)extra->value >> 32;
	}
	*added = span;
}

void sp_gpu_time_keep(struct sp_gpu_time *gpu, uint32_t steps, struct sp_spill *spill)
{
	gpu->spill = spill;
	gpu->spans = sp_spill_keep(spill, gpu->spans, gpu->count * sizeof(*gpu->spans));
	gpu->steps = sp_spill_keep(spill, gpu->steps, steps * sizeof(*gpu->steps));
}

void sp_gpu_time_finish(struct sp_gpu_time *gpu)
{
	sp_spill_free(gpu->spill, gpu->spans);
	sp_spill_free(gpu->spill, gpu->steps);
	*gpu = (struct sp_gpu_time){.spans = NULL};
}

SP_ORDER(compare_spans, struct sp_gpu_span, SP_UP(start_ns) ?: SP_UP(end_ns))

static enum sp_account_phase phase_of(uint8_t phase)
{
	return sp_phase_interval_phase(sp_phase_interval_kind_of(phase));
}

bool sp_gpu_time_has_stretches(enum sp_account_phase phase)
{
	return phase != SP_ACCOUNT_h2d_copy && phase != SP_ACCOUNT_grad_sync &&
	       phase != SP_ACCOUNT_validation && phase != SP_ACCOUNT_sync_wait;
}

/*
 * The phase of work that has none of its own: what the host did while it launched the work. Such a
 * span includes all calls of the model between two stages, and their loss.
 */
static enum sp_account_phase phase_on_host(const struct sp_thread_timeline *timeline,
					   const struct sp_gpu_span *span)
{
	struct sp_account host =
		sp_thread_timeline_account(timeline, span->host_ns, span->host_end_ns);
	uint64_t forward_ns = host.ns[SP_ACCOUNT_forward] + host.ns[SP_ACCOUNT_loss];
	const struct sp_phase_segment *first = sp_thread_timeline_at(timeline, span->host_ns);

	if (forward_ns || host.ns[SP_ACCOUNT_evaluation])
		return forward_ns < host.ns[SP_ACCOUNT_evaluation] ? SP_ACCOUNT_evaluation
								   : SP_ACCOUNT_forward;
	return first ? first->within : SP_ACCOUNT_other;
}

static void classify_spans(struct sp_gpu_time *gpu, const struct sp_thread_timeline *timeline)
{
	for (uint32_t i = 0; i < gpu->count; i++) {
		struct sp_gpu_span *span = &gpu->spans[i];

		span->is_graph = span->phase == SP_PHASE_cuda_graph;
		span->phase = (uint8_t)phase_of(span->phase);
		if (span->phase == SP_ACCOUNT_other)
			span->phase = (uint8_t)phase_on_host(timeline, span);
	}
}

/*
 * The device finished with the host, or a tenth of the span later at most. So the host's launches
 * set the length of the span, which has gaps that no event shows.
 */
static bool is_paced(const struct sp_gpu_span *span)
{
	int64_t ns = span->end_ns - span->start_ns;

	return span->is_whole && span->end_ns - span->host_end_ns <= ns / 10;
}

static void add_launched(struct sp_gpu_time *gpu, const struct sp_steps *s,
			 const struct sp_gpu_span *span)
{
	uint32_t step = sp_steps_at(s, span->host_ns);
	struct sp_gpu_sums *sums = &gpu->steps[step];

	if (step == s->count)
		return;
	sums->launched.ns[span->phase] += (uint64_t)(span->end_ns - span->start_ns);
	if (span->is_graph && span->phase == SP_ACCOUNT_other)
		sums->graph_ns += (uint64_t)(span->end_ns - span->start_ns);
	sums->spans++;
	sums->queued_ns += (uint64_t)(span->start_ns - span->host_ns);
	if (is_paced(span))
		sums->paced_ns += (uint64_t)(span->end_ns - span->start_ns);
}

/*
 * Few spans overlap, on other streams; one that begins before others may end after them, so none is
 * passed before all before it have ended.
 */
uint64_t sp_gpu_walk_covered_ns(struct sp_gpu_walk *w, int64_t from_ns, int64_t to_ns,
				int64_t ended_by_ns)
{
	const struct sp_gpu_time *gpu = w->gpu;
	struct sp_cover busy = {.from_ns = from_ns, .to_ns = to_ns};

	while (w->first < gpu->count && gpu->spans[w->first].end_ns <= from_ns)
		w->first++;
	for (uint32_t i = w->first; i < gpu->count && gpu->spans[i].start_ns < to_ns; i++) {
		const struct sp_gpu_span *span = &gpu->spans[i];

		if (span->host_end_ns <= ended_by_ns)
			sp_cover_add(&busy, span->start_ns, span->end_ns);
	}
	return busy.ns;
}

static void add_waits(struct sp_gpu_time *gpu, const struct sp_steps *s)
{
	struct sp_gpu_walk w = {.gpu = gpu};

	for (uint32_t i = 0; i < s->wait_count; i++) {
		const struct sp_interval *wait = &s->waits[i];
		uint32_t step = sp_steps_at(s, wait->start_ns);
		uint64_t ns = (uint64_t)(wait->end_ns - wait->start_ns), hidden;

		if (step == s->count)
			continue;
		hidden = sp_gpu_walk_covered_ns(&w, wait->start_ns, wait->end_ns, SP_GPU_ANY_SPAN);
		gpu->steps[step].hidden_wait_ns += hidden;
		gpu->steps[step].lost_wait_ns += ns - hidden;
	}
}

int sp_gpu_time_finalize(struct sp_gpu_time *gpu, const struct sp_steps *s)
{
	struct sp_gpu_walk w = {.gpu = gpu};

	if (gpu->is_out_of_memory)
		return -ENOMEM;
	if (!gpu->count || !s->count)
		return 0;
	gpu->steps = calloc(s->count + 1u, sizeof(*gpu->steps));
	if (!gpu->steps)
		return -ENOMEM;
	qsort(gpu->spans, gpu->count, sizeof(*gpu->spans), compare_spans);
	classify_spans(gpu, &s->timeline);
	for (uint32_t i = 0; i < gpu->count; i++)
		add_launched(gpu, s, &gpu->spans[i]);
	for (uint32_t i = 0; i < s->count; i++) {
		const struct sp_step *step = &s->steps[i];

		gpu->steps[i].wall_ns = sp_step_wall_ns(step);
		gpu->steps[i].busy_ns =
			sp_gpu_walk_covered_ns(&w, step->start_ns, step->end_ns, SP_GPU_ANY_SPAN);
	}
	add_waits(gpu, s);
	return 0;
}
