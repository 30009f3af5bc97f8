/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/gpu/device_states.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/order.h"
#include "analyzer/totals/totals.h"
#include "analyzer/training/training.h"
#include "trace/events.h"

/* A wait in which the device finished; from_ns: from the end of the last step's call to its begin;
 * steps: that the device may have had left. */
struct drained_wait {
	uint64_t ns, from_ns, steps;
};

/* One training thread, and the lists of all of them. */
struct device_states_pass {
	struct sp_device_states *states;
	const struct sp_steps *steps;
	uint32_t step; /* the first that ends after the last event */
	int64_t call_start_ns, call_end_ns;
	int64_t compiled_ns;
	bool has_call;		     /* one that compiled nothing, since the last wait
					that was idle at its begin */
	uint64_t calls_left;	     /* since the device was last known to have nothing to do */
	int64_t answer, answered_ns; /* enum sp_phase, and when; SP_PHASE_none: taken */
	uint64_t *spans;
	uint32_t span_count, span_room;
	struct drained_wait *drained;
	uint32_t drained_count, drained_room;
	bool is_out_of_memory;
};

static bool begins_in_step(struct device_states_pass *pass, int64_t start_ns)
{
	const struct sp_steps *s = pass->steps;

	while (pass->step < s->count && s->steps[pass->step].end_ns <= start_ns)
		pass->step++;
	return pass->step < s->count && start_ns >= s->steps[pass->step].start_ns;
}

static void add_span(struct device_states_pass *pass, int64_t start_ns)
{
	bool has_span = pass->has_call && start_ns > pass->call_start_ns;
	uint64_t *span =
		has_span ? SP_LIST_ADD(pass->spans, pass->span_count, pass->span_room) : NULL;

	pass->is_out_of_memory |= has_span && !span;
	pass->has_call = false;
	if (span)
		*span = (uint64_t)(start_ns - pass->call_start_ns);
}

static void add_drained(struct device_states_pass *pass, int64_t start_ns, uint64_t ns)
{
	struct drained_wait *wait =
		SP_LIST_ADD(pass->drained, pass->drained_count, pass->drained_room);

	pass->is_out_of_memory |= !wait;
	if (!wait)
		return;
	*wait = (struct drained_wait){
		.ns = ns,
		.from_ns =
			start_ns > pass->call_end_ns ? (uint64_t)(start_ns - pass->call_end_ns) : 0,
		.steps = pass->calls_left,
	};
}

static void take_wait(struct device_states_pass *pass, int64_t start_ns, uint64_t ns)
{
	struct sp_device_states *s = pass->states;

	s->waits++;
	s->wait_ns += ns;
	switch (pass->answer) {
	case SP_PHASE_device_idle:
		s->idle_ns += ns;
		add_span(pass, start_ns);
		break;
	case SP_PHASE_device_busy:
		s->busy_ns += ns;
		break;
	default:
		s->drained_ns += ns;
		add_drained(pass, start_ns, ns);
	}
	if (pass->answer != SP_PHASE_device_busy)
		pass->calls_left = 0;
}

static void take_call(struct device_states_pass *pass, int64_t phase, int64_t start_ns,
		      int64_t end_ns)
{
	switch (phase) {
	case SP_PHASE_compile:
		pass->compiled_ns = start_ns;
		break;
	case SP_PHASE_update:
		pass->call_start_ns = start_ns;
		pass->call_end_ns = end_ns;
		pass->has_call = pass->compiled_ns < start_ns;
		pass->calls_left++;
		break;
	case SP_PHASE_device_idle:
	case SP_PHASE_device_busy:
	case SP_PHASE_device_drained:
		pass->answer = phase;
		pass->answered_ns = start_ns;
		break;
	}
}

/* An answer lies inside the wait that it is about, whose event follows. */
static void take(struct device_states_pass *pass, const struct sp_event_reader *events,
		 const struct sp_read_event *event)
{
	int64_t start_ns = sp_event_start_ns(events, event);
	int64_t end_ns = sp_event_end_ns(events, event);

	if (event->kind == SP_EV_python_call)
		take_call(pass, event->slot->value, start_ns, end_ns);
	if (event->kind != SP_EV_loader_next || pass->answer == SP_PHASE_none)
		return;
	if (pass->answered_ns >= start_ns && begins_in_step(pass, start_ns))
		take_wait(pass, start_ns, (uint64_t)(end_ns - start_ns));
	pass->answer = SP_PHASE_none;
}

static void read_trainer(struct device_states_pass *pass, const struct sp_training *training,
			 const struct sp_trainer *trainer, struct sp_reader *reader)
{
	const struct sp_index *index = &training->run->index;
	struct sp_event_reader events;
	struct sp_read_event event;

	pass->steps = &trainer->steps;
	pass->step = 0;
	pass->call_end_ns = pass->compiled_ns = 0;
	pass->has_call = false;
	pass->calls_left = 0;
	pass->answer = SP_PHASE_none;
	sp_event_reader_open(&events, reader, index, index->streams[trainer->stream]);
	while (sp_event_reader_next(&events, &event))
		take(pass, &events, &event);
}

SP_ORDER(compare, uint64_t, SP_COMPARE(*x, *y))

/* The middle span stands for a step's work. */
static void bound(const struct device_states_pass *pass)
{
	struct sp_device_states *s = pass->states;
	uint64_t span_ns;

	s->is_bounded = pass->span_count > 0;
	if (!pass->span_count)
		return;
	qsort(pass->spans, pass->span_count, sizeof(*pass->spans), compare);
	span_ns = pass->spans[pass->span_count / 2];
	for (uint32_t i = 0; i < pass->drained_count; i++) {
		const struct drained_wait *w = &pass->drained[i];
		uint64_t most_ns = span_ns * w->steps;
		uint64_t left_ns = most_ns > w->from_ns ? most_ns - w->from_ns : 0;

		s->drained_busy_ns += left_ns < w->ns ? left_ns : w->ns;
	}
}

int sp_device_states_read(struct sp_device_states *states, const struct sp_totals *totals,
			  const struct sp_training *training)
{
	static const uint64_t answers = UINT64_C(1) << SP_PHASE_device_idle |
					UINT64_C(1) << SP_PHASE_device_busy |
					UINT64_C(1) << SP_PHASE_device_drained;
	struct device_states_pass pass = {.states = states};
	struct sp_reader reader;
	int r;

	*states = (struct sp_device_states){.waits = 0};
	if (!(totals->phases & answers))
		return 0;
	r = sp_reader_init(&reader);
	for (uint32_t t = 0; r == 0 && t < training->count; t++)
		read_trainer(&pass, training, &training->trainers[t], &reader);
	bound(&pass);
	free(pass.spans);
	free(pass.drained);
	sp_reader_finish(&reader);
	return r ? r : pass.is_out_of_memory ? -ENOMEM : 0;
}
