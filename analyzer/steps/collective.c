/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/collective.h"

#include "analyzer/base/intervals.h"
#include "analyzer/reader/clock_convert.h"
#include "analyzer/reader/reader.h"
#include "analyzer/metadata/run.h"
#include "analyzer/metadata/metadata.h"
#include "trace/events.h"

/* At once, of a process: more may overtake one that is waited for. */
#define IN_FLIGHT_MAX 16u

/* True for the marker of a collective, from its call to its end. */
static bool is_collective(const struct sp_process_metadata *image, const struct sp_slot *slot)
{
	return sp_commit_kind(slot->commit) == SP_EV_torch_range &&
	       sp_process_label_use(image, sp_commit_arg(slot->commit)) == SP_LABEL_COLLECTIVE;
}

bool sp_slot_is_nccl(const struct sp_process_metadata *image, const struct sp_slot *slot)
{
	uint32_t kind = sp_commit_kind(slot->commit);

	(void)image;
	return kind < SP_EVENT_KINDS && sp_event_info(kind)->name &&
	       sp_event_info(kind)->class == SP_CLASS_NCCL;
}

bool sp_collective_next(const struct sp_process_calls *calls, uint32_t *i, int64_t *from_ns,
			int64_t to_ns, int64_t *ret_end_ns)
{
	for (uint32_t after = 0; *i < calls->count && after < IN_FLIGHT_MAX; ++*i) {
		int64_t begin_ns = calls->list[*i].start_ns, end_ns = calls->list[*i].end_ns;

		after += begin_ns >= to_ns;
		begin_ns = begin_ns > *from_ns ? begin_ns : *from_ns;
		*ret_end_ns = end_ns < to_ns ? end_ns : to_ns;
		if (*ret_end_ns <= begin_ns)
			continue;
		*from_ns = begin_ns;
		++*i;
		return true;
	}
	return false;
}

int sp_collective_calls_read(struct sp_process_calls *calls, struct sp_reader *reader,
			     const struct sp_run *run, uint32_t image)
{
	*calls = (struct sp_process_calls){.list = NULL};
	if (!run->metadata.images[image].has_collectives)
		return 0;
	return sp_process_calls_read(calls, reader, run, image, 0, is_collective);
}

bool sp_collective_wait(const struct sp_process_calls *calls, int64_t *from_ns, int64_t *to_ns)
{
	uint32_t after = 0;
	int64_t begin_ns = *to_ns, end_ns = *from_ns;

	for (uint32_t i = sp_process_calls_after(calls, *from_ns);
	     i < calls->count && after < IN_FLIGHT_MAX; i++) {
		const struct sp_process_call *call = &calls->list[i];

		after += call->end_ns > *to_ns;
		if (call->start_ns >= *to_ns)
			continue;
		begin_ns = call->start_ns < begin_ns ? call->start_ns : begin_ns;
		end_ns = call->end_ns < *to_ns ? call->end_ns : *to_ns;
	}
	if (begin_ns >= end_ns)
		return false;
	if (begin_ns <= *from_ns || (end_ns - begin_ns) * 2 >= *to_ns - *from_ns)
		return true;
	*from_ns = begin_ns;
	*to_ns = end_ns;
	return true;
}
