/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/group_match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/each.h"
#include "analyzer/base/grow.h"
#include "analyzer/base/order.h"
#include "analyzer/hang/hang_tail.h"
#include "analyzer/reader/reader.h"
#include "analyzer/report/report.h"
#include "trace/collectives.h"

/* A group of one process, as the member of a group of the match. */
struct group_member {
	struct sp_group_calls *calls;
	uint32_t trainer;
	uint32_t unnamed; /* which of the process's groups of this size without a name */
};

struct matching {
	struct sp_group_match *match;
	struct sp_process_groups *processes; /* by trainer; a group's index in the match is in it */
	const struct sp_standing *standing;  /* by trainer */
	struct group_member *members;	     /* of all groups, by group and rank */
	uint32_t count, member_count;
};

enum { NO, YES };

static const struct {
	bool is_even, needs_all;
} operations[SP_COLLECTIVES] = {
#define SP_COLLECTIVE(number, name, is_even, needs_all) [number] = {is_even, needs_all},
#include "trace/collectives.def"
};

/* All ranks hand over as many elements of one type. */
static bool is_even(uint64_t operation)
{
	return operation < SP_COLLECTIVES && operations[operation].is_even;
}

/* An operation that ends on no rank before all have begun it. */
static bool needs_all(uint64_t operation)
{
	return operation < SP_COLLECTIVES && operations[operation].needs_all;
}

static bool is_same_call(const struct sp_group_call *a, const struct sp_group_call *b)
{
	if (a->operation != b->operation)
		return false;
	if (!is_even(a->operation) || a->elements < 0 || b->elements < 0)
		return true;
	return a->elements == b->elements && a->type == b->type;
}

/* Neither by a name nor by an identity. */
static bool is_unknown(const struct sp_group_calls *calls)
{
	return !calls->name && !calls->identity;
}

/* How many unknown groups of this size the process made before this one. */
static uint32_t unnamed_before(const struct sp_process_groups *process, uint32_t i)
{
	return SP_SUM(uint32_t, k, i,
		      is_unknown(&process->list[k]) &&
			      process->list[k].size == process->list[i].size);
}

/* The call of most members; NULL: all called the same, or too little is known. */
static const struct sp_group_call *usual_of(const struct group_member *members, uint32_t count,
					    uint64_t ordinal)
{
	const struct sp_group_call *usual = NULL;
	bool differs = false;
	uint32_t lead = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct sp_group_call *call = sp_group_call_at(members[i].calls, ordinal);

		if (!call)
			continue;
		differs |= usual && !is_same_call(usual, call);
		if (!lead)
			usual = call;
		lead = is_same_call(usual, call) ? lead + 1 : lead - 1;
	}
	return differs ? usual : NULL;
}

static void find_difference(struct sp_group *group, const struct group_member *members)
{
	uint64_t first = group->most > SP_GROUP_CALLS_KEPT ? group->most - SP_GROUP_CALLS_KEPT : 0;

	for (uint64_t ordinal = first + 1; !group->differs && ordinal <= group->most; ordinal++) {
		const struct sp_group_call *usual = usual_of(members, group->members, ordinal);

		if (!usual)
			continue;
		group->differs = ordinal;
		group->usual = *usual;
	}
}

static int compare_names(const struct sp_group_calls *a, const struct sp_group_calls *b)
{
	return SP_COMPARE(a->name_bytes, b->name_bytes)
		       ?: (a->name && b->name ? memcmp(a->name, b->name, a->name_bytes) : 0);
}

static int compare_groups(const struct group_member *x, const struct group_member *y)
{
	const struct sp_group_calls *a = x->calls, *b = y->calls;

	if (a->identity || b->identity)
		return SP_COMPARE(a->identity, b->identity);
	return compare_names(a, b) ?: SP_COMPARE(a->size, b->size) ?: SP_UP(unnamed);
}

/* The latest member comes first where several are one rank of a group. */
SP_ORDER(compare_members, struct group_member,
	 compare_groups(x, y) ?: SP_UP(calls->rank) ?: SP_DOWN(calls->since_ns) ?: SP_UP(trainer))

