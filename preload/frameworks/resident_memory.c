/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/frameworks/resident_memory.h"

#include <stdint.h>
#include <sys/auxv.h>

#include "preload/sys/fd_private_task.h"
#include "preload/sys/freeze.h"
#include "preload/recorder/process.h"
#include "preload/sys/procfs.h"
#include "preload/recorder/recorder.h"
#include "preload/sys/sys.h"

#define PERIOD_NS 250000000u

static uint64_t next_ticks; /* no sample before */
static uint64_t image;	    /* the pid of next_ticks: a forked child begins again */

/* statm: "size resident shared …" in pages. */
static void task_resident(void *argument)
{
	char text[SP_PROCFS_BYTES];
	const char *p = text;

	sp_procfs_read("/proc/self/statm", text);
	if (sp_procfs_number(&p) != UINT64_MAX)
		*(uint64_t *)argument = sp_procfs_number(&p);
}

/* One thread at a time takes the sample. */
static int is_due(uint64_t now)
{
	uint64_t mine = sp_process->image_start_ns,
		 next = __atomic_load_n(&next_ticks, __ATOMIC_RELAXED);
	uint64_t period = (uint64_t)((__uint128_t)PERIOD_NS * sp_recorder_clock.ticks_per_second /
				     1000000000u);

	if (now < next && __atomic_load_n(&image, __ATOMIC_RELAXED) == mine)
		return 0;
	__atomic_store_n(&image, mine, __ATOMIC_RELAXED);
	return __atomic_compare_exchange_n(&next_ticks, &next, now + period, 0, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}

void sp_resident_sample(void)
{
	struct sp_thread *t = sp_enter();
	uint64_t now = sp_clock_ticks(), pages = UINT64_MAX;
	unsigned long before;

	if (!t || sp_process_is_frozen() || !is_due(now))
		return;
	before = sp_signals_block();
	sp_fd_private_task(task_resident, &pages);
	sp_signals_restore(before);
	if (pages != UINT64_MAX)
		sp_emit(t, SP_EV_memory, 0, now, 0, (int64_t)(pages * getauxval(AT_PAGESZ)));
}
