/*
 * Calls of one sort as a few numbers. All are integers and commute, so that the order of reading and the number of
 * threads leave no mark on the result. Calls come as arrays, for processors add several at once.
 */
#ifndef STAGEPROF_ANALYZER_SUMS_H
#define STAGEPROF_ANALYZER_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/hist.h"

struct sp_sums {
	uint64_t calls;
	uint64_t total_ns;
	uint64_t max_ns;
	uint64_t bytes;
	uint64_t errors;  /* calls that returned an error */
	uint64_t aborted; /* calls left by longjmp, cancellation or an exception; images given up */
};

/* How many ticks an array's numbers are in one, and what a tick is: struct sp_clock. */
struct sp_tick_unit {
	uint64_t grain, ns_per_tick;
};

void sp_sums_merge(struct sp_sums *into, const struct sp_sums *from);

/* n calls more, of these durations; any numbers, as sp_clock_span_ns() takes them. */
void sp_sums_add_times(struct sp_sums *sums, struct sp_hist *hist, const int64_t *ticks, uint32_t n,
		       const struct sp_tick_unit *unit);

/* What they returned: errors where below 0, else bytes if the kind's values are bytes. */
void sp_sums_add_values(struct sp_sums *sums, const int64_t *values, uint32_t n, bool are_bytes);

#endif