/* Made again by the same process, or by the one that took the place of a process that has ended. */
static bool is_successor(const struct matching *m, const struct group_member *now,
			 const struct group_member *before)
{
	return now->calls->name &&
	       (now->trainer == before->trainer || m->standing[before->trainer].is_gone);
}

/* The ordinals of its members count the same calls: the trace has all of them, and each rank is one
 * process, or follows one. */
static bool is_comparable(const struct matching *m, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		const struct group_member *one = &m->members[i], *next = one + 1;

		if (m->processes[one->trainer].is_partial)
			return false;
		if (i + 1 < to && next->calls->rank == one->calls->rank &&
		    !is_successor(m, one, next))
			return false;
	}
	return true;
}

/* These members are of one group. Those that others succeed are left out. */
static int add_group(struct matching *m, uint32_t from, uint32_t to)
{
	struct sp_group_match *match = m->match;
	const struct group_member *first = &m->members[from];
	struct sp_group *group = SP_LIST_ADD(match->groups, match->group_count, match->group_room);
	uint64_t rank = 0;

	if (!group)
		return -ENOMEM;
	*group = (struct sp_group){.name = first->calls->name,
				   .name_bytes = first->calls->name_bytes,
				   .identity = first->calls->identity,
				   .size = first->calls->size,
				   .least = UINT64_MAX};
	for (uint32_t i = from; i < to; i++) {
		struct group_member one = m->members[i];

		if (group->members && one.calls->rank == rank)
			continue;
		rank = one.calls->rank;
		one.calls->group = match->group_count - 1;
		m->members[from + group->members++] = one;
		group->least = one.calls->count < group->least ? one.calls->count : group->least;
		group->most = one.calls->count > group->most ? one.calls->count : group->most;
	}
	find_difference(group, &m->members[from]);
	return 0;
}

static void list_members(struct matching *m)
{
	uint32_t n = 0;

	for (uint32_t t = 0; t < m->count; t++)
		for (uint32_t i = 0; i < m->processes[t].count; i++) {
			struct sp_group_calls *calls = &m->processes[t].list[i];

			calls->group = SP_NO_GROUP;
			m->members[n++] =
				(struct group_member){calls, t,
						      is_unknown(calls)
							      ? unnamed_before(&m->processes[t], i)
							      : 0};
		}
	qsort(m->members, n, sizeof(*m->members), compare_members);
}

static int find_groups(struct matching *m)
{
	uint32_t to;
	int r = 0;

	m->members = calloc(m->member_count + UINT64_C(1), sizeof(*m->members));
	if (!m->members)
		return -ENOMEM;
	list_members(m);
	for (uint32_t from = 0; r == 0 && from < m->member_count; from = to) {
		to = from + 1;
		while (to < m->member_count &&
		       compare_groups(&m->members[from], &m->members[to]) == 0)
			to++;
		if (is_comparable(m, from, to))
			r = add_group(m, from, to);
	}
	free(m->members);
	return r;
}

/* The call of the process in this group that others have not begun, where it does not end without
 * them; NULL: none. */
static const struct sp_group_call *ahead_in(const struct matching *m,
					    const struct sp_group_calls *calls)
{
	const struct sp_group_call *call =
		calls->group == SP_NO_GROUP
			? NULL
			: sp_group_call_at(calls, m->match->groups[calls->group].least + 1);

	return call && needs_all(call->operation) ? call : NULL;
}

/* The group of the collective that holds the process up. Work is enqueued on a device after the
 * first one that waits; on the host the last one waits. NULL: none. */
static const struct sp_group_calls *holding(const struct matching *m,
					    const struct sp_process_groups *process)
{
	const struct sp_group_calls *last = sp_process_groups_last(process);
	const struct sp_group_calls *found = NULL;

	for (uint32_t i = 0; last && last->is_device && i < process->count; i++) {
		const struct sp_group_call *call = ahead_in(m, &process->list[i]);

		if (call && (!found || call->at_ns < ahead_in(m, found)->at_ns))
			found = &process->list[i];
	}
	return found ? found : last;
}

