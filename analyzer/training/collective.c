/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/training/collective.h"

#include "analyzer/reader/clock_convert.h"
#include "analyzer/reader/reader.h"
#include "analyzer/metadata/run.h"
#include "analyzer/metadata/metadata.h"
#include "trace/events.h"

bool sp_slot_is_collective(const struct sp_process_metadata *image, const struct sp_slot *slot)
{
	return sp_commit_kind(slot->commit) == SP_EV_torch_range &&
	       sp_process_label_use(image, sp_commit_arg(slot->commit)) == SP_LABEL_COLLECTIVE;
}

int sp_collective_calls_read(struct sp_process_calls *calls, struct sp_reader *reader,
			     const struct sp_run *run, uint32_t image)
{
	*calls = (struct sp_process_calls){.list = NULL};
	if (!run->metadata.images[image].has_collectives)
		return 0;
	return sp_process_calls_read(calls, reader, run, image, 0, sp_slot_is_collective);
}

bool sp_collective_ended(const struct sp_process_calls *calls, int64_t from_ns, int64_t to_ns)
{
	uint32_t next = sp_process_calls_after(calls, from_ns);

	return next < calls->count && calls->list[next].end_ns <= to_ns;
}
