/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/step_cutter.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/metadata/gpu_kinds.h"
#include "analyzer/steps/async_checkpoint.h"
#include "analyzer/steps/forward.h"
#include "analyzer/steps/step_order.h"
#include "analyzer/steps/step_pass.h"
#include "trace/events.h"

#define INTERVALS_MAX                                                                              \
	(1u << 20) /* between two steps; beyond, the older half counts as other work */

/* The steps so far had fewer batches than optimizer steps: they warmed up on an input of their own,
 * or on one batch again and again. */
static bool has_warmed_up(const struct sp_steps *s)
{
	uint32_t batches = 0;

	for (uint32_t i = 0; i < s->count; i++)
		batches += s->steps[i].has_loader;
	return batches < s->count;
}

/* The number of optimizer steps goes on, because passes over loaders are counted by it. */
static void forget_steps(struct sp_cutter *c)
{
	struct sp_steps *s = c->steps;

	s->count = s->pause_count = s->wait_count = s->backward_count = s->timeline.count = 0;
	memset(s->sources, 0, sizeof(s->sources));
	s->has_backward = s->has_forward = s->is_fed = s->is_forward_guessed = false;
	c->has_from = false;
}

/* The first step that is a graph: what was done to warm up and to capture it is set-up. */
static void begin_replays(struct sp_cutter *c)
{
	bool is_graph = c->steps->end == SP_STEP_BY_GRAPH &&
			c->intervals[c->count - 1].kind == SP_INTERVAL_GRAPH;

	if (is_graph && !c->has_replayed && has_warmed_up(c->steps))
		forget_steps(c);
	c->has_replayed |= is_graph;
}

/* The intervals at hand end in what ends a step. */
static void cut(struct sp_cutter *c)
{
	begin_replays(c);
	sp_forward_judge(c);
	if (c->steps->has_batches)
		sp_pass_cut(c);
	else
		sp_order_cut(c);
	c->from_ns = c->intervals[c->count - 1].end_ns;
	c->has_from = true;
	c->count = 0;
}

void sp_cutter_init(struct sp_cutter *c, struct sp_steps *steps,
		    const struct sp_process_metadata *image)
{
	*c = (struct sp_cutter){.steps = steps, .image = image};
}

/* A million intervals and no step: the older half becomes one interval of no kind. */
static void shrink(struct sp_cutter *c)
{
	uint32_t half = c->count / 2;

	c->intervals[0] = (struct sp_phase_interval){
		.start_ns = c->intervals[0].start_ns,
		.end_ns = c->intervals[half - 1].end_ns,
	};
	memmove(&c->intervals[1], &c->intervals[half], (c->count - half) * sizeof(*c->intervals));
	c->count = c->count - half + 1;
}

static bool ends_step(const struct sp_cutter *c, const struct sp_phase_interval *p)
{
	enum sp_phase_interval_kind last = p->kind;

	if (c->steps->end == SP_STEP_BY_BATCH)
		return false;
	if (c->steps->end == SP_STEP_BY_UPDATING_BACKWARD)
		return last == SP_INTERVAL_BACKWARD && !p->is_node;
	if (last == SP_INTERVAL_GRAPH || last == SP_INTERVAL_OPTIMIZER ||
	    last == SP_INTERVAL_UPDATE)
		return c->steps->end != SP_STEP_BY_BACKWARD;
	return last == SP_INTERVAL_BACKWARD && c->steps->end == SP_STEP_BY_BACKWARD;
}

/*
 * The intervals of a step that has ended; 0: there is none. A zero_grad after an optimizer may be
 * inside of a method that contains both, which comes later.
 */
static uint32_t end_of_step(const struct sp_cutter *c)
{
	uint32_t n = c->count;

	while (n > 0 && c->intervals[n - 1].kind == SP_INTERVAL_ZERO_GRAD)
		n--;
	if (n == 0 || (n < c->count && c->intervals[n - 1].kind != SP_INTERVAL_OPTIMIZER))
		return 0;
	return ends_step(c, &c->intervals[n - 1]) ? n : 0;
}

/* Cuts the step that has ended, if there is one; what follows it stays. */
static void cut_ended(struct sp_cutter *c)
{
	uint32_t n = end_of_step(c), rest = c->count - n;

	if (n == 0)
		return;
	c->count = n;
	cut(c);
	memmove(c->intervals, &c->intervals[n], rest * sizeof(*c->intervals));
	c->count = rest;
	sp_aparts_pack(&c->aparts, c->intervals, c->count);
}

