/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hang/group_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/order.h"
#include "analyzer/metadata/run.h"
#include "analyzer/reader/event_reader.h"
#include "trace/collectives.h"
#include "trace/events.h"

struct reading {
	struct sp_process_groups *groups;
	struct sp_reader *reader;
	const struct sp_metadata *metadata;
	const struct sp_process_metadata *image;
	uint32_t number; /* of the image */
	const struct sp_event_reader *events;
	int64_t until_ns;
	uint32_t first_of_stream; /* groups made by the thread that is read */
};

typedef int take_event(struct reading *r, const struct sp_read_event *event);

static int walk(struct reading *r, const struct sp_run *run, uint32_t image, const bool *wants,
		take_event *take)
{
	const struct sp_index *index = &run->index;
	int error = 0;

	for (uint32_t i = sp_index_first_stream(index, image);
	     error == 0 && i < index->stream_count && index->streams[i]->image == image; i++) {
		struct sp_event_reader events;
		struct sp_read_event event;

		r->groups->is_partial |=
			sp_commit_kind(index->streams[i]->mark.what) == SP_EV_recording_off;
		sp_event_reader_open(&events, r->reader, index, index->streams[i]);
		events.wants = wants;
		r->events = &events;
		r->first_of_stream = r->groups->count;
		while (error == 0 && sp_event_reader_next(&events, &event))
			error = take(r, &event);
	}
	return error;
}

/* The process has destroyed the groups at this address, or makes another one there. */
static void note_gone(struct sp_process_groups *groups, uint32_t address)
{
	for (uint32_t i = 0; i < groups->count; i++)
		groups->list[i].is_gone |= groups->list[i].address == address;
}

/* Makes room: communicators come and go. */
static bool drop_gone(struct reading *r)
{
	struct sp_process_groups *groups = r->groups;
	uint32_t i = 0;

	while (i < groups->count && !groups->list[i].is_gone)
		i++;
	if (i == groups->count)
		return false;
	memmove(&groups->list[i], &groups->list[i + 1],
		(groups->count - i - 1) * sizeof(*groups->list));
	groups->count--;
	r->first_of_stream -= i < r->first_of_stream;
	return true;
}

/* The groups that this one is a part of divide in one order on all ranks. */
static uint64_t identity_of(uint64_t parent, uint32_t ordinal, uint32_t part)
{
	uint64_t mixed =
		(parent ^ ordinal * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9) ^
		part;

	mixed = (mixed ^ mixed >> 29) * UINT64_C(0x94d049bb133111eb);
	return mixed ? mixed : 1;
}

static int add_group(struct reading *r, const struct sp_read_event *event)
{
	struct sp_process_groups *groups = r->groups;
	struct sp_group_calls *added;
	uint64_t word = event->extra ? event->extra->start : 0;
	uint32_t rank = (uint32_t)word, origin = (uint32_t)(word >> 32);

	note_gone(groups, sp_commit_arg(event->slot->commit));
	if (groups->count >= SP_GROUPS_MAX && !drop_gone(r)) {
		groups->is_partial = true;
		return 0;
	}
	added = SP_LIST_ADD(groups->list, groups->count, groups->room);
	if (!added)
		return -ENOMEM;
	*added = (struct sp_group_calls){
		.address = sp_commit_arg(event->slot->commit),
		.since_ns = sp_event_start_ns(r->events, event),
		.size = event->slot->value > 0 ? (uint64_t)event->slot->value : 0,
		.rank = rank == SP_GROUP_RANK_UNKNOWN ? SP_GROUP_NO_RANK + r->number : rank,
		.is_device = origin != SP_GROUP_OF_LABEL,
		.origin = {origin, event->extra ? event->extra->ticks : 0},
	};
	return 0;
}

/* A range that names a group holds the making of it. */
static void name_groups(struct reading *r, const struct sp_read_event *event)
{
	int64_t from_ns = sp_event_start_ns(r->events, event);
	uint32_t id = sp_commit_arg(event->slot->commit);
	const char *name;
	size_t bytes;

	if (sp_process_label_use(r->image, id) != SP_LABEL_GROUP)
		return;
	name = sp_string_table_text(&r->metadata->labels, sp_process_label(r->image, id), &bytes);
	for (uint32_t i = r->first_of_stream; i < r->groups->count; i++)
		if (r->groups->list[i].since_ns >= from_ns && !r->groups->list[i].name && bytes) {
			r->groups->list[i].name = name;
			r->groups->list[i].name_bytes = (uint32_t)bytes;
		}
}

/* An address may be that of a group that has gone. */
static struct sp_group_calls *group_at(const struct sp_process_groups *groups, uint32_t address,
				       int64_t at_ns)
{
	struct sp_group_calls *found = NULL;

	for (uint32_t i = 0; i < groups->count; i++) {
		struct sp_group_calls *group = &groups->list[i];

		if (group->address == address && group->since_ns <= at_ns &&
		    (!found || group->since_ns > found->since_ns))
			found = group;
	}
	return found;
}

SP_ORDER(compare_times, struct sp_group_calls, SP_UP(since_ns))

static int take_group(struct reading *r, const struct sp_read_event *event)
{
	if (event->kind == SP_EV_collective_group)
		return add_group(r, event);
	if (event->kind == SP_EV_ncclCommDestroy)
		note_gone(r->groups, sp_commit_arg(event->slot->commit));
	else if (event->kind == SP_EV_recording_off)
		r->groups->is_partial = true;
	else
		name_groups(r, event);
	return 0;
}

