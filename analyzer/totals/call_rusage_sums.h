/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's counters of threads in wrapped calls that come once a batch (docs/FORMAT.md,
 * EXTRA words of python_call), added up.
 */
#ifndef STAGEPROF_ANALYZER_CALL_RUSAGE_SUMS_H
#define STAGEPROF_ANALYZER_CALL_RUSAGE_SUMS_H

#include <stdint.h>

struct sp_call_rusage_sums {
	uint64_t calls; /* 0: nothing was counted, and the other members are not known */
	uint64_t wall_ns, cpu_ns;
	/*
	 * The time that was neither on a core nor in a call that is known to read or wait, by the
	 * kind of the context switches in the same call. In preempted_ns the thread waited for a
	 * core; in blocked_ns it waited without a hook: a page of a mapped file, a sleep.
	 */
	uint64_t preempted_ns, blocked_ns;
	uint64_t major_faults, minor_faults;
};

/* words: the three EXTRA words of a call. known_ns: the time in it in calls that read or wait. */
struct sp_call_rusage_sums sp_call_rusage_sums_of(const uint64_t words[3], uint64_t wall_ns,
						  uint64_t known_ns);

void sp_call_rusage_sums_merge(struct sp_call_rusage_sums *into,
			       const struct sp_call_rusage_sums *from);

#endif
