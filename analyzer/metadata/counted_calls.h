/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions in the fetches and steps whose calls were counted (STAGEPROF_CALLS): SP_DEFINE_CALLS
 * and SP_DEFINE_CALLED, added up over all processes of the run.
 */
#ifndef STAGEPROF_ANALYZER_COUNTED_CALLS_H
#define STAGEPROF_ANALYZER_COUNTED_CALLS_H

#include <stdint.h>
#include <uthash.h>

#include "analyzer/metadata/definition_parser.h"
#include "analyzer/metadata/string_table.h"

#define SP_COUNTED_MAX 16384u /* distinct functions of a run, and processes */

/* Sums of the trace as they are, with the interpreter's price of each event. */
struct sp_counted_function {
	double calls, calls_squares;
	double own_ns, total_ns, own_squares_ns2;
	double own_spans, total_spans;
	UT_hash_handle hh;
	uint32_t bytes;
	struct sp_counted_key {
		uint32_t first_line; /* 0: a function in C */
		uint32_t phase;	     /* as in struct sp_called_metadata */
		char text[];	     /* "file\tfunction", any bytes */
	} key;
};

struct sp_counted_process {
	uint32_t image;
	uint64_t fetches; /* when its last window ended */
	UT_hash_handle hh;
};

/* The sums of fetches, or of steps: then "fetches" are steps. */
struct sp_counted_calls {
	struct sp_counted_function *by_key; /* uthash */
	struct sp_counted_process *processes;
	uint64_t windows, turned_away;
	double fetches, events; /* counted */
	double measured_ns;	/* all events by what each took when it was measured */
	double fetch_ns, callback_ns, neighbour_ns, neighbour_variance_ns2;
	struct sp_text_budget *texts; /* NULL: no bound */
};

enum sp_counted_kind { SP_COUNTED_FETCHES, SP_COUNTED_STEPS, SP_COUNTED_KINDS };

/* Takes CALLS and CALLED definitions of a process and ignores others; `counted` has
 * SP_COUNTED_KINDS. ns_per_tick: struct sp_clock. Returns 0 or -ENOMEM. */
int sp_counted_take(struct sp_counted_calls *counted, uint32_t image, uint64_t ns_per_tick,
		    const struct sp_definition *d);

/* Call it once, after the last definition. */
void sp_counted_sort(struct sp_counted_calls *counted);

void sp_counted_finish(struct sp_counted_calls *counted);

/*
 * Returns the interpreter's price of one event, in ns: the price when the recorder measured it,
 * within the bounds that the neighbours of the counted fetches give, where these are alike enough
 * to tell (the counted ones took longer by this price and by the time that the recorder measured
 * inside of itself), and at most what a
 * function and its callees took. *ret_error: how far off it may be. 0 where nothing was counted.
 */
double sp_counted_event_ns(const struct sp_counted_calls *counted, double *ret_error);

/* Fetches of the processes up to their last windows. */
uint64_t sp_counted_fetches(const struct sp_counted_calls *counted);

#endif
