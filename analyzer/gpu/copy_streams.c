/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/gpu/copy_streams.h"

#include <stddef.h>

#include "analyzer/base/intervals.h"
#include "analyzer/training/trainer.h"
#include "trace/events.h"

static const struct sp_copy_stream *find(const struct sp_copy_streams *list, uint32_t stream)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (list->streams[i].stream == stream)
			return &list->streams[i];
	return NULL;
}

void sp_copy_streams_take(struct sp_copy_streams *list, uint8_t class, uint32_t arg)
{
	bool is_copy = class == SP_CLASS_CUDA_COPY;
	const struct sp_copy_stream *known;
	struct sp_copy_stream *its;

	if (!is_copy && class != SP_CLASS_CUDA_LAUNCH && class != SP_CLASS_CUDA_GRAPH)
		return;
	known = find(list, arg >> 8);
	list->is_full |= !known && list->count == SP_COPY_STREAMS_MAX;
	if (list->is_full)
		return;
	its = &list->streams[known ? (size_t)(known - list->streams) : list->count++];
	its->stream = arg >> 8;
	its->has_other |= !is_copy || sp_cuda_arg_direction(arg) != SP_COPY_TO_DEVICE;
}

/* without: NULL, or the copies of its streams do not count. The spans come by their start. */
static uint64_t covered_ns(const struct sp_trainer *trainer, const struct sp_copy_streams *without)
{
	const struct sp_steps *steps = &trainer->steps;
	struct sp_cover busy = {.from_ns = steps->steps[0].start_ns,
				.to_ns = steps->steps[steps->count - 1].end_ns};

	for (uint32_t i = 0; i < trainer->gpu.count; i++) {
		const struct sp_gpu_span *span = &trainer->gpu.spans[i];
		const struct sp_copy_stream *its = without ? find(without, span->stream) : NULL;

		if (!its || its->has_other)
			sp_cover_add(&busy, span->start_ns, span->end_ns);
	}
	return busy.ns;
}

uint64_t sp_copy_streams_alone_ns(const struct sp_copy_streams *list,
				  const struct sp_trainer *trainer)
{
	if (list->is_full || !trainer->steps.count || !trainer->gpu.steps)
		return 0;
	return covered_ns(trainer, NULL) - covered_ns(trainer, list);
}