/* By time: a group is there before its parts. */
static void identify(struct sp_process_groups *groups)
{
	qsort(groups->list, groups->count, sizeof(*groups->list), compare_times);
	for (uint32_t i = 0; i < groups->count; i++) {
		struct sp_group_calls *group = &groups->list[i], *parent;

		if (group->origin.origin == SP_GROUP_OF_ID)
			group->identity = group->origin.which;
		if (group->origin.origin != SP_GROUP_OF_PARENT)
			continue;
		parent = group_at(groups, (uint32_t)group->origin.which, group->since_ns);
		if (!parent || parent == group || !parent->identity)
			groups->is_partial = true;
		else
			group->identity = identity_of(parent->identity, ++parent->parts,
						      (uint32_t)(group->origin.which >> 32));
	}
}

/* A call that failed: the last one until then. */
static void take_back(struct sp_group_calls *group, int64_t at_ns)
{
	uint32_t at = group->kept;

	while (at && group->last[at - 1].at_ns > at_ns)
		at--;
	if (!at)
		return;
	memmove(&group->last[at - 1], &group->last[at], (group->kept - at) * sizeof(*group->last));
	group->kept--;
	group->count--;
}

/* Keeps the latest ones: a process hands over on several threads, which are read in turn. */
static void keep(struct sp_group_calls *group, const struct sp_group_call *call)
{
	uint32_t at = group->kept;

	group->count++;
	while (at && group->last[at - 1].at_ns > call->at_ns)
		at--;
	if (group->kept < SP_GROUP_CALLS_KEPT) {
		memmove(&group->last[at + 1], &group->last[at],
			(group->kept - at) * sizeof(*group->last));
		group->last[at] = *call;
		group->kept++;
	} else if (at) {
		memmove(&group->last[0], &group->last[1], (at - 1) * sizeof(*group->last));
		group->last[at - 1] = *call;
	}
}

static void take_call(struct reading *r, const struct sp_read_event *event)
{
	int64_t at_ns = sp_event_start_ns(r->events, event);
	struct sp_group_calls *group =
		group_at(r->groups, sp_commit_arg(event->slot->commit), at_ns);
	uint64_t word = event->extra ? event->extra->start : 0;
	struct sp_group_call call = {word & 0xff, word >> 8 & 0xff, event->slot->value, at_ns};

	if (!group || at_ns > r->until_ns)
		return;
	if (call.operation)
		keep(group, &call);
	else
		take_back(group, at_ns);
}

static void note_latest(int64_t *latest_ns, int64_t at_ns)
{
	*latest_ns = at_ns > *latest_ns ? at_ns : *latest_ns;
}

static int take_collective(struct reading *r, const struct sp_read_event *event)
{
	uint32_t id = sp_commit_arg(event->slot->commit);
	int64_t begin_ns = sp_event_start_ns(r->events, event);
	bool has_ended = sp_event_end_ns(r->events, event) <= r->until_ns;

	if (event->kind == SP_EV_collective)
		take_call(r, event);
	else if (has_ended && event->kind != SP_EV_torch_range)
		note_latest(&r->groups->synced_since_ns, sp_event_end_ns(r->events, event));
	else if (has_ended && sp_process_label_use(r->image, id) == SP_LABEL_COLLECTIVE)
		note_latest(&r->groups->ended_since_ns, begin_ns);
	return 0;
}

int sp_process_groups_read(struct sp_process_groups *groups, struct sp_reader *reader,
			   const struct sp_run *run, uint32_t image, int64_t until_ns)
{
	bool makes[SP_EVENT_KINDS] = {[SP_EV_collective_group] = true,
				      [SP_EV_ncclCommDestroy] = true,
				      [SP_EV_python_call] = true,
				      [SP_EV_recording_off] = true};
	bool calls[SP_EVENT_KINDS] = {[SP_EV_collective] = true,
				      [SP_EV_torch_range] = true,
				      [SP_EV_ncclSend] = true,
				      [SP_EV_ncclRecv] = true};
	struct reading r = {.groups = groups,
			    .reader = reader,
			    .metadata = &run->metadata,
			    .image = &run->metadata.images[image],
			    .number = image,
			    .until_ns = until_ns};
	int error;

	*groups = (struct sp_process_groups){.ended_since_ns = INT64_MIN,
					     .synced_since_ns = INT64_MIN};
	for (uint32_t kind = 0; kind < SP_EVENT_KINDS; kind++)
		calls[kind] |= sp_event_info(kind)->class == SP_CLASS_CUDA_SYNC;
	error = walk(&r, run, image, makes, take_group);
	if (error || !groups->count)
		return error;
	identify(groups);
	return walk(&r, run, image, calls, take_collective);
}

void sp_process_groups_finish(struct sp_process_groups *groups)
{
	free(groups->list);
	*groups = (struct sp_process_groups){.list = NULL};
}

const struct sp_group_call *sp_group_call_at(const struct sp_group_calls *group, uint64_t ordinal)
{
	if (!ordinal || ordinal > group->count || group->count - ordinal >= group->kept)
		return NULL;
	return &group->last[group->kept - 1 - (group->count - ordinal)];
}

const struct sp_group_calls *sp_process_groups_last(const struct sp_process_groups *groups)
{
	const struct sp_group_calls *found = NULL;

	for (uint32_t i = 0; i < groups->count; i++) {
		const struct sp_group_calls *group = &groups->list[i];

		if (group->kept && (!found || group->last[group->kept - 1].at_ns >
						      found->last[found->kept - 1].at_ns))
			found = group;
	}
	return found;
}
