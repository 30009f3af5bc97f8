/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/workers/process_memory.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/reader/clock_convert.h"
#include "analyzer/totals/totals.h"
#include "analyzer/training/training.h"
#include "analyzer/workers/process_tree.h"

/* The recorder takes a step's sample right after the call that ends the step. */
#define SAMPLE_LATE_NS 10000000

/* The stream's last sample at or before an instant of CLOCK_REALTIME, or NULL. */
static const struct sp_memory_sample *
sample_at(const struct sp_run *run, const struct sp_totals *totals, uint32_t stream, int64_t at_ns)
{
	const struct sp_clock *clock = &sp_run_host(run, stream)->clock;
	const struct sp_memory_samples *r = &totals->streams[stream].resident;
	uint32_t low = 0, high = r->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (sp_clock_realtime_ns(clock, r->list[middle].ticks) <= at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &r->list[low - 1] : NULL;
}

bool sp_memory_in(const struct sp_run *run, const struct sp_totals *totals, uint32_t stream,
		  int64_t start_ns, int64_t end_ns, uint64_t *ret_bytes)
{
	const struct sp_memory_sample *sample =
		sample_at(run, totals, stream, end_ns + SAMPLE_LATE_NS);
	int64_t begun_ns, ended_ns;

	sp_stream_life(run, totals, stream, &begun_ns, &ended_ns);
	if (!sample || ended_ns < start_ns)
		return false;
	*ret_bytes = sample->bytes;
	return true;
}

static bool is_below(const struct sp_training *training, uint32_t image, uint32_t trainer_image)
{
	uint32_t t = sp_trainer_above(training, image);

	return t < training->count && sp_trainer_process(training, t) == trainer_image;
}

/* All of one kind: of the process itself, or of its children. */
static void find(struct sp_memory_streams *s, const struct sp_totals *totals,
		 const struct sp_training *training, uint32_t trainer_image, bool own)
{
	const struct sp_index *index = &training->run->index;

	for (uint32_t i = 0; i < index->stream_count; i++) {
		uint32_t image = index->streams[i]->image;
		bool is_own = image == trainer_image;

		if (!totals->streams[i].resident.count || is_own != own)
			continue;
		if (is_own || is_below(training, image, trainer_image))
			s->list[s->count++] = i;
	}
}

int sp_memory_find(struct sp_memory_streams *s, const struct sp_totals *totals,
		   const struct sp_training *training, uint32_t trainer_image)
{
	*s = (struct sp_memory_streams){
		.list = calloc(training->run->index.stream_count + 1u, sizeof(*s->list))};
	if (!s->list)
		return -ENOMEM;
	find(s, totals, training, trainer_image, true);
	s->own = s->count;
	find(s, totals, training, trainer_image, false);
	return 0;
}

void sp_memory_streams_finish(struct sp_memory_streams *s)
{
	free(s->list);
	s->list = NULL;
}
