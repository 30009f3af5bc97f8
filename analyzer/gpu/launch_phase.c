/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/gpu/launch_phase.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/reader/clock_convert.h"
#include "analyzer/base/intervals.h"
#include "analyzer/base/grow.h"
#include "analyzer/steps/phase_interval.h"

#define INTERVALS_MAX (1u << 22) /* intervals beyond are dropped */

static bool is_phase(const struct sp_phase_interval *interval)
{
	enum sp_account_phase phase = sp_phase_interval_phase(interval->kind);

	return phase != SP_ACCOUNT_other && phase != SP_ACCOUNT_h2d_copy &&
	       phase != SP_ACCOUNT_sync_wait && phase != SP_ACCOUNT_grad_sync;
}

static int take(struct sp_launch_phases *phases, const struct sp_process_metadata *image,
		const struct sp_clock *clock, const struct sp_slot *slot)
{
	struct sp_phase_interval interval =
		sp_phase_interval_of(image, slot, sp_clock_realtime_ns(clock, slot->start),
				     sp_clock_realtime_ns(clock, slot->start + slot->ticks));
	struct sp_phase_interval *list;

	if (!is_phase(&interval) || interval.end_ns < interval.start_ns ||
	    phases->count >= INTERVALS_MAX)
		return 0;
	list = sp_list_grow(phases->intervals, phases->count, &phases->room, sizeof(*list));
	if (!list)
		return -ENOMEM;
	phases->intervals = list;
	phases->count = sp_phase_interval_put(list, phases->count, interval);
	return 0;
}

static int read_stream(struct sp_launch_phases *phases, const struct sp_run *run,
		       struct sp_reader *reader, struct sp_stream *stream)
{
	const struct sp_index *index = &run->index;
	const struct sp_clock *clock = &index->hosts[index->images[stream->image].host].clock;
	struct sp_batch batch;
	int r = 0;

	sp_reader_open(reader, index, stream);
	while (r == 0 && sp_reader_next(reader, &batch))
		for (uint32_t i = 0; r == 0 && i < batch.n; i++)
			if (sp_phase_interval_wants(sp_commit_kind(batch.slots[i].commit)))
				r = take(phases, &run->metadata.images[stream->image], clock,
					 &batch.slots[i]);
	return r;
}

/* A thread that goes on after its clean end has several streams; they follow each other. */
int sp_launch_phases_read(struct sp_launch_phases *phases, const struct sp_run *run,
			  const struct sp_trainer *trainer)
{
	const struct sp_index *index = &run->index;
	const struct sp_stream *own = index->streams[trainer->stream];
	struct sp_reader reader;
	int r = sp_reader_init(&reader);

	*phases = (struct sp_launch_phases){.steps = &trainer->steps};
	for (uint32_t i = trainer->stream; r == 0 && i < index->stream_count; i++) {
		if (index->streams[i]->image != own->image || index->streams[i]->tid != own->tid)
			break;
		r = read_stream(phases, run, &reader, index->streams[i]);
	}
	sp_reader_finish(&reader);
	return r;
}

void sp_launch_phases_finish(struct sp_launch_phases *phases)
{
	free(phases->intervals);
	phases->intervals = NULL;
}

enum sp_account_phase sp_launch_phase(const struct sp_launch_phases *phases, int64_t at_ns)
{
	uint32_t low = SP_UPPER_BOUND(phases->intervals, phases->count, end_ns, at_ns);
	uint32_t step = sp_steps_at(phases->steps, at_ns);

	if (step == phases->steps->count)
		return SP_ACCOUNT_other;
	if (low < phases->count && phases->intervals[low].start_ns <= at_ns)
		return sp_phase_interval_phase(phases->intervals[low].kind);
	return sp_steps_lead_to_backward(phases->steps, at_ns, step) ? SP_ACCOUNT_forward
								     : SP_ACCOUNT_other;
}

/* The interval before is a forward of this step. */
static bool is_after_forward(const struct sp_launch_phases *phases, uint32_t next, uint32_t step)
{
	const struct sp_phase_interval *before = next ? &phases->intervals[next - 1] : NULL;

	return before && sp_phase_interval_phase(before->kind) == SP_ACCOUNT_forward &&
	       sp_steps_at(phases->steps, before->start_ns) == step;
}

enum sp_account_phase sp_code_phase(const struct sp_launch_phases *phases, int64_t at_ns)
{
	enum sp_account_phase phase = sp_launch_phase(phases, at_ns);
	uint32_t next = SP_UPPER_BOUND(phases->intervals, phases->count, end_ns, at_ns);
	bool is_in_none = next == phases->count || phases->intervals[next].start_ns > at_ns;

	if (phase != SP_ACCOUNT_forward || !is_in_none || phases->steps->is_forward_left_over)
		return phase;
	return is_after_forward(phases, next, sp_steps_at(phases->steps, at_ns)) ? SP_ACCOUNT_loss
										 : SP_ACCOUNT_other;
}