/* The last call of the process has not ended, or the ranks have called what never fits. */
static bool is_in_call(const struct matching *m, const struct sp_process_groups *process,
		       const struct sp_standing *standing)
{
	const struct sp_group_calls *last = holding(m, process);
	int64_t ended_ns;

	if (!last || !(last->is_device ? standing->is_on_device : standing->is_waiting))
		return false;
	ended_ns = last->is_device ? process->synced_since_ns : process->ended_since_ns;
	if (last->last[last->kept - 1].at_ns > ended_ns)
		return true;
	return last->group != SP_NO_GROUP &&
	       (m->match->groups[last->group].differs || (last->is_device && ahead_in(m, last)));
}

/* The group of this process in which the others have begun more; NULL: none. */
static const struct sp_group_calls *awaited_in(const struct matching *m, uint32_t trainer)
{
	const struct sp_process_groups *process = &m->processes[trainer];

	for (uint32_t i = 0; i < process->count; i++) {
		const struct sp_group_calls *calls = &process->list[i];

		if (calls->group != SP_NO_GROUP &&
		    calls->count < m->match->groups[calls->group].most)
			return calls;
	}
	return NULL;
}

/* The call of this process that differs from the others'; NULL: none. */
static const struct sp_group_calls *differing_in(const struct matching *m, uint32_t trainer)
{
	const struct sp_process_groups *process = &m->processes[trainer];

	for (uint32_t i = 0; i < process->count; i++) {
		const struct sp_group_calls *calls = &process->list[i];
		const struct sp_group *group;
		const struct sp_group_call *call;

		if (calls->group == SP_NO_GROUP)
			continue;
		group = &m->match->groups[calls->group];
		call = sp_group_call_at(calls, group->differs);
		if (call && !is_same_call(call, &group->usual))
			return calls;
	}
	return NULL;
}

/* The ordinal of the call in question. Several may be begun: the first that others have not holds
 * them up. */
static uint64_t ordinal_of(const struct sp_group *group, const struct sp_group_calls *calls,
			   enum sp_rank_state state)
{
	if (state == SP_RANK_DIFFERS)
		return group->differs;
	if (sp_rank_is_inside(state) && sp_group_call_at(calls, group->least + 1))
		return group->least + 1;
	return calls->count;
}

static struct sp_matched_rank rank_in(const struct matching *m, const struct sp_group_calls *calls,
				      enum sp_rank_state state)
{
	struct sp_matched_rank rank = {.state = SP_RANK_APART, .group = SP_NO_GROUP};
	const struct sp_group_call *call;

	if (!calls || calls->group == SP_NO_GROUP)
		return rank;
	rank.state = state;
	rank.group = calls->group;
	rank.ordinal = ordinal_of(&m->match->groups[rank.group], calls, state);
	call = sp_group_call_at(calls, rank.ordinal);
	if (call)
		rank.call = *call;
	return rank;
}

/* All ranks of the group are in the trace, and have begun this call. */
static bool is_whole(const struct sp_group *group, uint64_t ordinal)
{
	return group->size && group->members >= group->size && group->least >= ordinal &&
	       !group->differs;
}

static struct sp_matched_rank match_rank(const struct matching *m, uint32_t trainer,
					 struct sp_standing standing)
{
	const struct sp_process_groups *process = &m->processes[trainer];
	const struct sp_group_calls *last = holding(m, process);
	const struct sp_group_calls *awaited = awaited_in(m, trainer);
	const struct sp_group_calls *differing = differing_in(m, trainer);
	bool is_in = is_in_call(m, process, &standing);
	struct sp_matched_rank rank = rank_in(m, last, SP_RANK_APART);

	if (standing.is_gone)
		return awaited ? rank_in(m, awaited, SP_RANK_GONE) : rank;
	if (differing)
		return rank_in(m, differing, SP_RANK_DIFFERS);
	if (awaited)
		return is_in && awaited != last ? rank_in(m, last, SP_RANK_ELSEWHERE)
						: rank_in(m, awaited, SP_RANK_MISSING);
	if (!is_in || rank.group == SP_NO_GROUP)
		return rank;
	return rank_in(m, last,
		       is_whole(&m->match->groups[rank.group], rank.ordinal) ? SP_RANK_TOGETHER
									     : SP_RANK_WAITS);
}

