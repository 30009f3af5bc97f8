/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversion of a trace's ticks to nanoseconds. A host has one clock, because its processes read
 * the same counter.
 */
#ifndef STAGEPROF_ANALYZER_CLOCK_CONVERT_H
#define STAGEPROF_ANALYZER_CLOCK_CONVERT_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/format.h"

#define SP_CLOCK_SHIFT 48u
#define SP_CLOCK_SPAN_MAX_NS (UINT64_C(1) << 56) /* two years; longer spans are clipped to it */

struct sp_clock {
	struct sp_clock_point first; /* earliest, by monotonic time; ticks == 0: none yet */
	struct sp_clock_point last;  /* latest */
	uint64_t ticks_per_second;   /* the writer's estimate, 0: none */
	uint64_t ns_per_tick;	     /* times 2^SP_CLOCK_SHIFT */
};

/* Adds a clock point; the order of the points does not matter. */
void sp_clock_learn(struct sp_clock *c, const struct sp_clock_point *point);

/*
 * Computes ns_per_tick after the last sp_clock_learn(). The first and the last point give it if
 * they are at least 10 ms apart and agree with the writer's estimate within 5%. Otherwise the
 * estimate gives it: a host may have booted in between.
 */
void sp_clock_fit(struct sp_clock *c, bool counter);

/* A duration, to the nearest ns. It is 0 if the end lies before the begin, because the counters of
 * two processors may differ. */
static inline uint64_t sp_clock_span_ns(uint64_t ns_per_tick, uint64_t ticks)
{
	unsigned __int128 ns = (unsigned __int128)ticks * ns_per_tick + (UINT64_C(1) << 47);
	uint64_t high = (uint64_t)(ns >> 64);

	if (__builtin_expect(ticks > INT64_MAX, 0))
		return 0;
	if (__builtin_expect(high >= SP_CLOCK_SPAN_MAX_NS >> 16, 0))
		return SP_CLOCK_SPAN_MAX_NS;
	return (uint64_t)(ns >> SP_CLOCK_SHIFT);
}

/* The CLOCK_REALTIME of an instant on that host, without changes that were made to that clock
 * during the run. */
int64_t sp_clock_realtime_ns(const struct sp_clock *c, uint64_t ticks);

/* The ticks at a time of CLOCK_REALTIME, clipped to [0, INT64_MAX]. */
uint64_t sp_clock_ticks(const struct sp_clock *c, int64_t realtime_ns);

#endif
