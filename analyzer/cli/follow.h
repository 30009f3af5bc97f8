/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Repeats a report while its run goes on: in place on a terminal, one below the other elsewhere.
 *
 * Each report is made from the beginning. The pause is the interval, or nine times the processor
 * time of the report before, whichever is longer, so following takes at most a tenth of one core
 * for any run. The job is only read.
 */
#ifndef STAGEPROF_ANALYZER_FOLLOW_H
#define STAGEPROF_ANALYZER_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct sp_report;

/* The facts in a report that show if its run goes on. */
struct sp_follow_state {
	uint64_t events; /* and lost: any that comes changes it */
	int64_t end_ns;	 /* CLOCK_REALTIME of the last event */
	bool has_ended;	 /* every process: its main thread came to its clean end,
			    or all its threads */
	bool is_gone;	 /* of those that did not, none is there any more, on this machine */
};

struct sp_follow {
	FILE *file;
	uint64_t interval_ns;
	bool in_place; /* file is a terminal, and people read it */
	bool has_gaps; /* else: an empty line between two reports */
	/* Makes one report. Returns its exit status. is_last: nothing overdraws it. */
	int (*refresh)(void *context, FILE *to, bool is_last, struct sp_follow_state *ret);
	void *context;
};

struct sp_follow_state sp_follow_state_of(const struct sp_report *report);

/*
 * Until the run has ended, SIGINT or SIGTERM comes, or a report fails; the last report stays on the
 * terminal. A second signal ends at once. Returns the exit status of the last report.
 */
int sp_follow_run(const struct sp_follow *follow);

#endif
