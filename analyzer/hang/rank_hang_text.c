/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/rank_hang_text.h"

#include <stdio.h>

#include "analyzer/report/report.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"

#define ROWS_SAID 6u

/* "19,210 float32"; "" where it is not known. */
static void elements_text(const struct sp_group_call *call, char *ret, size_t room)
{
	const char *type = sp_element_name(call->type);
	char number[SP_NUMBER_BYTES];

	*ret = '\0';
	if (call->elements >= 0 && type)
		snprintf(ret, room, " (%s %s)", sp_text_count(number, (uint64_t)call->elements),
			 type);
}

static void group_text(const struct sp_group *group, char *ret, size_t room)
{
	char name[96];
	size_t bytes;
	const char *text = sp_rank_group_name(group, &bytes);

	sp_text_escape(name, sizeof(name), text, bytes);
	if (bytes)
		snprintf(ret, room, _("group %s"), name);
	else if (group->identity)
		snprintf(ret, room, _("communicator %08x"), (unsigned)group->identity);
	else
		snprintf(ret, room, _("a group of %llu ranks"), (unsigned long long)group->size);
}

void sp_rank_call_text(const struct sp_rank_hang *hang, const struct sp_matched_rank *rank,
		       char ret[SP_RANK_CALL_BYTES])
{
	const char *name = sp_collective_name(rank->call.operation);
	char elements[64], group[128];

	*ret = '\0';
	if (rank->group == SP_NO_GROUP)
		return;
	group_text(&hang->match.groups[rank->group], group, sizeof(group));
	elements_text(&rank->call, elements, sizeof(elements));
	snprintf(ret, SP_RANK_CALL_BYTES, _("%s #%llu of %s%s"), name ? name : _("a collective"),
		 (unsigned long long)rank->ordinal, group, elements);
}

void sp_rank_row_who(const struct sp_rank_hang *hang, uint32_t row, char *ret, size_t bytes)
{
	char numbers[SP_RANKS_TEXT_BYTES];

	sp_rank_hang_numbers(hang, row, numbers);
	snprintf(ret, bytes, sp_translate_plural("rank %s", "ranks %s", hang->rows[row].count),
		 numbers);
}

static void clause(const struct sp_rank_hang *hang, uint32_t row, char *ret, size_t room)
{
	const struct sp_hang_row *r = &hang->rows[row];
	char who[SP_RANKS_TEXT_BYTES + 32], call[SP_RANK_CALL_BYTES], ns[SP_NUMBER_BYTES];

	sp_rank_row_who(hang, row, who, sizeof(who));
	sp_rank_call_text(hang, &r->rank, call);
	sp_text_ns(ns, r->for_ns);
	*ret = '\0';
	switch (r->rank.state) {
	case SP_RANK_WAITS:
	case SP_RANK_ELSEWHERE:
		snprintf(ret, room,
			 sp_translate_plural("%s waits in %s for %s", "%s wait in %s for %s",
					     r->count),
			 who, call, ns);
		break;
	case SP_RANK_TOGETHER:
		snprintf(ret, room,
			 sp_translate_plural("%s is in %s for %s, as all of its group: the device "
					     "or the network holds it up",
					     "%s are in %s for %s, all of the group: the device or "
					     "the network holds it up",
					     r->count),
			 who, call, ns);
		break;
	case SP_RANK_MISSING:
		snprintf(ret, room, _("%s never came: the last there was %s"), who, call);
		break;
	case SP_RANK_DIFFERS:
		snprintf(ret, room, _("%s called %s instead"), who, call);
		break;
	case SP_RANK_GONE:
		snprintf(ret, room, _("%s had ended after %s"), who, call);
		break;
	case SP_RANK_APART:
	case SP_RANK_STATES:
		break;
	}
}

static size_t add(char *ret, size_t used, size_t room, const char *text)
{
	size_t bytes;

	if (!*text || used >= room)
		return used;
	bytes = (size_t)snprintf(ret + used, room - used, "%s%s", used ? _("; ") : "", text);
	return used + bytes < room ? used + bytes : room - 1;
}

/* A rank may wait for ranks that are in no input. "" where all of its group are in the run. */
static void absent_text(const struct sp_rank_hang *hang, const struct sp_matched_rank *rank,
			char *ret, size_t room)
{
	const struct sp_group *group;
	char name[128];

	*ret = '\0';
	if (rank->state != SP_RANK_WAITS || rank->group == SP_NO_GROUP)
		return;
	group = &hang->match.groups[rank->group];
	group_text(group, name, sizeof(name));
	if (group->members < group->size)
		snprintf(ret, room, _("only %u of the %llu ranks of %s are in this run"),
			 group->members, (unsigned long long)group->size, name);
}

size_t sp_rank_hang_text(const struct sp_rank_hang *hang, char *ret, size_t ret_bytes)
{
	size_t used = 0;
	uint32_t said = 0;

	*ret = '\0';
	for (int state = SP_RANK_WAITS; state < SP_RANK_STATES; state++)
		for (uint32_t k = 0; k < hang->row_count; k++) {
			char text[1024];

			if (hang->rows[k].rank.state != (enum sp_rank_state)state ||
			    said++ >= ROWS_SAID)
				continue;
			clause(hang, k, text, sizeof(text));
			used = add(ret, used, ret_bytes, text);
			absent_text(hang, &hang->rows[k].rank, text, sizeof(text));
			used = add(ret, used, ret_bytes, text);
		}
	if (sp_rank_hang_is_cycle(hang))
		used = add(ret, used, ret_bytes,
			   _("the groups wait for each other: their collectives are not in the "
			     "same order on all ranks"));
	return used;
}
