/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/own_work.h"

#include "preload/blocks/publish.h"
#include "preload/recorder/process.h"
#include "preload/sys/clock.h"

void sp_own_work_end(struct sp_thread *t, uint64_t begin)
{
	struct sp_recorder *r = sp_recorder_of(t);
	uint64_t end = sp_clock_ticks();

	r->own_works[r->own_work_count++ % SP_OWN_WORKS] = (struct sp_own_work){begin, end};
	sp_process_spend(sp_clock_span_ns(end - begin));
}

bool sp_own_work_has(struct sp_thread *t, uint64_t at)
{
	struct sp_recorder *r = sp_recorder_of(t);

	for (uint32_t i = 0; i < SP_OWN_WORKS; i++)
		if (at >= r->own_works[i].begin && at < r->own_works[i].end)
			return true;
	return false;
}
