/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/workers/wait_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/intervals.h"
#include "analyzer/base/order.h"

#define CALLS_MAX 16384u   /* kept; beyond, the older half counts as outside of fetches */
#define ROWS_MAX 512u	   /* of a thread; beyond, files have one row together */
#define CALL_LEAST_NS 2000 /* a shorter call did not wait */

struct sp_wait_sums {
	struct sp_wait_times times;
	struct sp_wait_call calls[CALLS_MAX]; /* disjoint, in the order of time */
	uint32_t count;
	struct sp_wait_row rows[ROWS_MAX];
	uint32_t row_count;
	uint32_t interpreter; /* its lock's condition; 0: not known */
	uint64_t fetch_cpu_ns;
	uint64_t matched_ns, read_ns, page_ns; /* of the open fetch, or since the last one */
	uint64_t ready_ns, unknown_ns; /* observed: ready to run; blocked in no known call */
};

static const char *const source_names[SP_WAIT_SOURCES] = {"calls", "switches", "counters",
							  "schedstat"};

const char *sp_wait_source_name(enum sp_wait_source source)
{
	return source_names[source];
}

static uint64_t part_of(uint64_t ns, uint64_t part, uint64_t whole)
{
	return whole ? (uint64_t)((double)ns * ((double)part / (double)whole)) : 0;
}

struct sp_wait_sums *sp_wait_sums_new(void)
{
	return calloc(1, sizeof(struct sp_wait_sums));
}

void sp_wait_sums_free(struct sp_wait_sums *s)
{
	free(s);
}

void sp_wait_sums_begin(struct sp_wait_sums *s, const struct sp_wait_times *times)
{
	s->times = *times;
	s->count = s->row_count = s->interpreter = 0;
	s->fetch_cpu_ns = s->matched_ns = s->read_ns = s->page_ns = 0;
	s->ready_ns = s->unknown_ns = 0;
}

static struct sp_wait_row *row_find(struct sp_wait_sums *s, enum sp_cause cause, uint32_t id)
{
	for (uint32_t i = 0; i < s->row_count; i++)
		if (s->rows[i].cause == cause && s->rows[i].id == id)
			return &s->rows[i];
	return NULL;
}

/* Each cause has room for the row of many. */
static struct sp_wait_row *row_of(struct sp_wait_sums *s, enum sp_cause cause, uint32_t id)
{
	struct sp_wait_row *row = row_find(s, cause, id);

	if (!row && id && s->row_count >= ROWS_MAX - SP_CAUSES)
		return row_of(s, cause, 0);
	if (row)
		return row;
	row = &s->rows[s->row_count++];
	*row = (struct sp_wait_row){.cause = cause, .id = id};
	return row;
}

static void add(struct sp_wait_sums *s, enum sp_cause cause, uint32_t id, uint64_t ns,
		uint64_t count, enum sp_wait_source source)
{
	struct sp_wait_row *row;

	if (!ns && !count)
		return;
	row = row_of(s, cause, id);
	row->ns += ns;
	row->count += count;
	row->source = source > row->source ? source : row->source;
}

static bool counts(const struct sp_wait_sums *s, int64_t start_ns)
{
	return start_ns >= s->times.begin_ns && start_ns < s->times.end_ns;
}

static uint64_t length(const struct sp_wait_call *call)
{
	return sp_interval_ns(call->start_ns, call->end_ns);
}

/* Outside of fetches. */
static void take_outside(struct sp_wait_sums *s, const struct sp_wait_call *call)
{
	if (!counts(s, call->start_ns))
		return;
	if (call->waits_all)
		add(s, call->cause, call->id, length(call), 1, SP_WAIT_SOURCE_CALLS);
	else
		row_of(s, call->cause, call->id)->held_ns += length(call);
}

static void make_room(struct sp_wait_sums *s)
{
	uint32_t half = s->count / 2;

	for (uint32_t i = 0; i < half; i++)
		take_outside(s, &s->calls[i]);
	s->count -= half;
	memmove(s->calls, s->calls + half, s->count * sizeof(*s->calls));
}

