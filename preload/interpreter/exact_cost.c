/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/interpreter/exact_cost.h"

#include "preload/sys/freeze.h"
#include "preload/sys/clock.h"

#define CALLBACK_US_MOST 50u /* one takes some 20 ns, and some µs where it touches a new page */

uint64_t sp_exact_work_begin(void)
{
	return sp_process_is_frozen() ? 0 : sp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t sp_exact_work_end(uint64_t begun_ns)
{
	uint64_t now_ns = sp_exact_work_begin();

	return now_ns < begun_ns ? 0
				 : (uint64_t)((double)(now_ns - begun_ns) *
					      (double)sp_recorder_clock.ticks_per_second / 1e9);
}

uint64_t sp_exact_callback_cost(uint64_t ticks, uint64_t ticks_in_us)
{
	uint64_t most = CALLBACK_US_MOST * ticks_in_us;

	return ticks < most ? ticks : most;
}
