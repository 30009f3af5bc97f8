/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/report/timeline.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/each.h"
#include "analyzer/reader/clock_convert.h"
#include "analyzer/reader/reader.h"
#include "analyzer/totals/totals.h"
#include "analyzer/training/step_rows.h"
#include "analyzer/workers/worker.h"
#include "analyzer/base/order.h"
#include "analyzer/training/training_account.h"

#define STEPS_AROUND 1u

/* The longest first. Ties have an order, so that the same run gives the same page. */
SP_ORDER(by_length, struct sp_timeline_event, SP_DOWN(dur_ns) ?: SP_UP(start_ns) ?: SP_UP(kind))

static void keep_longest(struct sp_longest *l)
{
	if (l->count)
		qsort(l->events, l->count, sizeof(*l->events), by_length);
	if (l->count < l->room)
		return;
	l->is_full = true;
	l->count = l->room;
}

static void offer(struct sp_longest *l, const struct sp_timeline_event *event)
{
	l->seen++;
	if (!l->room || (l->is_full && by_length(event, &l->events[l->room - 1]) > 0))
		return;
	l->events[l->count++] = *event;
	if (l->count == 2 * l->room)
		keep_longest(l);
}

/* The window is around the slowest of the selected steps. */
static void choose_window(struct sp_timeline *t, const struct sp_training *training,
			  const struct sp_trainer *trainer)
{
	const struct sp_step *steps = trainer->steps.steps;
	uint32_t last = trainer->steps.count - 1, slowest = UINT32_MAX;

	for (uint32_t i = 0; i <= last; i++) {
		if (!sp_step_is_selected(training, trainer, i))
			continue;
		if (slowest == UINT32_MAX ||
		    sp_step_wall_ns(&steps[i]) > sp_step_wall_ns(&steps[slowest]))
			slowest = i;
	}
	if (slowest == UINT32_MAX)
		return;
	t->slowest_step = slowest;
	t->first_step = slowest > STEPS_AROUND ? slowest - STEPS_AROUND : 0;
	t->last_step = last - slowest > STEPS_AROUND ? slowest + STEPS_AROUND : last;
	t->from_ns = steps[t->first_step].start_ns;
	t->to_ns = steps[t->last_step].end_ns;
}

static bool has_lane(const struct sp_timeline *t, uint32_t stream)
{
	return SP_ANY(i, t->count, t->lanes[i].stream == stream);
}

static void add_lane(struct sp_timeline *t, uint32_t stream, enum sp_lane_role role)
{
	if (t->count < SP_TIMELINE_LANES_MAX && !has_lane(t, stream))
		t->lanes[t->count++] = (struct sp_lane){.stream = stream, .role = role};
}

static bool lives_in_window(const struct sp_timeline *t, const struct sp_worker *w)
{
	return w->begin_ns < t->to_ns && w->end_ns > t->from_ns;
}

static void add_workers(struct sp_timeline *t, const struct sp_workers *workers, bool in_window)
{
	for (uint32_t i = 0; i < workers->count; i++) {
		const struct sp_worker *w = &workers->list[i];

		if (!w->is_trainer && lives_in_window(t, w) == in_window)
			add_lane(t, w->stream, SP_LANE_WORKER);
	}
}

struct lookup {
	const struct sp_run *run;
	const struct sp_totals *totals;
};

/* Time in calls, without waits; 0 for threads that are not selected. */
static uint64_t by_work(const void *context, uint32_t i)
{
	const struct lookup *lookup = context;
	uint64_t ns = 0;

	for (int stage = 0; sp_run_selects(lookup->run, i) && stage < SP_STAGES; stage++)
		if (stage != SP_STAGE_wait && stage != SP_STAGE_sleep)
			ns += lookup->totals->streams[i].stages[stage].total_ns;
	return ns;
}

/* Threads of the trainers' processes, or, without a trainer, of any process. */
static int add_others(struct sp_timeline *t, const struct lookup *lookup)
{
	const struct sp_index *index = &lookup->run->index;
	uint32_t *order = sp_order_by(index->stream_count, by_work, lookup);
	uint32_t trainers = t->count && t->lanes[0].role == SP_LANE_TRAINER ? t->count : 0;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < index->stream_count; i++) {
		bool belongs = trainers == 0;

		for (uint32_t k = 0; k < trainers; k++)
			belongs |= index->streams[t->lanes[k].stream]->image ==
				   index->streams[order[i]]->image;
		if (belongs && by_work(lookup, order[i]))
			add_lane(t, order[i], SP_LANE_OTHER);
	}
	free(order);
	return 0;
}

