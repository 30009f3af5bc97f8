/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/step_cutter.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/each.h"
#include "analyzer/base/grow.h"
#include "analyzer/metadata/gpu_kinds.h"
#include "analyzer/steps/async_checkpoint.h"
#include "analyzer/steps/forward.h"
#include "analyzer/steps/step_order.h"
#include "analyzer/steps/step_pass.h"
#include "analyzer/steps/step_machine.h"
#include "trace/events.h"

#define INTERVALS_MAX                                                                              \
	(1u << 20) /* between two steps; beyond, the older half counts as other work */

/* The steps so far had fewer batches than optimizer steps: they warmed up on an input of their own,
 * or on one batch again and again. */
static bool has_warmed_up(const struct sp_steps *s)
{
	return SP_ANY(i, s->count, !s->steps[i].has_loader);
}

/* The number of optimizer steps goes on, because passes over loaders are counted by it. */
static void forget_steps(struct sp_cutter *c)
{
	struct sp_steps *s = c->steps;

	s->count = s->pause_count = s->wait_count = s->timeline.count = 0;
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

/* An event as the rows of step.def see it. */
struct event {
	const struct sp_slot *slot;
	uint32_t kind; /* of the event */
	int64_t end_ns;
	struct sp_phase_interval interval;
	bool is_dropped;
};

typedef bool guard_function(const struct sp_cutter *c, const struct event *e);
typedef void act_function(struct sp_cutter *c, struct event *e);

/* The words of the rows. */
#define GUARD(name, when)                                                                          \
	static bool guard_##name(const struct sp_cutter *c, const struct event *e)                 \
	{                                                                                          \
		(void)c, (void)e;                                                                  \
		return when;                                                                       \
	}
#define ACT(name, statement)                                                                       \
	static void act_##name(struct sp_cutter *c, struct event *e)                               \
	{                                                                                          \
		(void)c, (void)e;                                                                  \
		statement;                                                                         \
	}

GUARD(always, true)
GUARD(is_call, !e->interval.is_node)

static const struct {
	enum sp_step_end by;
	uint64_t tokens;
	guard_function *guard;
	enum sp_step_rule row;
} ends[] = {
#define SP_STEP_END(by, token, guard, why, suite, test)                                            \
	{SP_STEP_BY_##by, token, guard_##guard, SP_ROW_end_##by},
#include "analyzer/steps/step.def"
};

static bool ends_step(const struct sp_cutter *c, const struct sp_phase_interval *p)
{
	const struct event e = {.interval = *p};

	return SP_ANY(i, sizeof(ends) / sizeof(ends[0]),
		      ends[i].by == c->steps->end && (ends[i].tokens & sp_interval_tokens(p)) &&
			      ends[i].guard(c, &e) && ends[i].row != sp_step_row_off);
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

GUARD(leaves_calls, c->steps->leaves_calls)
ACT(drop, e->is_dropped = true)
GUARD(is_held_by_save,
      c->checkpoints && e->kind != SP_EV_cond_wait &&
	      sp_async_checkpoints_held(c->checkpoints, e->interval.start_ns, e->interval.end_ns))

ACT(make_checkpoint,
    (e->interval.kind = SP_INTERVAL_CHECKPOINT, e->interval.source = SP_FROM_WRAPPED))

static bool is_saved(const struct sp_cutter *c, uint32_t file)
{
	return SP_ANY(i, SP_FILES_SAVED, i < c->saved_count && c->saved_files[i] == file);
}

GUARD(has_learned, e->interval.file && c->has_learned && !is_saved(c, e->interval.file))
ACT(note_saved, c->saved_files[c->saved_count++ % SP_FILES_SAVED] = e->interval.file)

static bool is_save(const struct sp_phase_interval *p)
{
	return p->kind == SP_INTERVAL_CHECKPOINT && !p->is_load;
}

/* The number of intervals up to the last one that has a row of the account; 0: none has. */
static uint32_t count_to_row(const struct sp_cutter *c)
{
	return sp_interval_last(c->intervals, c->count, ROWS);
}

GUARD(follows_save, count_to_row(c) && is_save(&c->intervals[count_to_row(c) - 1]))

GUARD(saves, is_save(&e->interval))

static void act_claim_changes(struct sp_cutter *c, struct event *e)
{
	for (uint32_t i = count_to_row(c); i < c->count; i++)
		if (c->intervals[i].kind == SP_INTERVAL_CHANGE &&
		    c->intervals[i].end_ns <= e->interval.start_ns)
			c->intervals[i].kind = SP_INTERVAL_CHECKPOINT;
}

static bool guard_spans_step(const struct sp_cutter *c, const struct event *e)
{
	for (uint32_t i = c->count; i > 0; i--) {
		const struct sp_phase_interval *before = &c->intervals[i - 1];

		if (before->end_ns <= e->interval.start_ns)
			return false;
		if (sp_interval_is(before, STRUCTURE))
			return true;
	}
	return false;
}

ACT(make_empty, e->interval.start_ns = e->interval.end_ns)

static void act_note_locks(struct sp_cutter *c, struct event *e)
{
	struct sp_phase_interval *p = &e->interval;
	uint64_t ns;

	if (p->kind == SP_INTERVAL_AWAIT && e->kind == SP_EV_cond_wait)
		sp_lock_waits_put(&c->locks, e->slot, p->start_ns, p->end_ns);
	if (sp_phase_interval_phase(p->kind) == SP_ACCOUNT_other)
		return;
	ns = sp_lock_waits_take(&c->locks, p->start_ns);
	p->lock_ns = sp_interval_is(p, COMPUTES) ? ns : 0;
}

GUARD(follows_exchange, c->count && c->intervals[c->count - 1].is_exchange)
ACT(make_exchange, e->interval.is_exchange = true)
GUARD(begins_capture, sp_gpu_call_begins_capture(e->kind))
ACT(begin_capture, c->is_capturing = true)
GUARD(ends_capture, sp_gpu_call_ends_capture(e->kind))

static void act_end_capture(struct sp_cutter *c, struct event *e)
{
	uint32_t kept = 0;

	c->is_capturing = false;
	c->captured_ns = e->end_ns;
	if (!c->steps->has_captured || c->steps->count || c->has_from ||
	    c->steps->end != SP_STEP_BY_OPTIMIZER)
		return;
	for (uint32_t i = 0; i < c->count; i++)
		if (c->intervals[i].kind == SP_INTERVAL_CHECKPOINT ||
		    sp_interval_is(&c->intervals[i], LOADERS))
			c->intervals[kept++] = c->intervals[i];
	c->count = kept;
}

ACT(end_graphs, (c->steps->has_captured |= c->is_capturing, c->steps->graphs = 0))

ACT(count_graph, c->steps->graphs++)
GUARD(is_graph_steps, c->steps->end == SP_STEP_BY_GRAPH)
GUARD(is_no_step, !guard_is_graph_steps(c, e))

GUARD(keeps_batch, !c->count || !sp_interval_is(&c->intervals[c->count - 1], T(LOADER) | T(UNMAP)))

GUARD(is_fed_otherwise,
      c->steps->is_fed && !e->interval.is_exchange && e->kind != SP_EV_python_call)
GUARD(saves_unlearned,
      e->kind == SP_EV_python_call && e->slot->value == SP_PHASE_checkpoint_save && !c->has_learned)

static void act_skip_unrecorded(struct sp_cutter *c, struct event *e)
{
	uint64_t steps = (uint64_t)e->slot->value >> 1;

	cut_ended(c);
	c->count = c->aparts.count = 0;
	c->has_from = e->slot->value & 1;
	c->from_ns = e->end_ns;
	if (e->slot->value > 1)
		c->steps->unrecorded += (uint32_t)(steps < UINT32_MAX ? steps : UINT32_MAX);
	e->is_dropped = true;
}

static bool guard_follows_step(const struct sp_cutter *c, const struct event *e)
{
	uint32_t n = end_of_step(c);
	const struct sp_phase_interval *last = &c->intervals[c->count - 1], *p = &e->interval;

	if (p->kind == SP_INTERVAL_ZERO_GRAD && c->intervals[n - 1].kind == SP_INTERVAL_OPTIMIZER)
		return false;
	return p->start_ns >= last->end_ns && !(p->is_node && last->is_node);
}

ACT(cut, cut_ended(c))

/* The number of intervals that lie before the event's, and not in it. */
static uint32_t count_before(const struct sp_cutter *c, const struct event *e)
{
	uint32_t n = c->count;

	while (n > 0 && c->intervals[n - 1].start_ns >= e->interval.start_ns)
		n--;
	return n;
}

GUARD(ends_batch, c->steps->end == SP_STEP_BY_BATCH &&
			  sp_interval_last(c->intervals, count_before(c, e), T(LOADER)))

/* An interval inside of the call comes before it and stays. */
static void act_cut_batch(struct sp_cutter *c, struct event *e)
{
	uint32_t first = count_before(c, e), inside = c->count - first;
	struct sp_phase_interval *list =
		sp_list_grow(c->intervals, c->count, &c->room, sizeof(*list));

	c->steps->is_out_of_memory |= !list;
	if (!list)
		return;
	c->intervals = list;
	memmove(&list[first + 1], &list[first], inside * sizeof(*list));
	list[first] = (struct sp_phase_interval){.start_ns = e->interval.start_ns,
						 .end_ns = e->interval.start_ns};
	c->count = first + 1;
	cut(c);
	memmove(list, &list[first + 1], inside * sizeof(*list));
	c->count = inside;
	sp_aparts_pack(&c->aparts, c->intervals, c->count);
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

GUARD(begins_before, e->interval.start_ns < c->from_ns)

static void act_count_backward(struct sp_cutter *c, struct event *e)
{
	c->steps->backward_calls++;
	c->steps->updating_backwards +=
		(c->has_from && guard_begins_before(c, e)) || contains_optimizer(c, &e->interval);
}

ACT(clip, e->interval.start_ns = c->from_ns)
GUARD(is_backwards, e->interval.end_ns < e->interval.start_ns)
GUARD(makes_step, contains_optimizer(c, &e->interval))

static const struct {
	uint8_t state, next;
	uint64_t tokens;
	guard_function *guard;
	act_function *act;
	enum sp_step_rule row;
} transitions[] = {
#define SP_TRANSITION(state, token, guard, next, action, why, suite, test)                         \
	{SP_STATE_##state, SP_STATE_##next, token,                                                 \
	 guard_##guard,	   act_##action,    SP_ROW_##state##_##guard##_##action##_##test},
#include "analyzer/steps/step.def"
};
#define TRANSITIONS (sizeof(transitions) / sizeof(transitions[0]))

static uint8_t state_of(const struct sp_cutter *c)
{
	return (uint8_t)((c->has_from ? SP_STATE_TRAINING : SP_STATE_START) |
			 (c->is_capturing ? SP_STATE_CAPTURE : 0));
}

static bool is_in(const struct sp_cutter *c, uint8_t states)
{
	return states == SP_STATE_ENDED ? end_of_step(c) > 0 : (state_of(c) & states) != 0;
}

static void run_transitions(struct sp_cutter *c, struct event *e)
{
	for (uint32_t i = 0; i < TRANSITIONS && !e->is_dropped; i++) {
		if (!(transitions[i].tokens & sp_interval_tokens(&e->interval)) ||
		    !is_in(c, transitions[i].state) || !transitions[i].guard(c, e) ||
		    transitions[i].row == sp_step_row_off)
			continue;
		transitions[i].act(c, e);
		if (transitions[i].next != SP_STATE_SAME)
			c->has_from = transitions[i].next == SP_STATE_TRAINING;
	}
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

/* Adds an interval to those at hand. */
static void put(struct sp_cutter *c, const struct sp_phase_interval *p)
{
	struct sp_phase_interval *list;

	c->has_learned |= sp_interval_is(p, ENDS);
	c->steps->has_backward |= p->kind == SP_INTERVAL_BACKWARD;
	c->steps->has_forward |= sp_interval_is(p, MODELS);
	if (c->count == INTERVALS_MAX)
		shrink(c);
	list = sp_list_grow(c->intervals, c->count, &c->room, sizeof(*list));
	c->steps->is_out_of_memory |= !list;
	if (!list)
		return;
	c->intervals = list;
	c->count = sp_interval_put(c->intervals, c->count, *p, &c->aparts);
	note_load(c, &c->intervals[c->count - 1]);
	if (p->iterator)
		sp_pass_note(c->steps, &c->intervals[c->count - 1]);
}

void sp_cutter_init(struct sp_cutter *c, struct sp_steps *steps,
		    const struct sp_process_metadata *image)
{
	*c = (struct sp_cutter){.steps = steps, .image = image};
}

void sp_cutter_take(struct sp_cutter *c, const struct sp_slot *slot, int64_t start_ns,
		    int64_t end_ns, bool is_collective)
{
	struct event e = {.slot = slot,
			  .kind = sp_commit_kind(slot->commit),
			  .end_ns = end_ns,
			  .interval = sp_phase_interval_of(c->image, slot, start_ns, end_ns)};

	if (is_collective)
		e.interval.kind = SP_INTERVAL_GRAD_SYNC;
	run_transitions(c, &e);
	if (!e.is_dropped)
		put(c, &e.interval);
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
