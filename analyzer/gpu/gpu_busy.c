/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/gpu/gpu_busy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/order.h"

void sp_gpu_busy_init(struct sp_gpu_busy *busy, int64_t from_ns, int64_t to_ns)
{
	*busy = (struct sp_gpu_busy){
		.first_ns = INT64_MAX,
		.last_ns = INT64_MIN,
		.all = {.from_ns = INT64_MIN, .to_ns = INT64_MAX},
		.inside = {.from_ns = from_ns, .to_ns = to_ns},
		.window_ns = sp_interval_ns(from_ns, to_ns),
	};
}

SP_ORDER(compare, struct sp_gpu_interval, SP_UP(start_ns))

/* Counts the first n of all intervals in the order of their starts. */
static void count(struct sp_gpu_busy *busy, uint32_t n)
{
	if (busy->count)
		qsort(busy->list, busy->count, sizeof(*busy->list), compare);
	for (uint32_t i = 0; i < n; i++) {
		sp_cover_add(&busy->all, busy->list[i].start_ns, busy->list[i].end_ns);
		sp_cover_add(&busy->inside, busy->list[i].start_ns, busy->list[i].end_ns);
	}
	busy->count -= n;
	if (busy->count)
		memmove(busy->list, busy->list + n, busy->count * sizeof(*busy->list));
}

int sp_gpu_busy_add(struct sp_gpu_busy *busy, int64_t start_ns, int64_t end_ns)
{
	if (!busy->list)
		busy->list = calloc(2 * SP_GPU_BUSY_ROOM, sizeof(*busy->list));
	if (!busy->list)
		return -ENOMEM;
	busy->first_ns = start_ns < busy->first_ns ? start_ns : busy->first_ns;
	busy->last_ns = end_ns > busy->last_ns ? end_ns : busy->last_ns;
	if (busy->count == 2 * SP_GPU_BUSY_ROOM)
		count(busy, SP_GPU_BUSY_ROOM);
	busy->list[busy->count++] = (struct sp_gpu_interval){start_ns, end_ns};
	return 0;
}

void sp_gpu_busy_finalize(struct sp_gpu_busy *busy)
{
	count(busy, busy->count);
	free(busy->list);
	busy->list = NULL;
}