/*
 * A backward that was captured ahead of the first step: what ran before it warmed up. Checkpoints
 * and batches are kept; a batch may be the first step's.
 */
static void forget_warm_up(struct sp_cutter *c)
{
	uint32_t kept = 0;

	if (!c->steps->has_captured || c->steps->count || c->has_from ||
	    c->steps->end != SP_STEP_BY_OPTIMIZER)
		return;
	for (uint32_t i = 0; i < c->count; i++)
		if (c->intervals[i].kind == SP_INTERVAL_CHECKPOINT ||
		    sp_phase_interval_phase(c->intervals[i].kind) == SP_ACCOUNT_loader_wait)
			c->intervals[kept++] = c->intervals[i];
	c->count = kept;
}

/* Counts the graphs launched since the last interval that is no graph; the count decides whether
 * steps are graphs. Returns false where nothing more is to be done. */
static bool note_graphs(struct sp_cutter *c, uint32_t event, enum sp_phase_interval_kind kind,
			int64_t end_ns)
{
	struct sp_steps *s = c->steps;

	if (sp_gpu_call_begins_capture(event))
		c->is_capturing = true;
	if (sp_gpu_call_ends_capture(event)) {
		c->is_capturing = false;
		c->captured_ns = end_ns;
		forget_warm_up(c);
	}
	if (kind == SP_INTERVAL_BACKWARD || kind == SP_INTERVAL_OPTIMIZER ||
	    kind == SP_INTERVAL_UPDATE) {
		s->has_captured |= c->is_capturing;
		s->graphs = 0;
	}
	if (kind != SP_INTERVAL_GRAPH)
		return kind != SP_INTERVAL_NONE;
	s->graphs++;
	return s->end == SP_STEP_BY_GRAPH;
}

/* Steps of which nothing is known; where the first of them ended recording began again, the next
 * begins. */
static void skip_unrecorded(struct sp_cutter *c, int64_t value, int64_t end_ns)
{
	cut_ended(c);
	c->count = c->aparts.count = 0;
	c->has_from = value & 1;
	c->from_ns = end_ns;
	if (value > 1)
		c->steps->unrecorded +=
			(uint32_t)(value >> 1 < UINT32_MAX ? value >> 1 : UINT32_MAX);
}

/*
 * A loop gives the last batch back when it has taken the next: of batches in shared memory that is
 * a call of munmap or some, and no part of the forward that follows.
 */
static bool is_giving_back(const struct sp_cutter *c)
{
	enum sp_phase_interval_kind last =
		c->count ? c->intervals[c->count - 1].kind : SP_INTERVAL_NONE;

	return last == SP_INTERVAL_LOADER || last == SP_INTERVAL_UNMAP;
}

/* A wait right after a call of a socket is one for the answer. */
static bool continues_exchange(const struct sp_cutter *c, const struct sp_phase_interval *interval)
{
	return interval->kind == SP_INTERVAL_AWAIT && c->count &&
	       c->intervals[c->count - 1].is_exchange;
}

static bool is_left_out(const struct sp_cutter *c, const struct sp_phase_interval *interval)
{
	if (interval->kind == SP_INTERVAL_UNMAP)
		return !is_giving_back(c);
	if (interval->is_exchange)
		return false;
	return c->steps->is_fed && sp_phase_interval_is_input(interval);
}

/* Turns a wait for a checkpoint that another thread saves into a checkpoint. On a condition a
 * thread waits for CPython's lock, which the one that saves may have; joins and futures wait
 * elsewhere. */
static void note_checkpoint(const struct sp_cutter *c, const struct sp_slot *slot,
			    struct sp_phase_interval *interval)
{
	if (interval->kind != SP_INTERVAL_AWAIT || !c->checkpoints ||
	    sp_commit_kind(slot->commit) == SP_EV_cond_wait ||
	    !sp_async_checkpoints_held(c->checkpoints, interval->start_ns, interval->end_ns))
		return;
	interval->kind = SP_INTERVAL_CHECKPOINT;
	interval->source = SP_FROM_WRAPPED;
}

static bool is_saved(const struct sp_cutter *c, uint32_t file)
{
	for (uint32_t i = 0; i < c->saved_count && i < SP_FILES_SAVED; i++)
		if (c->saved_files[i] == file)
			return true;
	return false;
}

