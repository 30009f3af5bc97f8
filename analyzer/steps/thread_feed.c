/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/thread_feed.h"

#include "analyzer/base/intervals.h"
#include "analyzer/metadata/run.h"
#include "trace/events.h"

#define VALIDATION_STEPS                                                                           \
	4u /* a pass of which fewer than one batch in four makes a step trains nobody */

static bool is_batch(const struct sp_process_metadata *image, const struct sp_slot *slot)
{
	(void)image;
	return sp_commit_kind(slot->commit) == SP_EV_loader_next;
}

int sp_feed_read(struct sp_process_calls *feed, struct sp_reader *reader, const struct sp_run *run,
		 uint32_t stream)
{
	const struct sp_stream *own = run->index.streams[stream];

	return sp_process_calls_read(feed, reader, run, own->image, own->tid, is_batch);
}

static bool ends_pass(const struct sp_process_call *call)
{
	return call->value & 1;
}

/* Steps that ended before this instant. */
static uint32_t steps_before(const struct sp_steps *s, int64_t ns)
{
	return SP_UPPER_BOUND(s->steps, s->count, end_ns, ns);
}

/* Returns the batches of the pass that begins with call `*i`, or 0 if no step trains on them. Moves
 * `*i` to the call after the pass. */
static uint32_t next_pass(const struct sp_process_calls *feed, const struct sp_steps *s,
			  uint32_t *i)
{
	int64_t begin_ns = feed->list[*i].start_ns, end_ns;
	uint32_t batches = 0, steps;

	while (*i < feed->count && !ends_pass(&feed->list[*i])) {
		batches++;
		++*i;
	}
	*i += *i < feed->count;
	end_ns = *i < feed->count ? feed->list[*i].start_ns : INT64_MAX;
	steps = steps_before(s, end_ns) - steps_before(s, begin_ns);
	return steps >= batches / VALIDATION_STEPS ? batches : 0;
}

void sp_feed_number_epochs(const struct sp_process_calls *feed, struct sp_steps *s)
{
	uint64_t all = 0, before = 0;
	uint32_t epoch = 0, from = 0;

	for (uint32_t i = 0; i < feed->count;)
		all += next_pass(feed, s, &i);
	for (uint32_t i = 0; i < feed->count && all;) {
		uint32_t batches = next_pass(feed, s, &i), to;

		before += batches;
		to = (uint32_t)((before * s->count + all / 2) / all);
		for (uint32_t k = from; k < to && k < s->count; k++)
			s->steps[k].epoch = epoch;
		epoch += to > from;
		from = to > from ? to : from;
	}
	s->epoch_count = s->count ? (epoch ? epoch : 1) : 0;
}
