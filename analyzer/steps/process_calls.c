/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/process_calls.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/order.h"
#include "analyzer/reader/clock_convert.h"
#include "analyzer/base/intervals.h"
#include "analyzer/reader/reader.h"
#include "analyzer/metadata/run.h"
#include "analyzer/base/grow.h"

static int take(struct sp_process_calls *calls, const struct sp_clock *clock,
		const struct sp_slot *slot)
{
	struct sp_process_call *call = SP_LIST_ADD(calls->list, calls->count, calls->room);

	if (!call)
		return -ENOMEM;
	*call = (struct sp_process_call){
		sp_clock_realtime_ns(clock, slot->start),
		sp_clock_realtime_ns(clock, slot->start + slot->ticks),
		slot->value,
	};
	return 0;
}

SP_ORDER(compare, struct sp_process_call, SP_UP(end_ns))

int sp_process_calls_read(struct sp_process_calls *calls, struct sp_reader *reader,
			  const struct sp_run *run, uint32_t image, uint32_t but_tid,
			  sp_process_call_test *is_wanted)
{
	const struct sp_index *index = &run->index;
	const struct sp_clock *clock = &index->hosts[index->images[image].host].clock;
	const struct sp_process_metadata *metadata = &run->metadata.images[image];
	struct sp_batch batch;
	int r = 0;

	for (uint32_t i = sp_index_first_stream(index, image);
	     i < index->stream_count && index->streams[i]->image == image; i++) {
		if (index->streams[i]->tid == but_tid)
			continue;
		sp_reader_open(reader, index, index->streams[i]);
		while (r == 0 && sp_reader_next(reader, &batch))
			for (uint32_t k = 0;
			     r == 0 && k < batch.n && calls->count < SP_PROCESS_CALLS_MAX; k++)
				if (is_wanted(metadata, &batch.slots[k]))
					r = take(calls, clock, &batch.slots[k]);
	}
	if (calls->count)
		qsort(calls->list, calls->count, sizeof(*calls->list), compare);
	return r;
}

void sp_process_calls_finish(struct sp_process_calls *calls)
{
	free(calls->list);
	*calls = (struct sp_process_calls){.list = NULL};
}

uint32_t sp_process_calls_after(const struct sp_process_calls *calls, int64_t ns)
{
	return SP_UPPER_BOUND(calls->list, calls->count, end_ns, ns);
}
