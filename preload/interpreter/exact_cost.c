/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/interpreter/exact_cost.h"

#include "preload/recorder/recorder.h"
#include "preload/sys/clock.h"

#define CALLBACK_US_MOST 50u /* one takes some 20 ns, and some µs where it touches a new page */

void sp_exact_work_begin(struct sp_exact_work *ret)
{
	ret->began = sp_clock_ticks();
	sp_call_rusage_read(&ret->usage);
}

uint64_t sp_exact_work_end(const struct sp_exact_work *work)
{
	struct sp_call_rusage usage;

	if (!work->usage.is_known || !sp_call_rusage_read(&usage))
		return sp_clock_ticks() - work->began;
	return (uint64_t)((double)(usage.cpu_ns - work->usage.cpu_ns) *
			  (double)sp_recorder_clock.ticks_per_second / 1e9);
}

uint64_t sp_exact_callback_cost(uint64_t ticks, uint64_t ticks_in_us)
{
	uint64_t most = CALLBACK_US_MOST * ticks_in_us;

	return ticks < most ? ticks : most;
}
