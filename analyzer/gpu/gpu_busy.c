/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/gpu/gpu_busy.h"

#include <errno.h>
#include <stdlib.h>

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

static void sift_down(struct sp_gpu_interval *heap, uint32_t count, struct sp_gpu_interval item)
{
	uint32_t at = 0, child;

	while ((child = 2 * at + 1) < count) {
		if (child + 1 < count && heap[child + 1].start_ns < heap[child].start_ns)
			child++;
		if (heap[child].start_ns >= item.start_ns)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = item;
}

static void sift_up(struct sp_gpu_interval *heap, uint32_t at, struct sp_gpu_interval item)
{
	while (at > 0 && heap[(at - 1) / 2].start_ns > item.start_ns) {
		heap[at] = heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap[at] = item;
}

static void count_one(struct sp_gpu_busy *busy, struct sp_gpu_interval i)
{
	sp_cover_add(&busy->all, i.start_ns, i.end_ns);
	sp_cover_add(&busy->inside, i.start_ns, i.end_ns);
}

int sp_gpu_busy_add(struct sp_gpu_busy *busy, int64_t start_ns, int64_t end_ns)
{
	struct sp_gpu_interval item = {start_ns, end_ns};

	if (!busy->heap)
		busy->heap = calloc(SP_GPU_BUSY_ROOM, sizeof(*busy->heap));
	if (!busy->heap)
		return -ENOMEM;
	busy->first_ns = start_ns < busy->first_ns ? start_ns : busy->first_ns;
	busy->last_ns = end_ns > busy->last_ns ? end_ns : busy->last_ns;
	if (busy->count < SP_GPU_BUSY_ROOM) {
		sift_up(busy->heap, busy->count++, item);
	} else if (busy->heap[0].start_ns >= start_ns) {
		count_one(busy, item);
	} else {
		count_one(busy, busy->heap[0]);
		sift_down(busy->heap, busy->count, item);
	}
	return 0;
}

void sp_gpu_busy_finalize(struct sp_gpu_busy *busy)
{
	while (busy->count) {
		count_one(busy, busy->heap[0]);
		busy->count--;
		sift_down(busy->heap, busy->count, busy->heap[busy->count]);
	}
	free(busy->heap);
	busy->heap = NULL;
}