static int choose_lanes(struct sp_timeline *t, const struct lookup *lookup,
			const struct sp_training *training, const struct sp_workers *workers)
{
	const struct sp_run *run = lookup->run;
	const struct sp_trainer *trainer = sp_training_main(training);
	uint32_t with_events = 0;
	int r;

	if (trainer) {
		choose_window(t, training, trainer);
		add_lane(t, trainer->stream, SP_LANE_TRAINER);
	}
	for (uint32_t i = 0; i < training->count && t->count < SP_TIMELINE_LANES_MAX / 4; i++)
		if (training->trainers[i].steps.count)
			add_lane(t, training->trainers[i].stream, SP_LANE_TRAINER);
	add_workers(t, workers, true);
	add_workers(t, workers, false);
	r = add_others(t, lookup);
	for (uint32_t i = 0; i < run->index.stream_count; i++)
		with_events += sp_run_selects(run, i) && lookup->totals->streams[i].events;
	t->left_out = with_events > t->count ? with_events - t->count : 0;
	return r;
}

static void take(struct sp_timeline *t, struct sp_lane *lane, const struct sp_clock *clock,
		 const struct sp_slot *slot)
{
	struct sp_timeline_event event = {
		.start_ns = sp_clock_realtime_ns(clock, slot->start),
		.dur_ns = sp_clock_span_ns(clock->ns_per_tick, slot->ticks),
		.value = slot->value,
		.kind = sp_commit_kind(slot->commit),
		.arg = sp_commit_arg(slot->commit),
	};
	bool inside =
		event.start_ns < t->to_ns && event.start_ns + (int64_t)event.dur_ns > t->from_ns;

	offer(inside ? &lane->inside : &lane->outside, &event);
}

static void read_lane(struct sp_timeline *t, const struct sp_run *run, struct sp_lane *lane,
		      struct sp_reader *reader)
{
	const struct sp_index *index = &run->index;
	struct sp_stream *stream = index->streams[lane->stream];
	uint32_t host = index->images[stream->image].host;
	struct sp_tick_range span = sp_run_span(run, stream->image);
	struct sp_batch batch;

	sp_reader_open(reader, index, stream);
	while (sp_reader_next(reader, &batch)) {
		for (uint32_t i = 0; i < batch.n; i++) {
			const struct sp_slot *slot = &batch.slots[i];

			if (sp_commit_kind(slot->commit) != SP_KIND_HOLE &&
			    sp_commit_kind(slot->commit) < SP_EVENT_KINDS &&
			    slot->start >= span.from_ticks && slot->start < span.to_ticks)
				take(t, lane, &index->hosts[host].clock, slot);
		}
	}
}

static int make_room(struct sp_longest *l, uint32_t room)
{
	l->room = room;
	l->events = calloc(2 * room + 1u, sizeof(*l->events));
	return l->events ? 0 : -ENOMEM;
}

int sp_timeline_read(struct sp_timeline *t, const struct sp_totals *totals,
		     const struct sp_training *training, const struct sp_workers *workers,
		     uint32_t room)
{
	struct lookup lookup = {training->run, totals};
	struct sp_reader reader;
	int r = sp_reader_init(&reader);

	*t = (struct sp_timeline){.count = 0};
	if (r == 0)
		r = choose_lanes(t, &lookup, training, workers);
	room /= 2 * (t->count ? t->count : 1);
	for (uint32_t i = 0; r == 0 && i < t->count; i++) {
		r = make_room(&t->lanes[i].inside, room);
		if (r == 0)
			r = make_room(&t->lanes[i].outside, room);
		if (r == 0)
			read_lane(t, training->run, &t->lanes[i], &reader);
		keep_longest(&t->lanes[i].inside);
		keep_longest(&t->lanes[i].outside);
	}
	sp_reader_finish(&reader);
	return r;
}

void sp_timeline_finish(struct sp_timeline *t)
{
	for (uint32_t i = 0; i < t->count; i++) {
		free(t->lanes[i].inside.events);
		free(t->lanes[i].outside.events);
	}
	*t = (struct sp_timeline){.count = 0};
}
