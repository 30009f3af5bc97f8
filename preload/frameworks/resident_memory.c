/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/frameworks/resident_memory.h"

#include <errno.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/vfs.h>

#include "preload/recorder/cores.h"
#include "preload/sys/cgroups.h"
#include "preload/sys/fd_private_task.h"
#include "preload/sys/freeze.h"
#include "preload/recorder/own_work.h"
#include "preload/recorder/process.h"
#include "preload/sys/procfs.h"
#include "preload/recorder/recorder.h"
#include "preload/sys/sys.h"

#define FIRST_BATCH 2u
#define COST_SHARE 300u /* of the time between two looks, one part at most is the look */
#define PERIOD_NS 250000000u

static uint64_t next_ticks; /* no sample before */
static uint64_t image;	    /* whose next_ticks it is: a forked child begins again */

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
	sp_own_work_end(t, now);
	if (pages != UINT64_MAX)
		sp_emit(t, SP_EV_memory, 0, now, 0, (int64_t)(pages * getauxval(AT_PAGESZ)));
}

static void take_limit(const struct sp_cgroup *group, void *argument)
{
	struct sp_memory_metadata *ret = argument;
	char text[SP_PROCFS_BYTES];
	const char *p = text;
	uint64_t limit, used, left;

	sp_cgroup_read(group, group->is_v2 ? "memory.max" : "memory.limit_in_bytes", text);
	limit = sp_procfs_number(&p);
	if (limit > INT64_MAX / 2) /* none */
		return;
	sp_cgroup_read(group, group->is_v2 ? "memory.current" : "memory.usage_in_bytes", text);
	p = text;
	used = sp_procfs_number(&p);
	if (used == UINT64_MAX)
		return;
	sp_cgroup_read(group, "memory.stat", text);
	used -= sp_cgroup_files_cached(text, group->is_v2, used);
	left = limit > used ? limit - used : 0;
	if (left >= ret->left_bytes)
		return;
	ret->left_bytes = left;
	ret->limit_bytes = limit;
}

/* The value of a line "Rss:     123 kB" in bytes. */
static uint64_t kib_of(const char *text, const char *key)
{
	uint64_t kib = sp_cgroup_value(text, key);

	return kib == UINT64_MAX ? kib : kib * 1024;
}

static void task_memory(void *argument)
{
	struct sp_memory_metadata *ret = argument;
	char text[SP_PROCFS_BYTES];
	struct statfs shm;

	sp_procfs_read("/proc/self/smaps_rollup", text);
	ret->resident_bytes = kib_of(text, "Rss:");
	ret->private_dirty_bytes = kib_of(text, "Private_Dirty:");
	ret->proportional_bytes = kib_of(text, "Pss:");
	sp_procfs_read("/proc/meminfo", text);
	ret->limit_bytes = kib_of(text, "MemTotal:");
	ret->left_bytes = kib_of(text, "MemAvailable:");
	sp_cgroups_visit("memory", take_limit, ret);
	if (SP_SYS2(SYS_statfs, "/dev/shm", &shm) < 0)
		return;
	ret->shm_bytes = (uint64_t)shm.f_blocks * (uint64_t)shm.f_bsize;
	ret->shm_free_bytes = (uint64_t)shm.f_bavail * (uint64_t)shm.f_bsize;
}

static void memory_define(struct sp_thread *t, uint64_t now, uint64_t batches)
{
	struct sp_memory_metadata metadata = {.at = now,
					      .batches = batches,
					      .shm_bytes = UINT64_MAX,
					      .shm_free_bytes = UINT64_MAX};

	sp_fd_private_task(task_memory, &metadata);
	sp_define(t, SP_DEFINE_MEMORY, 0, &metadata, sizeof(metadata), NULL, 0);
}

static int memory_is_due(const struct sp_process *p, uint64_t batches, uint64_t now)
{
	if (__atomic_load_n(&p->first_rusage_ticks, __ATOMIC_RELAXED) || batches < FIRST_BATCH)
		return 0;
	return now >= __atomic_load_n(&p->next_memory_ticks, __ATOMIC_RELAXED);
}

/* By an eighth of the time that is covered, so that the last look is never far from the end. */
static void next_set(struct sp_process *p, uint64_t now, uint64_t cost)
{
	uint64_t covered = (now - p->first_batch_ticks) / 8;
	uint64_t least = sp_recorder_clock.ticks_per_second;

	least = covered > least ? covered : least;
	least = cost * COST_SHARE > least ? cost * COST_SHARE : least;
	__atomic_store_n(&p->next_memory_ticks, now + least, __ATOMIC_RELAXED);
}

static void look(struct sp_thread *t, struct sp_process *p, uint64_t batches)
{
	uint64_t now = sp_clock_ticks();
	unsigned long before;

	if (batches == 1)
		p->first_batch_ticks = now;
	else if (!memory_is_due(p, batches, now))
		return;
	before = sp_signals_block();
	if (batches == 1) {
		sp_cores_define_again(t);
	} else {
		memory_define(t, now, batches);
		next_set(p, now, sp_clock_ticks() - now);
	}
	sp_signals_restore(before);
	sp_own_work_end(t, now);
}

void sp_batch_facts(void)
{
	int kept = errno;
	struct sp_thread *t;

	if (sp_process && !sp_process_is_frozen() && (t = sp_enter()))
		look(t, sp_process, __atomic_add_fetch(&sp_process->batches, 1, __ATOMIC_RELAXED));
	errno = kept;
}
