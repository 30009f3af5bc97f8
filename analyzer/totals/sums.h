/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of one sort as a few numbers. All are integers and commute, so the order of reading and
 * the number of threads do not change the result. Calls come as arrays, because processors add
 * several numbers at once.
 */
#ifndef STAGEPROF_ANALYZER_SUMS_H
#define STAGEPROF_ANALYZER_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/base/histogram.h"

struct sp_sums {
	uint64_t calls;
	uint64_t total_ns;
	uint64_t max_ns;
	uint64_t bytes;
	uint64_t errors;  /* calls that returned an error */
	uint64_t aborted; /* calls left by longjmp, cancellation or an exception; images given up */
};

/* The unit of an array's numbers: `grain` ticks of ns_per_tick (struct sp_clock). */
struct sp_tick_unit {
	uint64_t grain, ns_per_tick;
};

void sp_sums_merge(struct sp_sums *into, const struct sp_sums *from);

/* Adds n calls with these durations: any numbers, as for sp_clock_span_ns(). */
void sp_sums_add_times(struct sp_sums *sums, struct sp_hist *hist, const int64_t *ticks, uint32_t n,
		       const struct sp_tick_unit *unit);

/* Adds what n calls returned: a value below 0 is an error, others are bytes if are_bytes. */
void sp_sums_add_values(struct sp_sums *sums, const int64_t *values, uint32_t n, bool are_bytes);

#endif
