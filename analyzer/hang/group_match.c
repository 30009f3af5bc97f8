/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/group_match.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/grow.h"
#include "analyzer/report/report.h"
#include "trace/collectives.h"

#define NO_GROUP UINT32_MAX

struct matching {
	struct sp_group_match *match;
	struct sp_process_groups *processes; /* by trainer; a group's index in the match is in it */
	const struct sp_group_calls **members; /* of all groups, by group */
	uint32_t count, member_count;
};

/* All ranks hand over as many elements of one type. */
static bool is_even(uint64_t operation)
{
	enum { NO, YES };
	static const bool even[SP_COLLECTIVES] = {
#define SP_COLLECTIVE(number, name, is_even) [number] = is_even,
#include "trace/collectives.def"
	};

	return operation < SP_COLLECTIVES && even[operation];
}

static bool is_same_call(const struct sp_group_call *a, const struct sp_group_call *b)
{
	if (a->operation != b->operation)
		return false;
	if (!is_even(a->operation) || a->elements < 0 || b->elements < 0)
		return true;
	return a->elements == b->elements && a->type == b->type;
}

/* How many groups of this size and without a name the process made before this one. */
static uint32_t unnamed_before(const struct sp_process_groups *process, uint32_t i)
{
	uint32_t before = 0;

	for (uint32_t k = 0; k < i; k++)
		before += process->list[k].name == SP_STRINGS_REST &&
			  process->list[k].size == process->list[i].size;
	return before;
}

static uint32_t find_group(const struct sp_group_match *match,
			   const struct sp_process_groups *process, uint32_t i)
{
	const struct sp_group_calls *calls = &process->list[i];
	uint32_t unnamed = calls->name == SP_STRINGS_REST ? unnamed_before(process, i) : 0;

	for (uint32_t k = 0; k < match->group_count; k++)
		if (match->groups[k].name == calls->name && match->groups[k].size == calls->size &&
		    match->groups[k].unnamed == unnamed)
			return k;
	return NO_GROUP;
}

static int add_member(struct sp_group_match *match, struct sp_process_groups *process, uint32_t i)
{
	const struct sp_group_calls *calls = &process->list[i];
	uint32_t k = find_group(match, process, i);
	struct sp_group *group;

	if (k == NO_GROUP) {
		group = sp_list_grow(match->groups, match->group_count, &match->group_room,
				     sizeof(*group));
		if (!group)
			return -ENOMEM;
		match->groups = group;
		k = match->group_count++;
		group[k] = (struct sp_group){
			.name = calls->name,
			.size = calls->size,
			.unnamed = calls->name == SP_STRINGS_REST ? unnamed_before(process, i) : 0,
			.least = UINT64_MAX,
		};
	}
	process->list[i].group = k;
	group = &match->groups[k];
	group->members++;
	group->least = calls->count < group->least ? calls->count : group->least;
	group->most = calls->count > group->most ? calls->count : group->most;
	return 0;
}

/* The call of most members; NULL: all called the same, or too little is known. */
static const struct sp_group_call *usual_of(const struct sp_group_calls *const *members,
					    uint32_t count, uint64_t ordinal)
{
	const struct sp_group_call *usual = NULL;
	bool differs = false;
	uint32_t lead = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct sp_group_call *call = sp_group_call_at(members[i], ordinal);

		if (!call)
			continue;
		differs |= usual && !is_same_call(usual, call);
		if (!lead)
			usual = call;
		lead = is_same_call(usual, call) ? lead + 1 : lead - 1;
	}
	return differs ? usual : NULL;
}

static void find_difference(struct sp_group *group, const struct sp_group_calls *const *members)
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

static int compare_members(const void *a, const void *b)
{
	const struct sp_group_calls *x = *(const struct sp_group_calls *const *)a,
				    *y = *(const struct sp_group_calls *const *)b;

	return (x->group > y->group) - (x->group < y->group);
}

static int find_differences(struct matching *m)
{
	uint32_t n = 0;

	m->members = calloc(m->member_count + UINT64_C(1), sizeof(const void *));
	if (!m->members)
		return -ENOMEM;
	for (uint32_t t = 0; t < m->count; t++)
		for (uint32_t i = 0; i < m->processes[t].count; i++)
			m->members[n++] = &m->processes[t].list[i];
	qsort(m->members, n, sizeof(const void *), compare_members);
	n = 0;
	for (uint32_t k = 0; k < m->match->group_count; n += m->match->groups[k++].members)
		find_difference(&m->match->groups[k], &m->members[n]);
	free(m->members);
	return 0;
}

