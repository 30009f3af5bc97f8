/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/totals/call_rusage_sums.h"

struct sp_call_rusage_sums sp_call_rusage_sums_of(const uint64_t words[3], uint64_t wall_ns,
						  uint64_t known_ns,
						  const struct sp_call_waits *waits)
{
	uint64_t cpu_ns = words[0] < wall_ns ? words[0] : wall_ns, off_ns = wall_ns - cpu_ns;
	double voluntary = (double)(words[2] >> 32), involuntary = (double)(uint32_t)words[2];
	struct sp_call_rusage_sums usage = {
		.calls = 1,
		.wall_ns = wall_ns,
		.cpu_ns = cpu_ns,
		.major_faults = words[1] >> 32,
		.minor_faults = (uint32_t)words[1],
		.voluntary = words[2] >> 32,
		.observed = waits->has_switches,
	};

	known_ns += waits->page_blocked_ns + (waits->has_switches ? 0 : waits->ready_ns);
	off_ns = off_ns > known_ns ? off_ns - known_ns : 0;
	if (waits->has_switches) {
		usage.preempted_ns = waits->ready_ns < off_ns ? waits->ready_ns : off_ns;
		usage.blocked_ns = off_ns - usage.preempted_ns;
		return usage;
	}
	/* A thread that never gave its core away was not blocked: another thread, or another
	 * machine, had the core. */
	usage.preempted_ns = off_ns;
	if (voluntary > 0)
		usage.preempted_ns =
			(uint64_t)((double)off_ns * involuntary / (voluntary + involuntary));
	usage.blocked_ns = off_ns - usage.preempted_ns;
	return usage;
}

bool sp_call_rusage_blocks_on_pages(const struct sp_call_rusage_sums *call)
{
	return call->major_faults && call->major_faults * 10 >= call->voluntary * 9;
}
