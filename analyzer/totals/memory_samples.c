/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/totals/memory_samples.h"

#include <stdlib.h>

_Static_assert(SP_MEMORY_SAMPLES_MAX % 2 == 0, "halved");

static void halve(struct sp_memory_samples *r)
{
	for (uint32_t i = 0; i < r->count / 2; i++)
		r->list[i] = r->list[2 * i];
	r->count /= 2;
	r->every *= 2;
}

static bool make_room(struct sp_memory_samples *r)
{
	uint32_t room = r->room ? 2 * r->room : 64;
	struct sp_memory_sample *list;

	if (r->count < r->room)
		return true;
	list = realloc(r->list, room * sizeof(*list));
	if (!list)
		return false;
	r->list = list;
	r->room = room;
	return true;
}

void sp_memory_put(struct sp_memory_samples *r, uint64_t ticks, uint64_t bytes)
{
	r->max_bytes = bytes > r->max_bytes ? bytes : r->max_bytes;
	if (!r->every)
		r->every = r->passed = 1;
	else if (++r->passed < r->every)
		return;
	if (r->count == SP_MEMORY_SAMPLES_MAX)
		halve(r);
	if (!make_room(r))
		return;
	r->list[r->count++] = (struct sp_memory_sample){ticks, bytes};
	r->passed = 0;
}

void sp_memory_finish(struct sp_memory_samples *r)
{
	free(r->list);
	*r = (struct sp_memory_samples){.list = NULL};
}
