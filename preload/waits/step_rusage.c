/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/waits/step_rusage.h"

#include <errno.h>

#include "preload/sys/freeze.h"
#include "preload/recorder/cores.h"
#include "preload/recorder/own_work.h"
#include "preload/recorder/process.h"
#include "preload/recorder/recorder.h"
#include "preload/recorder/thread_rusage.h"
#include "preload/sys/fd_private_task.h"
#include "preload/waits/thread_waits.h"

#define RUSAGE_FRACTION 8u /* of a second: the shortest time between two definitions */

/* If two threads step at once, both or neither may be due: no harm. */
static int step_is_due(uint64_t now, int *ret_is_first)
{
	struct sp_process *p = sp_process;
	uint64_t first = __atomic_load_n(&p->first_rusage_ticks, __ATOMIC_RELAXED);
	uint64_t last = __atomic_load_n(&p->last_rusage_ticks, __ATOMIC_RELAXED);
	uint64_t covered = last - first,
		 least = sp_recorder_clock.ticks_per_second / RUSAGE_FRACTION;

	*ret_is_first = !first;
	if (first && now - last < (covered / 8 > least ? covered / 8 : least))
		return 0;
	if (!first)
		__atomic_store_n(&p->first_rusage_ticks, now, __ATOMIC_RELAXED);
	__atomic_store_n(&p->last_rusage_ticks, now, __ATOMIC_RELAXED);
	return 1;
}

static void step_define(struct sp_thread *t, uint64_t now, int is_first)
{
	struct sp_step_rusage_metadata metadata = {.at = now};
	unsigned long before = sp_signals_block();
	int error = sp_rusage_read(&metadata.usage, 1);

	if (is_first)
		sp_cores_define_afresh(t);
	sp_cores_define_use(t, now);
	sp_signals_restore(before);
	if (!error)
		sp_define(t, SP_DEFINE_STEP_RUSAGE, 0, &metadata, sizeof(metadata), NULL, 0);
	sp_own_work_end(t, now);
}

void sp_rusage_define_step(void)
{
	uint64_t now = sp_clock_ticks();
	int kept = errno, is_first, is_due;
	struct sp_thread *t;

	if (!sp_process || sp_process_is_frozen() || !(t = sp_enter()))
		return;
	is_due = step_is_due(now, &is_first);
	if (is_due || sp_waits_are_due(t, now))
		sp_waits_step(t, now);
	if (is_due)
		step_define(t, now, is_first);
	errno = kept;
}
