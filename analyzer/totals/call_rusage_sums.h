/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's counters of threads in wrapped calls that come once a batch (docs/FORMAT.md,
 * EXTRA words of python_call), added up.
 */
#ifndef STAGEPROF_ANALYZER_CALL_RUSAGE_SUMS_H
#define STAGEPROF_ANALYZER_CALL_RUSAGE_SUMS_H

#include <stdbool.h>
#include <stdint.h>

struct sp_call_rusage_sums {
	uint64_t calls; /* 0: nothing was counted, and the other members are not known */
	uint64_t wall_ns, cpu_ns;
	/*
	 * The time that was neither on a core nor in a call that is known to read or wait. In
	 * preempted_ns the thread waited for a core; in blocked_ns it waited without a hook: a
	 * sleep, a lock of a library, a page of a mapped file where page faults were not observed.
	 * Where context switches were not observed, their kinds in the same call
	 * distinguish the two.
	 */
	uint64_t preempted_ns, blocked_ns;
	uint64_t major_faults, minor_faults;
	uint64_t voluntary; /* context switches */
	uint64_t observed;  /* of calls: preempted_ns is observed */
};

/* Observations of one call (trace/events.def, waits). */
struct sp_call_waits {
	bool has_switches; /* else the members below are not known */
	bool has_faults;
	uint64_t page_blocked_ns; /* in events page_fault */
	uint64_t blocked_ns;	  /* elsewhere */
	uint64_t ready_ns;	  /* without a core */
};

/* words: the three EXTRA words of a call. known_ns: the time in it in calls that read or wait. */
struct sp_call_rusage_sums sp_call_rusage_sums_of(const uint64_t words[3], uint64_t wall_ns,
						  uint64_t known_ns,
						  const struct sp_call_waits *waits);

/* True where blocked time in no known call was spent on pages of mapped files, as far as the counts
 * of one call tell: nearly each switch away was one of a fault that read. */
bool sp_call_rusage_blocks_on_pages(const struct sp_call_rusage_sums *call);

#endif
