/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/interval_nest.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/each.h"
#include "analyzer/base/grow.h"
#include "analyzer/base/intervals.h"
#include "analyzer/steps/collective.h"
#include "analyzer/steps/step_machine.h"

/* Nodes that follow each other this closely are of one backward, where no wrapped call says so. */
#define NODE_GAP_NS 1000000
#define APARTS_MAX (1u << 22)

#define ROW(phase) (1u << SP_ACCOUNT_##phase)
/* Rows of the account whose calls stand apart, by the words of interval.def. */
enum sp_apart_rows {
	NOTHING = 0,
	WAITS = ROW(h2d_copy) | ROW(sync_wait) | ROW(grad_sync) | ROW(compile) | ROW(checkpoint),
	ZEROS = WAITS | ROW(zero_grad),
	UPDATES = ZEROS | ROW(optimizer),
	LOADS = WAITS | ROW(loader_wait),
};

static const uint32_t rows[SP_INTERVAL_KINDS] = {
#define SP_INTERVAL(name, account, part, apart) apart,
#include "analyzer/steps/interval.def"
#undef SP_INTERVAL
};

void sp_aparts_finish(struct sp_aparts *a)
{
	free(a->list);
	free(a->scratch);
	*a = (struct sp_aparts){.list = NULL};
}

uint64_t sp_interval_apart_ns(const struct sp_phase_interval *p, const struct sp_aparts *a,
			      enum sp_account_phase phase)
{
	return SP_SUM(uint64_t, i, p->apart_count,
		      a->list[p->apart_at + i].phase == phase
			      ? (uint64_t)(a->list[p->apart_at + i].end_ns -
					   a->list[p->apart_at + i].start_ns)
			      : 0);
}

/* In the order of time. Touching parts of one sort are one. */
static void add(struct sp_aparts *a, int64_t start_ns, int64_t end_ns, struct sp_apart part)
{
	struct sp_apart *last = a->scratch_count ? &a->scratch[a->scratch_count - 1] : NULL;
	struct sp_apart *added;

	if (last && last->end_ns > start_ns)
		start_ns = last->end_ns;
	if (start_ns >= end_ns)
		return;
	if (last && last->end_ns == start_ns && last->phase == part.phase &&
	    last->kind == part.kind) {
		last->end_ns = end_ns;
		return;
	}
	if (a->scratch_count >= APARTS_MAX)
		return;
	added = SP_LIST_ADD(a->scratch, a->scratch_count, a->scratch_room);
	a->is_out_of_memory |= !added;
	part.start_ns = start_ns;
	part.end_ns = end_ns;
	if (added)
		*added = part;
}

/* The scratch becomes the parts of the interval, which has those from `at` on. */
static void keep(struct sp_aparts *a, uint32_t at, struct sp_phase_interval *p)
{
	p->apart_at = at;
	p->apart_count = 0;
	p->apart_ns = 0;
	a->count = at;
	for (uint32_t i = 0; i < a->scratch_count && at + i < APARTS_MAX; i++) {
		struct sp_apart *added = SP_LIST_ADD(a->list, a->count, a->room);

		a->is_out_of_memory |= !added;
		if (!added)
			break;
		*added = a->scratch[i];
		p->apart_count++;
		p->apart_ns += (uint64_t)(a->scratch[i].end_ns - a->scratch[i].start_ns);
	}
	a->scratch_count = 0;
}

/* A save by a signal handler inside of a call; not the call's wait for the lock of a thread that
 * saves meanwhile. */
static bool is_own_save(const struct sp_phase_interval *outer,
			const struct sp_phase_interval *inner)
{
	return sp_interval_is(outer, COMPUTES) && inner->label && !inner->is_load;
}

static bool stands_apart(const struct sp_phase_interval *outer,
			 const struct sp_phase_interval *inner)
{
	enum sp_account_phase row = sp_phase_interval_phase(inner->kind);

	if (inner->kind == SP_INTERVAL_CHECKPOINT && !is_own_save(outer, inner))
		return false;
	return row != SP_ACCOUNT_other && (rows[outer->kind] & 1u << row);
}

