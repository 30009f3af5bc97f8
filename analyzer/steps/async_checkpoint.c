/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/async_checkpoint.h"

#include "analyzer/base/each.h"
#include "analyzer/metadata/run.h"
#include "trace/events.h"

#define LEVELS_MOST 8u /* of processes between a trainer and one that saves for it */

static bool is_saving(const struct sp_process_metadata *image, const struct sp_slot *slot)
{
	(void)image;
	return sp_commit_kind(slot->commit) == SP_EV_python_call &&
	       slot->value == SP_PHASE_checkpoint_save;
}

/* A worker of a loader may save what it has made, and a child that trains saves its own weights. */
static bool is_helper(const struct sp_run *run, uint32_t image)
{
	return !run->metadata.images[image].may_step && !run->metadata.images[image].fetches;
}

/* A process that the trainer started, or that a helper of it did (a pool, a shell). */
static bool is_saver(const struct sp_run *run, uint32_t image, uint32_t trainer)
{
	const struct sp_index *index = &run->index;

	if (!run->metadata.images[image].saves)
		return false;
	for (uint32_t level = 0; level < LEVELS_MOST && image < index->image_count; level++) {
		if (!is_helper(run, image))
			return false;
		if (sp_index_is_child(&index->images[image], &index->images[trainer]))
			return true;
		image = sp_index_parent(index, image);
	}
	return false;
}

int sp_async_checkpoints_read(struct sp_process_calls *checkpoints, struct sp_reader *reader,
			      const struct sp_run *run, uint32_t stream)
{
	const struct sp_stream *own = run->index.streams[stream];

	int r = 0;

	if (run->metadata.images[own->image].saves)
		r = sp_process_calls_read(checkpoints, reader, run, own->image, own->tid,
					  is_saving);
	for (uint32_t i = 0; r == 0 && i < run->index.image_count; i++)
		if (i != own->image && is_saver(run, i, own->image))
			r = sp_process_calls_read(checkpoints, reader, run, i, 0, is_saving);
	return r;
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
	return SP_SUM(uint64_t, i, checkpoints->count,
		      (uint64_t)(checkpoints->list[i].end_ns - checkpoints->list[i].start_ns));
}
