/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/async_checkpoint.h"

#include "analyzer/metadata/run.h"
#include "trace/events.h"

static bool is_saving(const struct sp_process_metadata *image, const struct sp_slot *slot)
{
	(void)image;
	return sp_commit_kind(slot->commit) == SP_EV_python_call &&
	       slot->value == SP_PHASE_checkpoint_save;
}

int sp_async_checkpoints_read(struct sp_process_calls *checkpoints, struct sp_reader *reader,
			      const struct sp_run *run, uint32_t stream)
{
	const struct sp_stream *own = run->index.streams[stream];

	return sp_process_calls_read(checkpoints, reader, run, own->image, own->tid, is_saving);
}

bool sp_async_checkpoints_held(const struct sp_process_calls *checkpoints, int64_t from_ns,
			       int64_t to_ns)
{
	for (uint32_t i = sp_process_calls_after(checkpoints, from_ns); i < checkpoints->count;
	     i++) {
		const struct sp_process_call *s = &checkpoints->list[i];
		int64_t since_ns = s->start_ns > from_ns ? s->start_ns : from_ns;

		if (s->end_ns > to_ns)
			break;
		if (s->end_ns - since_ns >= (to_ns - from_ns) / 2)
			return true;
	}
	return false;
}

uint64_t sp_async_checkpoints_total(const struct sp_process_calls *checkpoints)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < checkpoints->count; i++)
		ns += (uint64_t)(checkpoints->list[i].end_ns - checkpoints->list[i].start_ns);
	return ns;
}