/* Adds what stands apart in `outer` of an interval inside it. */
static void add_inner(struct sp_aparts *a, const struct sp_phase_interval *outer,
		      const struct sp_phase_interval *inner)
{
	bool is_apart = stands_apart(outer, inner);
	struct sp_apart own = {.phase = (uint8_t)sp_phase_interval_phase(inner->kind),
			       .kind = inner->kind,
			       .source = inner->source};
	int64_t at_ns = inner->start_ns;

	for (uint32_t i = inner->apart_at; i < inner->apart_at + inner->apart_count; i++) {
		struct sp_apart part = a->list[i];

		if (!(rows[outer->kind] & 1u << part.phase))
			continue;
		if (is_apart)
			add(a, at_ns, part.start_ns, own);
		add(a, part.start_ns, part.end_ns, part);
		at_ns = part.end_ns;
	}
	if (is_apart)
		add(a, at_ns, inner->end_ns, own);
}

static bool optimizes(const struct sp_phase_interval *p)
{
	return p->kind == SP_INTERVAL_OPTIMIZER || p->kind == SP_INTERVAL_OPTIMIZER_PART;
}

/* A method of an optimizer that steps it, or the optimizer that it wraps, is the step. A scaler's
 * step is one, whether it calls the optimizer or skips it. */
static void note_step(const struct sp_phase_interval *intervals, uint32_t first, uint32_t n,
		      struct sp_phase_interval *interval)
{
	bool is_scaled = interval->kind == SP_INTERVAL_SCALED_STEP, has_step;

	if (!is_scaled && interval->kind != SP_INTERVAL_OPTIMIZER_PART)
		return;
	has_step = sp_interval_next(intervals, first, n, T(OPTIMIZER)) < n;
	if (has_step || is_scaled)
		interval->kind = SP_INTERVAL_OPTIMIZER;
	interval->is_skipped = is_scaled && !has_step;
}

static void contain(struct sp_phase_interval *outer, const struct sp_phase_interval *inner,
		    const struct sp_aparts *a)
{
	outer->has_fetch |= inner->kind == SP_INTERVAL_FETCH || inner->has_fetch;
	/* PyTorch's own mark says the same. */
	if (outer->iterator && inner->source == SP_FROM_OBSERVED)
		outer->source = SP_FROM_OBSERVED;
	if (outer->is_load && inner->file)
		outer->file = inner->file;
	if (rows[outer->kind] == NOTHING)
		return;
	outer->lock_ns += inner->lock_ns;
	outer->input_ns +=
		inner->kind == SP_INTERVAL_INPUT ? sp_phase_interval_ns(inner) : inner->input_ns;
	if (outer->kind == SP_INTERVAL_BACKWARD)
		outer->node_ns +=
			inner->is_node
				? sp_phase_interval_ns(inner) -
					  sp_interval_apart_ns(inner, a, SP_ACCOUNT_grad_sync)
				: inner->node_ns;
}

/* Cuts an interval that overlaps another without lying inside it. Ranges of two threads and damaged
 * traces make such intervals. */
static void keep_order(const struct sp_phase_interval *intervals, uint32_t first, uint32_t n,
		       struct sp_phase_interval *interval)
{
	if (first > 0 && intervals[first - 1].end_ns > interval->start_ns)
		interval->start_ns = intervals[first - 1].end_ns;
	if (first < n && intervals[n - 1].end_ns > interval->end_ns)
		interval->end_ns = intervals[n - 1].end_ns;
	if (interval->end_ns < interval->start_ns)
		interval->end_ns = interval->start_ns;
}

/* The index of the interval that begins the next round of a closure; i where there is none. */
static uint32_t next_round(const struct sp_phase_interval *intervals, uint32_t i, uint32_t n)
{
	uint32_t k = sp_interval_next(intervals, i + 1, n, T(BACKWARD) | T(ZERO_GRAD) | MODELS);

	return k < n && intervals[k].kind != SP_INTERVAL_BACKWARD ? k : i;
}

/* The time between two rounds of a closure belongs to the optimizer. */
static void note_optimizer(struct sp_phase_interval *intervals, uint32_t first, uint32_t n)
{
	for (uint32_t i = first; i < n; i++) {
		uint32_t next =
			intervals[i].kind == SP_INTERVAL_BACKWARD ? next_round(intervals, i, n) : i;

		for (; i < next; i++)
			intervals[i].optimizer_follows = true;
	}
}

/*
 * From the last backward inside it on: an optimizer that calls a closure runs forward and backward
 * inside.
 */
static uint32_t skip_closure(struct sp_phase_interval *intervals, uint32_t first, uint32_t n,
			     struct sp_phase_interval *interval)
{
	uint32_t closure = sp_interval_last(&intervals[first], n - first, T(BACKWARD));