static void note_saved(struct sp_cutter *c, const struct sp_phase_interval *interval)
{
	if (interval->kind == SP_INTERVAL_WRITE && interval->file && c->has_learned &&
	    !is_saved(c, interval->file))
		c->saved_files[c->saved_count++ % SP_FILES_SAVED] = interval->file;
}

/*
 * Weights that training goes on with are of a file that was saved since it began, or of the same
 * one at each start. File after file that nobody saved meanwhile is data: the input, if no loader
 * feeds the steps.
 */
static void note_load(struct sp_cutter *c, struct sp_phase_interval *interval)
{
	if (!interval->is_load || !interval->file)
		return;
	if (c->has_learned && !c->steps->is_fed && c->loaded_file &&
	    c->loaded_file != interval->file && !is_saved(c, interval->file))
		interval->kind = SP_INTERVAL_INPUT;
	c->loaded_file = interval->file;
}

/* Ahead of the first backward nothing has learned: a save writes data, or weights of the start. */
static bool is_start_saved(const struct sp_cutter *c, const struct sp_slot *slot)
{
	return sp_commit_kind(slot->commit) == SP_EV_python_call &&
	       slot->value == SP_PHASE_checkpoint_save && !c->has_from && !c->has_learned;
}

/* A captured call does no work, so it has no part in steps that are graphs. */
static bool is_only_captured(const struct sp_cutter *c, const struct sp_phase_interval *interval)
{
	return c->is_capturing && c->steps->end == SP_STEP_BY_GRAPH &&
	       (sp_phase_interval_is_structure(interval) ||
		interval->kind == SP_INTERVAL_ZERO_GRAD);
}

/*
 * A decoder that stays open may take what a picture needs in one batch and give the picture in the
 * next: the event lasts from the one to the other, and the step between them is no part of it.
 */
static void leave_step_out(const struct sp_cutter *c, struct sp_phase_interval *interval)
{
	if (interval->kind != SP_INTERVAL_INPUT)
		return;
	for (uint32_t i = c->count; i > 0; i--) {
		const struct sp_phase_interval *before = &c->intervals[i - 1];

		if (before->end_ns <= interval->start_ns)
			return;
		if (sp_phase_interval_is_structure(before)) {
			interval->start_ns = interval->end_ns;
			return;
		}
	}
}

/* An optimizer stepped since the interval began, and the step is not cut yet. */
static bool contains_optimizer(const struct sp_cutter *c, const struct sp_phase_interval *interval)
{
	for (uint32_t i = c->count; i > 0 && c->intervals[i - 1].start_ns >= interval->start_ns;
	     i--)
		if (c->intervals[i - 1].kind == SP_INTERVAL_OPTIMIZER ||
		    sp_interval_apart_ns(&c->intervals[i - 1], &c->aparts, SP_ACCOUNT_optimizer))
			return true;
	return false;
}

/* Counts calls of backward, and those in which optimizers have stepped. */
static void note_backward(const struct sp_cutter *c, const struct sp_phase_interval *interval)
{
	if (interval->kind != SP_INTERVAL_BACKWARD || interval->is_node)
		return;
	c->steps->backward_calls++;
	c->steps->updating_backwards +=
		(c->has_from && interval->start_ns < c->from_ns) || contains_optimizer(c, interval);
}

static bool has_batch(const struct sp_cutter *c, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (c->intervals[i].kind == SP_INTERVAL_LOADER)
			return true;
	return false;
}

/*
 * Where steps are batches: a call of a loader ends the step of the batch before. An
 * interval inside the call comes before it and stays.
 */
static void cut_batch(struct sp_cutter *c, const struct sp_phase_interval *next)
{
	struct sp_phase_interval *list;
	uint32_t first = c->count, inside;

	while (first > 0 && c->intervals[first - 1].start_ns >= next->start_ns)
		first--;
	if (!has_batch(c, first))
		return;
	list = sp_list_grow(c->intervals, c->count, &c->room, sizeof(*list));
	c->steps->is_out_of_memory |= !list;
	if (!list)
		return;
	c->intervals = list;
	inside = c->count - first;
	memmove(&list[first + 1], &list[first], inside * sizeof(*list));
	list[first] =
		(struct sp_phase_interval){.start_ns = next->start_ns, .end_ns = next->start_ns};
	c->count = first + 1;
	cut(c);
	memmove(list, &list[first + 1], inside * sizeof(*list));
	c->count = inside;
	sp_aparts_pack(&c->aparts, c->intervals, c->count);
}

