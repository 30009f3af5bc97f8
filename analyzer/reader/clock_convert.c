/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/reader/clock_convert.h"

#define FIT_NS_MIN UINT64_C(10000000)
/* The year 2116. Instants are clipped to it, so that a difference of two cannot overflow. */
#define REALTIME_MAX_NS (UINT64_C(1) << 62)
#define NS_PER_SECOND UINT64_C(1000000000)

static bool is_before(const struct sp_clock_point *a, const struct sp_clock_point *b)
{
	if (a->monotonic_ns != b->monotonic_ns)
		return a->monotonic_ns < b->monotonic_ns;
	if (a->ticks != b->ticks)
		return a->ticks < b->ticks;
	return a->realtime_ns < b->realtime_ns;
}

void sp_clock_learn(struct sp_clock *c, const struct sp_clock_point *point)
{
	if (point->ticks == 0)
		return;
	if (c->first.ticks == 0 || is_before(point, &c->first))
		c->first = *point;
	if (c->last.ticks == 0 || is_before(&c->last, point))
		c->last = *point;
}

static uint64_t ratio(uint64_t ns, uint64_t ticks)
{
	unsigned __int128 q = (((unsigned __int128)ns << SP_CLOCK_SHIFT) + ticks / 2) / ticks;

	return q > UINT64_MAX ? UINT64_MAX : (uint64_t)q;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

void sp_clock_fit(struct sp_clock *c, bool counter)
{
	uint64_t ns = c->last.monotonic_ns - c->first.monotonic_ns, estimate = 0;

	c->ns_per_tick = UINT64_C(1) << SP_CLOCK_SHIFT;
	if (!counter)
		return;
	if (c->ticks_per_second)
		c->ns_per_tick = estimate = ratio(NS_PER_SECOND, c->ticks_per_second);
	if (ns >= FIT_NS_MIN && c->last.ticks > c->first.ticks) {
		uint64_t fitted = ratio(ns, c->last.ticks - c->first.ticks);

		if (!estimate || distance(fitted, estimate) < estimate / 20)
			c->ns_per_tick = fitted;
	}
	if (c->ns_per_tick == 0)
		c->ns_per_tick = 1;
}

int64_t sp_clock_realtime_ns(const struct sp_clock *c, uint64_t ticks)
{
	uint64_t first =
		c->first.realtime_ns < REALTIME_MAX_NS ? c->first.realtime_ns : REALTIME_MAX_NS;
	int64_t base = (int64_t)first;

	if (ticks >= c->first.ticks)
		return base + (int64_t)sp_clock_span_ns(c->ns_per_tick, ticks - c->first.ticks);
	return base - (int64_t)sp_clock_span_ns(c->ns_per_tick, c->first.ticks - ticks);
}

uint64_t sp_clock_ticks(const struct sp_clock *c, int64_t realtime_ns)
{
	__int128 ns = (__int128)realtime_ns - (__int128)c->first.realtime_ns;
	__int128 ticks = ns * ((__int128)1 << SP_CLOCK_SHIFT) / (__int128)c->ns_per_tick +
			 (__int128)c->first.ticks;

	if (ticks < 0)
		return 0;
	return ticks > INT64_MAX ? INT64_MAX : (uint64_t)ticks;
}