/* The interpreter asks for its lock on a condition, for a limited time (steps/lock_waits.h). */
static void note_lock(struct sp_wait_sums *s, const struct sp_wait_call *call)
{
	if (call->cause == SP_CAUSE_queue && call->is_timed_out)
		s->interpreter = call->id;
}

void sp_wait_sums_call(struct sp_wait_sums *s, const struct sp_wait_call *call)
{
	note_lock(s, call);
	if (call->end_ns - call->start_ns < CALL_LEAST_NS)
		return;
	/* Calls inside of it are its way to wait. */
	s->count = SP_NEST_FIRST(s->calls, s->count, start_ns, call->start_ns);
	if (s->count == CALLS_MAX)
		make_room(s);
	s->calls[s->count++] = *call;
}

/* The call that most of an interval lies in; NULL: none. */
static const struct sp_wait_call *call_around(const struct sp_wait_sums *s, int64_t start_ns,
					      int64_t end_ns)
{
	for (uint32_t i = SP_UPPER_BOUND(s->calls, s->count, end_ns, start_ns);
	     i < s->count && s->calls[i].start_ns < end_ns; i++) {
		const struct sp_wait_call *c = &s->calls[i];
		int64_t from = c->start_ns > start_ns ? c->start_ns : start_ns;
		int64_t to = c->end_ns < end_ns ? c->end_ns : end_ns;

		if (to - from > (end_ns - start_ns) / 2)
			return c;
	}
	return NULL;
}

void sp_wait_sums_off_core(struct sp_wait_sums *s, enum sp_no_core why, int64_t start_ns,
			   int64_t end_ns)
{
	static const struct sp_wait_call swap = {.cause = SP_CAUSE_swap},
					 recorder = {.cause = SP_CAUSE_recorder};
	const struct sp_wait_call *call = why == SP_NO_CORE_SWAP ? &swap
					  : why == SP_NO_CORE_RECORDER
						  ? &recorder
						  : call_around(s, start_ns, end_ns);
	uint64_t ns = sp_interval_ns(start_ns, end_ns);
	struct sp_wait_row *row;

	if (call && call->reads_file)
		s->read_ns += ns;
	if (why == SP_NO_CORE_PREEMPTED || !call)
		return;
	s->matched_ns += ns;
	if (!counts(s, start_ns))
		return;
	row = row_of(s, call->cause, call->id);
	row->open_ns += ns;
	row->open_count++;
}

void sp_wait_sums_page(struct sp_wait_sums *s, uint32_t file, uint64_t ns)
{
	struct sp_wait_row *row = row_of(s, SP_CAUSE_page, file);

	row->open_ns += ns;
	row->open_count++;
	s->page_ns += ns;
}

/* Observations count, or do not. Page faults also take time on a core, and ready for one:
 * blocked_ns in them. */
static void settle_open(struct sp_wait_sums *s, bool do_count, uint64_t blocked_ns)
{
	for (uint32_t i = 0; i < s->row_count; i++) {
		struct sp_wait_row row = s->rows[i];

		s->rows[i].open_ns = s->rows[i].open_count = 0;
		if (row.cause == SP_CAUSE_page)
			row.open_ns = part_of(row.open_ns, sp_least_ns(blocked_ns, s->page_ns),
					      s->page_ns);
		if (do_count)
			add(s, row.cause, row.id, row.open_ns, row.open_count,
			    SP_WAIT_SOURCE_SWITCHES);
	}
	if (do_count)
		add(s, SP_CAUSE_page, 0, sp_rest_ns(blocked_ns, s->page_ns), 0,
		    SP_WAIT_SOURCE_SWITCHES);
}

/* The time of calls that may have computed, as far as no core explains it. */
static uint64_t surely_blocked(uint64_t held_ns, uint64_t blocked_ns, uint64_t cpu_ns,
			       uint64_t ready_ns)
{
	return sp_least_ns(sp_rest_ns(held_ns, cpu_ns + ready_ns), blocked_ns);
}