static bool has_collectives(const struct sp_report *report, uint32_t image)
{
	const struct sp_index *index = &report->run.index;
	bool has = false;

	for (uint32_t i = sp_index_first_stream(index, image);
	     !has && i < index->stream_count && index->streams[i]->image == image; i++)
		has = report->totals.streams[i].stages[SP_STAGE_collective].calls > 0;
	return has;
}

/* The process emitted events that the trace has not. */
static bool has_lost(const struct sp_report *report, uint32_t image)
{
	const struct sp_index *index = &report->run.index;
	bool lost = index->images[image].process_lost > 0;

	for (uint32_t i = sp_index_first_stream(index, image);
	     !lost && i < index->stream_count && index->streams[i]->image == image; i++)
		lost = index->streams[i]->lost || report->totals.streams[i].missing;
	return lost;
}

int sp_trainer_groups_read(struct sp_process_groups *groups, struct sp_reader *reader,
			   const struct sp_report *report, uint32_t trainer, int64_t until_ns)
{
	const struct sp_stream *stream =
		report->run.index.streams[report->training.trainers[trainer].stream];
	struct sp_reader own;
	int r;

	*groups = (struct sp_process_groups){.list = NULL};
	if (!has_collectives(report, stream->image))
		return 0;
	if (stream->digested) {
		r = sp_hang_groups_read(stream, groups);
	} else if (reader) {
		r = sp_process_groups_read(groups, reader, &report->run, stream->image, until_ns);
	} else {
		r = sp_reader_init(&own);
		if (r == 0)
			r = sp_process_groups_read(groups, &own, &report->run, stream->image,
						   until_ns);
		sp_reader_finish(&own);
	}
	groups->is_partial |= has_lost(report, stream->image);
	return r;
}

static int read_all(struct matching *m, const struct sp_report *report, int64_t until_ns)
{
	struct sp_reader reader;
	int r = sp_reader_init(&reader);

	for (uint32_t t = 0; r == 0 && t < m->count; t++) {
		r = sp_trainer_groups_read(&m->processes[t], &reader, report, t, until_ns);
		m->member_count += m->processes[t].count;
	}
	sp_reader_finish(&reader);
	return r;
}

static uint64_t number_of(const struct sp_process_groups *process)
{
	return process->count && process->list[0].rank < SP_GROUP_NO_RANK ? process->list[0].rank
									  : UINT64_MAX;
}

static int match_all(struct matching *m)
{
	int r = find_groups(m);

	if (r != 0 || !m->match->group_count)
		return r;
	m->match->ranks = calloc(m->count, sizeof(*m->match->ranks));
	if (!m->match->ranks)
		return -ENOMEM;
	for (uint32_t t = 0; t < m->count; t++) {
		m->match->ranks[t] = match_rank(m, t, m->standing[t]);
		m->match->ranks[t].number = number_of(&m->processes[t]);
	}
	return 0;
}

int sp_group_match_find(const struct sp_report *report, int64_t until_ns,
			const struct sp_standing *standing, struct sp_group_match *ret)
{
	struct matching m = {.match = ret, .standing = standing, .count = report->training.count};
	int r;

	*ret = (struct sp_group_match){.groups = NULL};
	m.processes = calloc(m.count + UINT64_C(1), sizeof(*m.processes));
	if (!m.processes)
		return -ENOMEM;
	r = read_all(&m, report, until_ns);
	if (r == 0)
		r = match_all(&m);
	for (uint32_t t = 0; t < m.count; t++)
		sp_process_groups_finish(&m.processes[t]);
	free(m.processes);
	return r;
}

void sp_group_match_finish(struct sp_group_match *match)
{
	free(match->groups);
	free(match->ranks);
	*match = (struct sp_group_match){.groups = NULL};
}

uint32_t sp_group_match_culprit(const struct sp_group_match *match, uint32_t trainers)
{
	uint32_t found = UINT32_MAX;

	for (uint32_t t = 0; match->ranks && t < trainers; t++)
		if (match->ranks[t].state >= SP_RANK_MISSING &&
		    (found == UINT32_MAX || match->ranks[t].state > match->ranks[found].state))
			found = t;
	return found;
}
