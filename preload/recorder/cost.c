/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/cost.h"

#include "preload/recorder/emit.h"

#define RING_SLOTS 32u
#define ROUNDS 4u
#define ROUND_EVENTS 32u

static uint64_t event_ps;

/* A span with its mark and its slot, as a hook makes it, into a ring that is never full. */
static uint64_t round_ticks(struct sp_thread *t)
{
	uint64_t begin = sp_clock_ticks();

	for (unsigned i = 0; i < ROUND_EVENTS; i++) {
		struct sp_open_span span = sp_span_begin(t, SP_EV_read, i);

		sp_span_end(&span, i);
	}
	return sp_clock_ticks() - begin;
}

/* The fastest round counts: slower rounds were interrupted or had cold caches. */
void sp_cost_measure(void)
{
	struct sp_slot ring[RING_SLOTS];
	struct sp_mark mark = {0, 0};
	struct sp_thread thread = {
		.shift = (uint32_t)__builtin_ctz(RING_SLOTS),
		.limit = UINT64_MAX,
		.ring = ring,
		.mask = RING_SLOTS - 1,
		.mark = &mark,
	};
	uint64_t best = UINT64_MAX;

	for (unsigned i = 0; !event_ps && i < ROUNDS; i++) {
		uint64_t ticks = round_ticks(&thread);

		best = ticks < best ? ticks : best;
	}
	if (best != UINT64_MAX)
		event_ps = sp_clock_span_ns(best * 1000) / ROUND_EVENTS;
}

uint64_t sp_cost_event_ps(void)
{
	return event_ps;
}