/* The last call of the process has not ended, or the ranks have called what never fits. */
static bool is_in_call(const struct matching *m, const struct sp_process_groups *process)
{
	const struct sp_group_calls *last = sp_process_groups_last(process);

	return last && (last->last[last->kept - 1].at_ns > process->ended_since_ns ||
			m->match->groups[last->group].differs);
}

/* The group of this process in which the others have begun more; NULL: none. */
static const struct sp_group_calls *awaited_in(const struct matching *m, uint32_t trainer)
{
	const struct sp_process_groups *process = &m->processes[trainer];

	for (uint32_t i = 0; i < process->count; i++)
		if (process->list[i].count < m->match->groups[process->list[i].group].most)
			return &process->list[i];
	return NULL;
}

/* The call of this process that differs from the others'; NULL: none. */
static const struct sp_group_calls *differing_in(const struct matching *m, uint32_t trainer)
{
	const struct sp_process_groups *process = &m->processes[trainer];

	for (uint32_t i = 0; i < process->count; i++) {
		const struct sp_group *group = &m->match->groups[process->list[i].group];
		const struct sp_group_call *call =
			sp_group_call_at(&process->list[i], group->differs);

		if (call && !is_same_call(call, &group->usual))
			return &process->list[i];
	}
	return NULL;
}

static struct sp_matched_rank rank_in(const struct matching *m, const struct sp_group_calls *calls,
				      enum sp_rank_state state)
{
	struct sp_matched_rank rank = {.state = state, .group = NO_GROUP};
	const struct sp_group_call *call;

	if (!calls)
		return rank;
	rank.group = calls->group;
	rank.ordinal =
		state == SP_RANK_DIFFERS ? m->match->groups[rank.group].differs : calls->count;
	call = sp_group_call_at(calls, rank.ordinal);
	if (call)
		rank.call = *call;
	return rank;
}

static struct sp_matched_rank match_rank(const struct matching *m, uint32_t trainer,
					 struct sp_standing standing)
{
	const struct sp_process_groups *process = &m->processes[trainer];
	const struct sp_group_calls *last = sp_process_groups_last(process);
	const struct sp_group_calls *awaited = awaited_in(m, trainer);
	const struct sp_group_calls *differing = differing_in(m, trainer);
	bool is_in = standing.is_waiting && is_in_call(m, process);
	struct sp_matched_rank rank = rank_in(m, last, SP_RANK_APART);

	if (standing.is_gone)
		return awaited ? rank_in(m, awaited, SP_RANK_GONE) : rank;
	if (differing)
		return rank_in(m, differing, SP_RANK_DIFFERS);
	if (awaited)
		return is_in && awaited != last ? rank_in(m, last, SP_RANK_ELSEWHERE)
						: rank_in(m, awaited, SP_RANK_MISSING);
	if (is_in && rank.group != NO_GROUP)
		rank.state = m->match->groups[rank.group].least < rank.ordinal ||
					     m->match->groups[rank.group].differs
				     ? SP_RANK_WAITS
				     : SP_RANK_TOGETHER;
	return rank;
}

static int read_all(struct matching *m, const struct sp_report *report, int64_t until_ns)
{
	int r = 0;

	for (uint32_t t = 0; r == 0 && t < m->count; t++) {
		uint32_t stream = report->training.trainers[t].stream;

		r = sp_process_groups_read(&m->processes[t], &report->run,
					   report->run.index.streams[stream]->image, until_ns);
		for (uint32_t i = 0; r == 0 && i < m->processes[t].count; i++)
			r = add_member(m->match, &m->processes[t], i);
		m->member_count += m->processes[t].count;
	}
	return r;
}

static int match_all(struct matching *m, const struct sp_standing *standing)
{
	m->match->ranks = calloc(m->count, sizeof(*m->match->ranks));
	if (!m->match->ranks)
		return -ENOMEM;
	if (find_differences(m) < 0)
		return -ENOMEM;
	for (uint32_t t = 0; t < m->count; t++) {
		m->match->ranks[t] = match_rank(m, t, standing[t]);
		m->match->ranks[t].number =
			m->processes[t].count ? m->processes[t].list[0].rank : UINT64_MAX;
	}
	return 0;
}

int sp_group_match_find(const struct sp_report *report, int64_t until_ns,
			const struct sp_standing *standing, struct sp_group_match *ret)
{
	struct matching m = {.match = ret, .count = report->training.count};
	int r;

	*ret = (struct sp_group_match){.groups = NULL};
	m.processes = calloc(m.count + UINT64_C(1), sizeof(*m.processes));
	if (!m.processes)
		return -ENOMEM;
	r = read_all(&m, report, until_ns);
	if (r == 0 && ret->group_count)
		r = match_all(&m, standing);
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