	if (!closure)
		return first;
	interval->start_ns = intervals[first + closure - 1].end_ns;
	note_optimizer(intervals, first, first + closure);
	return first + closure;
}

static bool joins_node(const struct sp_phase_interval *last,
		       const struct sp_phase_interval *interval)
{
	return interval->is_node && last->is_node && interval->start_ns >= last->end_ns &&
	       interval->start_ns - last->end_ns <= NODE_GAP_NS;
}

static void join(struct sp_phase_interval *last, const struct sp_phase_interval *interval,
		 struct sp_aparts *a)
{
	uint32_t at = last->apart_at + last->apart_count;

	if (!last->apart_count)
		last->apart_at = at = interval->apart_at;
	if (interval->apart_count)
		memmove(&a->list[at], &a->list[interval->apart_at],
			interval->apart_count * sizeof(*a->list));
	last->end_ns = interval->end_ns;
	last->lock_ns += interval->lock_ns;
	last->apart_ns += interval->apart_ns;
	last->apart_count += interval->apart_count;
	a->count = at + interval->apart_count;
}

static uint32_t first_part(const struct sp_phase_interval *intervals, uint32_t first, uint32_t n,
			   const struct sp_aparts *a)
{
	while (first < n && !intervals[first].apart_count)
		first++;
	return first < n ? intervals[first].apart_at : a->count;
}

uint32_t sp_interval_put(struct sp_phase_interval *intervals, uint32_t n,
			 struct sp_phase_interval interval, struct sp_aparts *a)
{
	uint32_t first = SP_NEST_FIRST(intervals, n, start_ns, interval.start_ns);

	note_step(intervals, first, n, &interval);
	if (optimizes(&interval))
		first = skip_closure(intervals, first, n, &interval);
	for (uint32_t i = first; i < n; i++) {
		contain(&interval, &intervals[i], a);
		add_inner(a, &interval, &intervals[i]);
	}
	keep_order(intervals, first, n, &interval);
	keep(a, first_part(intervals, first, n, a), &interval);
	if (first > 0 && first == n && joins_node(&intervals[first - 1], &interval)) {
		join(&intervals[first - 1], &interval, a);
		return first;
	}
	intervals[first] = interval;
	return first + 1;
}

void sp_aparts_pack(struct sp_aparts *a, struct sp_phase_interval *intervals, uint32_t n)
{
	a->count = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct sp_phase_interval *p = &intervals[i];

		if (p->apart_count)
			memmove(&a->list[a->count], &a->list[p->apart_at],
				p->apart_count * sizeof(*a->list));
		p->apart_at = a->count;
		a->count += p->apart_count;
	}
}

/* The gaps of `p` between from_ns and to_ns, from its part *i on. */
static void add_gaps(struct sp_aparts *a, const struct sp_phase_interval *p, uint32_t *i,
		     int64_t from_ns, int64_t to_ns)
{
	const struct sp_apart communication = {.phase = SP_ACCOUNT_grad_sync,
					       .kind = SP_INTERVAL_GRAD_SYNC,
					       .source = SP_FROM_OBSERVED};

	for (; *i < p->apart_at + p->apart_count && a->list[*i].start_ns < to_ns; ++*i) {
		struct sp_apart part = a->list[*i];

		add(a, from_ns, part.start_ns, communication);
		add(a, part.start_ns, part.end_ns, part);
		from_ns = part.end_ns > from_ns ? part.end_ns : from_ns;
	}
	add(a, from_ns, to_ns, communication);
}

uint64_t sp_interval_cut_collectives(struct sp_phase_interval *p, struct sp_aparts *a,
				     const struct sp_process_calls *calls)
{
	uint64_t before_ns = p->apart_ns;
	int64_t from_ns = p->start_ns, to_ns;
	uint32_t i = p->apart_at, call = sp_process_calls_after(calls, from_ns);

	while (sp_collective_next(calls, &call, &from_ns, p->end_ns, &to_ns)) {
		add_gaps(a, p, &i, from_ns, to_ns);
		from_ns = to_ns;
	}
	for (; i < p->apart_at + p->apart_count; i++)
		add(a, a->list[i].start_ns, a->list[i].end_ns, a->list[i]);
	keep(a, a->count, p);
	return p->apart_ns - before_ns;
}
