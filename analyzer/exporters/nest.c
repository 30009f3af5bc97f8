/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/exporters/nest.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/intervals.h"

/* The intervals of records that no record of this lane contains. */
struct root {
	int64_t start_ns, end_ns;
	bool start_is_given; /* a record that begins where the root begins has been given */
};

struct sp_nest_lane {
	struct sp_nest_lane *next; /* of the track */
	uint32_t number;
	struct root *roots; /* in the order of time, apart */
	uint32_t root_count, root_room;
	int64_t forgotten_ns;	/* end of the last root that was dropped */
	struct sp_record *held; /* in the order in which they will be given */
	uint32_t held_count, held_room;
};

int sp_nest_init(struct sp_nest *nest, uint32_t track_count)
{
	nest->lanes = calloc(track_count + 1u, sizeof(struct sp_nest_lane *));
	nest->track_count = track_count;
	nest->own_lanes = 0;
	return nest->lanes ? 0 : -ENOMEM;
}

void sp_nest_finish(struct sp_nest *nest)
{
	for (uint32_t i = 0; nest->lanes && i < nest->track_count; i++) {
		while (nest->lanes[i]) {
			struct sp_nest_lane *lane = nest->lanes[i];

			nest->lanes[i] = lane->next;
			free(lane->roots);
			free(lane->held);
			free(lane);
		}
	}
	free(nest->lanes);
	nest->lanes = NULL;
}

/* The first root that begins at `at` or later. */
static uint32_t find_root(const struct sp_nest_lane *lane, int64_t at_ns)
{
	return SP_NEST_FIRST(lane->roots, lane->root_count, start_ns, at_ns);
}

/* True where the record may follow what the lane has; *ret: the first root that it contains. */
static bool fits(const struct sp_nest_lane *lane, const struct sp_record *record, uint32_t *ret)
{
	const struct root *last = lane->root_count ? &lane->roots[lane->root_count - 1] : NULL;
	uint32_t i = find_root(lane, record->start_ns);

	*ret = i;
	if (record->start_ns < lane->forgotten_ns ||
	    (last && sp_record_end_ns(record) < last->end_ns))
		return false;
	if (i > 0 && lane->roots[i - 1].end_ns > record->start_ns)
		return false;
	return i == lane->root_count || lane->roots[i].start_ns > record->start_ns ||
	       !lane->roots[i].start_is_given;
}

static int add_root(struct sp_nest_lane *lane, const struct sp_record *record,
		    uint32_t first_inside)
{
	lane->root_count = first_inside;
	if (lane->root_count == NEST_ROOTS_MAX) {
		uint32_t half = NEST_ROOTS_MAX / 2;

		lane->forgotten_ns = lane->roots[half - 1].end_ns;
		memmove(lane->roots, lane->roots + half, half * sizeof(*lane->roots));
		lane->root_count -= half;
	}
	if (lane->root_count == lane->root_room) {
		uint32_t room = lane->root_room ? 2 * lane->root_room : 16;
		struct root *roots = realloc(lane->roots, room * sizeof(*roots));

		if (!roots)
			return -ENOMEM;
		lane->roots = roots;
		lane->root_room = room;
	}
	lane->roots[lane->root_count++] =
		(struct root){record->start_ns, sp_record_end_ns(record), false};
	return 0;
}

static int give_first(struct sp_nest *nest, uint32_t track, struct sp_nest_lane *lane)
{
	struct sp_record record = lane->held[0];
	uint32_t i = find_root(lane, record.start_ns);

	if (i < lane->root_count && lane->roots[i].start_ns == record.start_ns)
		lane->roots[i].start_is_given = true;
	lane->held_count--;
	memmove(lane->held, lane->held + 1, lane->held_count * sizeof(*lane->held));
	return nest->give(nest->context, &record, track, lane->number);
}

/* Inserts the record before records that begin in the same ns, because it contains them. */
static int hold(struct sp_nest_lane *lane, const struct sp_record *record)
{
	uint32_t at = 0;

	if (lane->held_count == lane->held_room) {
		uint32_t room = lane->held_room ? NEST_HELD_MAX : 4;
		struct sp_record *held = realloc(lane->held, room * sizeof(*held));

		if (!held)
			return -ENOMEM;
		lane->held = held;
		lane->held_room = room;
	}
	while (at < lane->held_count && lane->held[at].start_ns != record->start_ns)
		at++;
	memmove(lane->held + at + 1, lane->held + at,
		(lane->held_count - at) * sizeof(*lane->held));
	lane->held[at] = *record;
	lane->held_count++;
	return 0;
}

static struct sp_nest_lane *lane_add(struct sp_nest_lane **link, uint32_t number)
{
	struct sp_nest_lane *lane = calloc(1, sizeof(*lane));

	if (lane) {
		lane->number = number;
		lane->forgotten_ns = INT64_MIN;
		*link = lane;
	}
	return lane;
}

int sp_nest_take(struct sp_nest *nest, uint32_t track, const struct sp_record *record)
{
	struct sp_nest_lane **link = &nest->lanes[track];

	for (uint32_t number = 0; number < NEST_LANES_MAX; number++) {
		struct sp_nest_lane *lane = *link ? *link : lane_add(link, number);
		uint32_t inside;
		int r = 0;

		if (!lane)
			return -ENOMEM;
		link = &lane->next;
		if (lane->held_count == NEST_HELD_MAX)
			r = give_first(nest, track, lane);
		if (r != 0)
			return r;
		if (!fits(lane, record, &inside))
			continue;
		r = hold(lane, record);
		return r == 0 ? add_root(lane, record, inside) : r;
	}
	return nest->give(nest->context, record, track, NEST_LANES_MAX + nest->own_lanes++);
}

int sp_nest_flush(struct sp_nest *nest)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < nest->track_count; i++)
		for (struct sp_nest_lane *lane = nest->lanes[i]; lane; lane = lane->next)
			while (r == 0 && lane->held_count)
				r = give_first(nest, i, lane);
	return r;
}