static void settle_unobserved(struct sp_wait_sums *s, const struct sp_wait_fetch *f,
			      uint64_t off_ns, uint32_t first)
{
	uint64_t blocked_ns = sp_rest_ns(off_ns, f->ready_ns), held_ns = 0, surely_ns;

	for (uint32_t i = first; i < s->count; i++) {
		const struct sp_wait_call *c = &s->calls[i];
		uint64_t ns = c->waits_all ? sp_least_ns(length(c), blocked_ns) : 0;

		add(s, c->cause, c->id, ns, c->waits_all, SP_WAIT_SOURCE_CALLS);
		blocked_ns -= ns;
		held_ns += c->waits_all ? 0 : length(c);
	}
	surely_ns = surely_blocked(held_ns, blocked_ns, f->cpu_ns, f->ready_ns);
	for (uint32_t i = first; i < s->count; i++)
		if (!s->calls[i].waits_all)
			add(s, s->calls[i].cause, s->calls[i].id,
			    part_of(length(&s->calls[i]), surely_ns, held_ns), 0,
			    SP_WAIT_SOURCE_COUNTERS);
	add(s, f->waits_for_pages ? SP_CAUSE_page : SP_CAUSE_unknown, 0, blocked_ns - surely_ns, 0,
	    SP_WAIT_SOURCE_COUNTERS);
	add(s, SP_CAUSE_core, 0, f->ready_ns, 0, SP_WAIT_SOURCE_COUNTERS);
}

static void settle_observed(struct sp_wait_sums *s, uint64_t page_ns, uint64_t blocked_ns,
			    uint64_t ready_ns)
{
	uint64_t unknown_ns = sp_rest_ns(blocked_ns, s->matched_ns);

	settle_open(s, true, page_ns);
	add(s, SP_CAUSE_unknown, 0, unknown_ns, 0, SP_WAIT_SOURCE_SWITCHES);
	add(s, SP_CAUSE_core, 0, ready_ns, 0, SP_WAIT_SOURCE_SWITCHES);
	s->unknown_ns += unknown_ns;
	s->ready_ns += ready_ns;
}

void sp_wait_sums_between(struct sp_wait_sums *s, const struct sp_wait_between *b)
{
	bool does_count = b->end_ns > s->times.begin_ns && b->end_ns <= s->times.end_ns;

	if (does_count && !b->has_lost)
		settle_observed(s, b->page_ns, b->blocked_ns, b->ready_ns);
	else
		settle_open(s, false, 0);
	for (uint32_t i = 0; b->has_lost && i < s->count; i++)
		take_outside(s, &s->calls[i]);
	s->count = 0;
	s->matched_ns = s->read_ns = s->page_ns = 0;
}

uint64_t sp_wait_sums_fetch(struct sp_wait_sums *s, const struct sp_wait_fetch *fetch)
{
	uint64_t off_ns = sp_rest_ns(fetch->wall_ns, fetch->cpu_ns);
	uint32_t first = SP_NEST_FIRST(s->calls, s->count, start_ns, fetch->start_ns);

	if (counts(s, fetch->start_ns) && fetch->is_observed)
		settle_observed(s, fetch->page_ns, fetch->blocked_ns, fetch->ready_ns);
	else
		settle_open(s, false, 0);
	if (counts(s, fetch->start_ns) && !fetch->is_observed)
		settle_unobserved(s, fetch, off_ns, first);
	s->fetch_cpu_ns += counts(s, fetch->start_ns) ? fetch->cpu_ns : 0;
	s->count = first;
	/* Waits without an event are in the sum, without a place. */
	if (fetch->is_observed)
		off_ns = sp_least_ns(s->read_ns + sp_rest_ns(fetch->blocked_ns, s->matched_ns),
				     off_ns);
	s->matched_ns = s->read_ns = s->page_ns = 0;
	return sp_rest_ns(fetch->read_ns, off_ns);
}