static bool follows_step(const struct sp_cutter *c, const struct sp_phase_interval *interval)
{
	uint32_t n = end_of_step(c);
	const struct sp_phase_interval *last;

	if (n == 0 || (interval->kind == SP_INTERVAL_ZERO_GRAD &&
		       c->intervals[n - 1].kind == SP_INTERVAL_OPTIMIZER))
		return false;
	last = &c->intervals[c->count - 1];
	return interval->start_ns >= last->end_ns && !(interval->is_node && last->is_node);
}

/* A wait is of the innermost call that has a part in the account. */
static void note_locks(struct sp_cutter *c, const struct sp_slot *slot,
		       struct sp_phase_interval *interval)
{
	uint64_t ns;

	if (interval->kind == SP_INTERVAL_AWAIT && sp_commit_kind(slot->commit) == SP_EV_cond_wait)
		sp_lock_waits_put(&c->locks, slot, interval->start_ns, interval->end_ns);
	if (sp_phase_interval_phase(interval->kind) == SP_ACCOUNT_other)
		return;
	ns = sp_lock_waits_take(&c->locks, interval->start_ns);
	interval->lock_ns = sp_phase_interval_computes(interval) ? ns : 0;
}

void sp_cutter_take(struct sp_cutter *c, const struct sp_slot *slot, int64_t start_ns,
		    int64_t end_ns, bool is_collective)
{
	struct sp_phase_interval interval = sp_phase_interval_of(c->image, slot, start_ns, end_ns),
				 *list;

	if (is_collective)
		interval.kind = SP_INTERVAL_GRAD_SYNC;
	if (interval.kind == SP_INTERVAL_UPDATE && c->steps->leaves_calls)
		return;
	note_checkpoint(c, slot, &interval);
	note_saved(c, &interval);
	leave_step_out(c, &interval);
	note_locks(c, slot, &interval);
	interval.is_exchange |= continues_exchange(c, &interval);
	if (!note_graphs(c, sp_commit_kind(slot->commit), interval.kind, end_ns) ||
	    is_left_out(c, &interval) || is_only_captured(c, &interval) || is_start_saved(c, slot))
		return;
	if (interval.kind == SP_INTERVAL_OFF) {
		skip_unrecorded(c, slot->value, end_ns);
		return;
	}
	/*
	 * A wrapper around the optimizer's own marker may still come, so a step is cut by what
	 * follows it.
	 */
	if (follows_step(c, &interval))
		cut_ended(c);
	if (c->steps->end == SP_STEP_BY_BATCH &&
	    sp_phase_interval_phase(interval.kind) == SP_ACCOUNT_loader_wait)
		cut_batch(c, &interval);
	note_backward(c, &interval);
	if (interval.kind == SP_INTERVAL_SCALED_STEP && c->has_from &&
	    interval.start_ns < c->from_ns)
		return; /* its optimizer's step is cut already */
	if (c->has_from && interval.start_ns < c->from_ns)
		interval.start_ns = c->from_ns;
	if (interval.end_ns < interval.start_ns)
		return;
	if (sp_phase_interval_is_forward(&interval) && contains_optimizer(c, &interval))
		return; /* a method of the model that makes the whole step is no part of it */
	c->has_learned |= sp_phase_interval_ends_batches(&interval);
	c->steps->has_backward |= interval.kind == SP_INTERVAL_BACKWARD;
	c->steps->has_forward |= sp_phase_interval_is_forward(&interval);
	if (c->count == INTERVALS_MAX)
		shrink(c);
	list = sp_list_grow(c->intervals, c->count, &c->room, sizeof(*list));
	c->steps->is_out_of_memory |= !list;
	if (!list)
		return;
	c->intervals = list;
	c->count = sp_interval_put(c->intervals, c->count, interval, &c->aparts);
	note_load(c, &c->intervals[c->count - 1]);
	if (interval.iterator)
		sp_pass_note(c->steps, &c->intervals[c->count - 1]);
}

void sp_cutter_finish(struct sp_cutter *c)
{
	cut_ended(c);
	sp_forward_judge(c);
	if (c->steps->has_batches)
		sp_pass_cut_rest(c);
	else
		sp_order_cut_rest(c);
	c->steps->is_out_of_memory |= c->aparts.is_out_of_memory;
	sp_aparts_finish(&c->aparts);
	free(c->intervals);
	c->intervals = NULL;
}
