/*
 * What the kernel counted of threads in wrapped calls that come once a batch (docs/FORMAT.md, EXTRA
 * words of python_call), added up.
 */
#ifndef STAGEPROF_ANALYZER_CALL_USAGE_H
#define STAGEPROF_ANALYZER_CALL_USAGE_H

#include <stdint.h>

struct sp_call_usage {
	uint64_t calls; /* 0: nothing was counted, and the rest says nothing */
	uint64_t wall_ns, cpu_ns;
	/*
	 * Of what is neither on a core nor in a call that is known to read or wait, by the kind of
	 * context switches in the same call: preempted_ns waited for a core, blocked_ns for something
	 * that has no hook: a page of a mapped file, a sleep.
	 */
	uint64_t preempted_ns, blocked_ns;
	uint64_t major_faults, minor_faults;
};

/* The three EXTRA words of a call. known_ns: inside of it, in calls that read or wait. */
struct sp_call_usage sp_call_usage_of(const uint64_t words[3], uint64_t wall_ns, uint64_t known_ns);

void sp_call_usage_merge(struct sp_call_usage *into, const struct sp_call_usage *from);

#endif