static void row_remove(struct sp_wait_sums *s, enum sp_cause cause)
{
	for (uint32_t i = 0; i < s->row_count; i++)
		if (s->rows[i].cause == cause)
			s->rows[i] = (struct sp_wait_row){.cause = cause};
}

/* The waits for a core at the end of the rows' other waits, and where nothing was observed all that
 * may have been, leave them. */
static void cut_rows(struct sp_wait_sums *s)
{
	uint64_t cut_ns = sp_rest_ns(s->times.ready_ns, s->ready_ns), all_ns = s->unknown_ns;

	for (uint32_t i = 0; i < s->row_count; i++)
		all_ns += s->rows[i].ns;
	for (uint32_t i = 0; i < s->row_count; i++)
		s->rows[i].ns = part_of(s->rows[i].ns, sp_rest_ns(all_ns, cut_ns), all_ns);
}

/* The kernel's times of the thread are exact: they replace the sums of fetches. */
static void settle_whole(struct sp_wait_sums *s)
{
	const struct sp_wait_times *t = &s->times;
	uint64_t off_ns = sp_rest_ns(sp_interval_ns(t->begin_ns, t->end_ns), t->cpu_ns);
	uint64_t blocked_ns = sp_rest_ns(off_ns, t->ready_ns), held_ns = 0, surely_ns;

	row_remove(s, SP_CAUSE_core);
	row_remove(s, SP_CAUSE_unknown);
	cut_rows(s);
	for (uint32_t i = 0; i < s->row_count; i++) {
		blocked_ns = sp_rest_ns(blocked_ns, s->rows[i].ns);
		held_ns += s->rows[i].held_ns;
	}
	surely_ns = surely_blocked(held_ns, blocked_ns, sp_rest_ns(t->cpu_ns, s->fetch_cpu_ns),
				   t->ready_ns);
	for (uint32_t i = 0; i < s->row_count; i++)
		add(s, s->rows[i].cause, s->rows[i].id,
		    part_of(s->rows[i].held_ns, surely_ns, held_ns), 0, SP_WAIT_SOURCE_SCHEDSTAT);
	add(s, SP_CAUSE_unknown, 0, blocked_ns - surely_ns, 0, SP_WAIT_SOURCE_SCHEDSTAT);
	add(s, SP_CAUSE_core, 0, t->ready_ns, 0, SP_WAIT_SOURCE_SCHEDSTAT);
}

/* Locks and conditions have addresses, which say nothing to people. */
static void join_locks(struct sp_wait_sums *s)
{
	for (uint32_t i = 0; i < s->row_count; i++) {
		struct sp_wait_row row = s->rows[i];

		if (!row.id || (row.cause != SP_CAUSE_lock && row.cause != SP_CAUSE_queue))
			continue;
		s->rows[i] = (struct sp_wait_row){.cause = row.cause, .id = row.id};
		add(s,
		    row.cause == SP_CAUSE_queue && row.id == s->interpreter ? SP_CAUSE_interpreter
									    : row.cause,
		    0, row.ns, row.count, row.source);
	}
}

SP_ORDER(by_cause, struct sp_wait_row, SP_UP(cause) ?: SP_DOWN(ns) ?: SP_UP(id))

int sp_wait_sums_end(struct sp_wait_sums *s, struct sp_thread_waits *ret)
{
	ret->ns = sp_interval_ns(s->times.begin_ns, s->times.end_ns);
	for (uint32_t i = 0; i < s->count; i++)
		take_outside(s, &s->calls[i]);
	if (s->times.is_known)
		settle_whole(s);
	join_locks(s);
	qsort(s->rows, s->row_count, sizeof(*s->rows), by_cause);
	ret->rows = malloc((s->row_count + 1) * sizeof(*s->rows));
	if (!ret->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->row_count; i++)
		if (s->rows[i].ns)
			ret->rows[ret->count++] = s->rows[i];
	return 0;
}
