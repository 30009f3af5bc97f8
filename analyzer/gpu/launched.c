/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/gpu/launched.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/intervals.h"
#include "analyzer/base/order.h"
#include "analyzer/training/training.h"

static const struct sp_gpu_time *gpu_of(const struct sp_training *training, uint32_t stream)
{
	for (uint32_t t = 0; t < training->count; t++)
		if (sp_trainer_is_same_thread(training->run, training->trainers[t].stream, stream))
			return &training->trainers[t].gpu;
	return NULL;
}

SP_ORDER(compare, struct sp_launch, SP_UP(at_ns))

int sp_launched_read(struct sp_launched *launched, const struct sp_training *training,
		     uint32_t stream)
{
	const struct sp_gpu_time *gpu = gpu_of(training, stream);
	uint64_t sum_ns = 0;

	*launched = (struct sp_launched){.list = NULL};
	if (!gpu || !gpu->count)
		return 0;
	launched->list = calloc(gpu->count + 1u, sizeof(*launched->list));
	if (!launched->list)
		return -ENOMEM;
	for (uint32_t i = 0; i < gpu->count; i++)
		if (gpu->spans[i].is_whole)
			launched->list[launched->count++] =
				(struct sp_launch){gpu->spans[i].host_ns,
						   (uint64_t)(gpu->spans[i].end_ns -
							      gpu->spans[i].start_ns)};
	qsort(launched->list, launched->count, sizeof(*launched->list), compare);
	for (uint32_t i = 0; i <= launched->count; i++) {
		uint64_t own_ns = launched->list[i].before_ns;

		launched->list[i].before_ns = sum_ns;
		sum_ns += own_ns;
	}
	return 0;
}

void sp_launched_finish(struct sp_launched *launched)
{
	free(launched->list);
	*launched = (struct sp_launched){.list = NULL};
}

/* The busy time of all work launched before. */
static uint64_t before(const struct sp_launched *launched, int64_t at_ns)
{
	uint32_t i = SP_LOWER_BOUND(launched->list, launched->count, at_ns, at_ns);

	return launched->list[i].before_ns;
}

uint64_t sp_launched_between(const struct sp_launched *launched, int64_t from_ns, int64_t to_ns)
{
	if (!launched->count || to_ns <= from_ns)
		return 0;
	return before(launched, to_ns) - before(launched, from_ns);
}
