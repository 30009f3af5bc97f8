/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/rank_hang.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/order.h"
#include "analyzer/report/report.h"
#include "trace/collectives.h"

static bool is_same_place(const struct sp_hang_row *row, const struct sp_hang_link *links,
			  uint32_t count)
{
	const struct sp_hang_link *a = &row->links[row->link_count - 1], *b = &links[count - 1];

	return row->link_count == count && a->role == b->role && a->kind == b->kind &&
	       (a->role == SP_HANG_RANK || a->number == b->number) && a->is_gone == b->is_gone &&
	       a->is_stopped == b->is_stopped && a->lock.what == b->lock.what &&
	       strcmp(a->file, b->file) == 0;
}

/* Ranks that wait share a row whatever call they wait in. */
static bool is_in_row(const struct sp_hang_row *row, const struct sp_matched_rank *rank,
		      const struct sp_hang_link *links, uint32_t count)
{
	if (row->rank.state != rank->state || row->rank.group != rank->group ||
	    row->rank.ordinal != rank->ordinal ||
	    row->rank.call.operation != rank->call.operation ||
	    row->rank.call.elements != rank->call.elements)
		return false;
	return rank->state == SP_RANK_WAITS || rank->state == SP_RANK_TOGETHER ||
	       is_same_place(row, links, count);
}

static int add_rank(struct sp_rank_hang *ret, const struct sp_report *report,
		    const struct sp_hang *hang, uint32_t trainer)
{
	const struct sp_matched_rank *rank = &ret->match.ranks[trainer];
	struct sp_hang_link links[2];
	uint32_t count = sp_hang_links(report, hang, &ret->match, trainer, links), k = 0;
	int64_t end_ns = hang->since_ns + (int64_t)hang->for_ns, for_ns;
	struct sp_hang_row *rows;

	if (!count)
		return -ENOMEM;
	ret->numbers[trainer] = links[0].number;
	while (k < ret->row_count && !is_in_row(&ret->rows[k], rank, links, count))
		k++;
	if (k == ret->row_count) {
		rows = SP_LIST_ADD(ret->rows, ret->row_count, ret->row_room);
		if (!rows)
			return -ENOMEM;
		*rows = (struct sp_hang_row){.rank = *rank, .link_count = count};
		memcpy(rows->links, links, count * sizeof(*links));
	}
	rows = &ret->rows[k];
	rows->count++;
	for_ns = rank->call.operation ? end_ns - rank->call.at_ns : (int64_t)links[0].for_ns;
	rows->for_ns = for_ns > (int64_t)rows->for_ns ? (uint64_t)for_ns : rows->for_ns;
	ret->row_of[trainer] = k;
	return 0;
}

SP_ORDER_IN(compare_numbers, uint32_t, uint64_t, SP_COMPARE(in[*x], in[*y]))

static void sort_ranks(struct sp_rank_hang *hang)
{
	for (uint32_t t = 0; t < hang->trainers; t++)
		hang->order[t] = t;
	qsort_r(hang->order, hang->trainers, sizeof(*hang->order), compare_numbers, hang->numbers);
}

int sp_rank_hang_find(const struct sp_report *report, const struct sp_hang *hang,
		      struct sp_rank_hang *ret)
{
	int r;

	*ret = (struct sp_rank_hang){.trainers = report->training.count};
	r = sp_hang_ranks(report, hang, &ret->match);
	if (r != 0 || !ret->match.ranks)
		return r;
	ret->row_of = calloc(ret->trainers, sizeof(*ret->row_of));
	ret->numbers = calloc(ret->trainers, sizeof(*ret->numbers));
	ret->order = calloc(ret->trainers, sizeof(*ret->order));
	if (!ret->row_of || !ret->numbers || !ret->order)
		return -ENOMEM;
	for (uint32_t t = 0; r == 0 && t < ret->trainers; t++)
		r = add_rank(ret, report, hang, t);
	sort_ranks(ret);
	return r;
}

void sp_rank_hang_finish(struct sp_rank_hang *hang)
{
	sp_group_match_finish(&hang->match);
	free(hang->rows);
	free(hang->row_of);
	free(hang->numbers);
	free(hang->order);
	*hang = (struct sp_rank_hang){.trainers = 0};
}

/* The next number, from place *i of the order on, of a rank in this row; UINT64_MAX: none. */
static uint64_t next_number(const struct sp_rank_hang *hang, uint32_t row, uint32_t *i)
{
	while (*i < hang->trainers && hang->row_of[hang->order[*i]] != row)
		++*i;
	return *i < hang->trainers ? hang->numbers[hang->order[(*i)++]] : UINT64_MAX;
}

void sp_rank_hang_numbers(const struct sp_rank_hang *hang, uint32_t row,
			  char ret[SP_RANKS_TEXT_BYTES])
{
	uint32_t i = 0;
	uint64_t first = next_number(hang, row, &i);
	size_t used = 0;

	*ret = '\0';
	while (first != UINT64_MAX && used + 48 < SP_RANKS_TEXT_BYTES) {
		uint64_t last = first, next = next_number(hang, row, &i);

		for (; next == last || next == last + 1; next = next_number(hang, row, &i))
			last = next;
		used += (size_t)snprintf(ret + used, SP_RANKS_TEXT_BYTES - used, "%s%llu",
					 used ? ", " : "", (unsigned long long)first);
		if (last > first)
			used += (size_t)snprintf(ret + used, SP_RANKS_TEXT_BYTES - used, "%s%llu",
						 last == first + 1 ? ", " : "-",
						 (unsigned long long)last);
		first = next;
	}
	if (first != UINT64_MAX)
		snprintf(ret + used, SP_RANKS_TEXT_BYTES - used, ", ...");
}

bool sp_rank_hang_is_cycle(const struct sp_rank_hang *hang)
{
	bool is_elsewhere = false;

	for (uint32_t k = 0; k < hang->row_count; k++) {
		if (hang->rows[k].rank.state >= SP_RANK_MISSING)
			return false;
		is_elsewhere |= hang->rows[k].rank.state == SP_RANK_ELSEWHERE;
	}
	return is_elsewhere;
}

const char *sp_rank_state_name(enum sp_rank_state state)
{
	static const char *const names[SP_RANK_STATES] = {
		[SP_RANK_APART] = "apart",	 [SP_RANK_WAITS] = "waits",
		[SP_RANK_TOGETHER] = "together", [SP_RANK_ELSEWHERE] = "in_another_group",
		[SP_RANK_MISSING] = "missing",	 [SP_RANK_DIFFERS] = "differs",
		[SP_RANK_GONE] = "ended",
	};

	return names[state];
}

const char *sp_collective_name(uint64_t operation)
{
	static const char *const names[SP_COLLECTIVES] = {
#define SP_COLLECTIVE(number, name, is_even, needs_all) [number] = #name,
#include "trace/collectives.def"
	};

	return operation < SP_COLLECTIVES ? names[operation] : NULL;
}

const char *sp_element_name(uint64_t type)
{
	static const char *const names[] = {
#define SP_ELEMENT(number, name) [number] = #name,
#include "trace/collectives.def"
	};

	return type < sizeof(names) / sizeof(*names) ? names[type] : NULL;
}

const char *sp_rank_group_name(const struct sp_group *group, size_t *ret_bytes)
{
	size_t begin = sizeof(SP_LABEL_GROUP_BEGIN) - 1, bytes = group->name_bytes;

	*ret_bytes = bytes > begin ? bytes - begin : 0;
	return bytes > begin ? group->name + begin : "";
}
