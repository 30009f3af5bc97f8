/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/cores.h"

#include <fcntl.h>
#include <string.h>

#include "preload/sys/cgroups.h"
#include "preload/recorder/emit.h"
#include "preload/recorder/process.h"
#include "preload/sys/fd_private_task.h"
#include "preload/sys/sys.h"

#define MS_A_TICK 10u /* of /proc/stat: USER_HZ is 100 */
#define WORDS SP_CPU_MASK_WORDS

static void mask_add(uint64_t mask[WORDS], uint64_t first, uint64_t last)
{
	for (uint64_t i = first; i <= last && i < WORDS * 64u; i++)
		mask[i / 64] |= UINT64_C(1) << i % 64;
}

static int mask_has(const uint64_t mask[WORDS], uint64_t i)
{
	return i < WORDS * 64u && (mask[i / 64] >> i % 64 & 1);
}

static uint32_t mask_count(const uint64_t *mask, size_t words)
{
	uint32_t n = 0;

	for (size_t i = 0; i < words; i++)
		n += (uint32_t)__builtin_popcountll(mask[i]);
	return n;
}

/* "0-3,8" */
static void mask_parse(const char *p, uint64_t ret[WORDS])
{
	uint64_t first, last;

	memset(ret, 0, WORDS * sizeof(*ret));
	while ((first = last = sp_procfs_number(&p)) != UINT64_MAX) {
		if (*p == '-') {
			p++;
			last = sp_procfs_number(&p);
		}
		mask_add(ret, first, last);
		if (*p++ != ',')
			return;
	}
}

/* The limit of one group in thousandths of a core; 0: no limit.
 * v2: "max 100000" or "50000 100000". */
static uint32_t group_quota(const struct sp_cgroup *group)
{
	char text[SP_PROCFS_BYTES];
	const char *p = text;
	uint64_t quota, period;

	sp_cgroup_read(group, group->is_v2 ? "cpu.max" : "cpu.cfs_quota_us", text);
	quota = sp_procfs_number(&p);
	if (!group->is_v2) {
		sp_cgroup_read(group, "cpu.cfs_period_us", text);
		p = text;
	}
	period = sp_procfs_number(&p);
	if (quota == UINT64_MAX || period == UINT64_MAX || !period || quota > UINT32_MAX)
		return 0;
	return (uint32_t)(quota * 1000 / period);
}

static void take_quota(const struct sp_cgroup *group, void *argument)
{
	struct sp_cpu_metadata *ret = argument;
	uint32_t quota = group_quota(group);

	if (quota && (!ret->quota_millicores || quota < ret->quota_millicores))
		ret->quota_millicores = quota;
}

/* The innermost group that says so. */
static void take_set(const struct sp_cgroup *group, void *argument)
{
	struct sp_cpu_metadata *ret = argument;
	char text[SP_PROCFS_BYTES];

	if (ret->usable_count)
		return;
	sp_cgroup_read(group, group->is_v2 ? "cpuset.cpus.effective" : "cpuset.effective_cpus",
		       text);
	mask_parse(text, ret->usable);
	ret->usable_count = mask_count(ret->usable, WORDS);
}

static void task_groups(void *argument)
{
	struct sp_cpu_metadata *ret = argument;
	char text[SP_PROCFS_BYTES];

	sp_cgroups_visit("cpu", take_quota, ret);
	sp_cgroups_visit("cpuset", take_set, ret);
	if (ret->usable_count)
		return;
	sp_procfs_read("/sys/devices/system/cpu/online", text);
	mask_parse(text, ret->usable);
	ret->usable_count = mask_count(ret->usable, WORDS);
}

/* Returns the processors, also those beyond the mask. */
static uint32_t affinity_read(uint64_t ret[WORDS])
{
	uint64_t mask[128];
	long bytes = SP_SYS3(SYS_sched_getaffinity, 0, sizeof(mask), mask);
	size_t words = bytes > 0 ? (size_t)bytes / sizeof(*mask) : 0;

	memset(ret, 0, WORDS * sizeof(*ret));
	for (size_t i = 0; i < WORDS && i < words; i++)
		ret[i] = mask[i];
	return mask_count(mask, words);
}

static uint64_t initial[WORDS]; /* stays in forked images */

void sp_cores_init(void)
{
	affinity_read(initial);
}

enum { UNKNOWN, TAKING, TAKEN };

static struct {
	int state; /* set to TAKEN after the metadata */
	struct sp_cpu_metadata metadata;
} first_groups; /* as the first image found them */

static void groups_keep(const struct sp_cpu_metadata *metadata)
{
	int state = UNKNOWN;

	if (!__atomic_compare_exchange_n(&first_groups.state, &state, TAKING, 0, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		return;
	first_groups.metadata = *metadata;
	__atomic_store_n(&first_groups.state, TAKEN, __ATOMIC_RELEASE);
}

static struct sp_cpu_metadata groups_get(void)
{
	struct sp_cpu_metadata metadata = {.allowed = 0};

	if (__atomic_load_n(&first_groups.state, __ATOMIC_ACQUIRE) == TAKEN)
		return first_groups.metadata;
	sp_fd_private_task(task_groups, &metadata);
	groups_keep(&metadata);
	return metadata;
}

static void cores_define(struct sp_thread *t, struct sp_cpu_metadata metadata)
{
	__atomic_store_n(&sp_process->cpus_are_defined, 1, __ATOMIC_RELAXED);
	metadata.allowed = affinity_read(metadata.mask);
	memcpy(metadata.initial, initial, sizeof(initial));
	metadata.initial_count = mask_count(initial, WORDS);
	sp_define(t, SP_DEFINE_CPUS, 0, &metadata, sizeof(metadata), NULL, 0);
}

void sp_cores_define_again(struct sp_thread *t)
{
	cores_define(t, groups_get());
}

void sp_cores_define_afresh(struct sp_thread *t)
{
	struct sp_cpu_metadata metadata = {.allowed = 0};

	sp_fd_private_task(task_groups, &metadata);
	cores_define(t, metadata);
}

void sp_cores_define(struct sp_thread *t)
{
	if (!__atomic_exchange_n(&sp_process->cpus_are_defined, 1, __ATOMIC_RELAXED))
		sp_cores_define_again(t);
}

struct use {
	struct sp_cpu_metadata groups;
	struct sp_cores_metadata is;
};

/* "cpu0 user nice system idle iowait irq softirq steal …" */
static void take_core(struct use *use, const char *line)
{
	const char *p = line + strlen("cpu");
	uint64_t number = sp_procfs_number(&p);

	if (number == UINT64_MAX ||
	    (use->groups.usable_count && !mask_has(use->groups.usable, number)))
		return;
	for (int i = 0; i < 8; i++) {
		uint64_t ticks = sp_procfs_number(&p);

		if (ticks == UINT64_MAX)
			return;
		*(i == 3 || i == 4 ? &use->is.idle_ms : &use->is.busy_ms) += ticks * MS_A_TICK;
	}
}

/* Takes the whole lines of text[0, n). Returns the bytes after them, or -1: no more cores. */
static long take_lines(struct use *use, char *text, long n)
{
	char *line = text, *end;

	text[n] = 0;
	for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		*end = 0;
		if (strncmp(line, "cpu", 3) != 0)
			return -1;
		take_core(use, line);
	}
	n -= line - text;
	memmove(text, line, (size_t)n);
	return n;
}

static void read_machine(struct use *use)
{
	char text[SP_PROCFS_BYTES];
	long fd = SP_SYS4(SYS_openat, AT_FDCWD, "/proc/stat", O_RDONLY | O_CLOEXEC, 0), n = 0, more;

	if (fd < 0)
		return;
	while (n >= 0 && n < (long)sizeof(text) - 1 &&
	       (more = SP_SYS3(SYS_read, fd, text + n, sizeof(text) - 1 - (size_t)n)) > 0)
		n = take_lines(use, text, n + more);
	SP_SYS1(SYS_close, fd);
}

static void take_throttling(const struct sp_cgroup *group, void *argument)
{
	struct sp_cores_metadata *ret = argument;
	char text[SP_PROCFS_BYTES];
	uint64_t periods, throttled, us;

	sp_cgroup_read(group, "cpu.stat", text);
	periods = sp_cgroup_value(text, "nr_periods ");
	throttled = sp_cgroup_value(text, "nr_throttled ");
	us = sp_cgroup_value(text, group->is_v2 ? "throttled_usec " : "throttled_time ");
	if (throttled == UINT64_MAX || periods == UINT64_MAX ||
	    (ret->periods != UINT64_MAX && ret->throttled >= throttled))
		return;
	ret->periods = periods;
	ret->throttled = throttled;
	ret->throttled_us = group->is_v2 || us == UINT64_MAX ? us : us / 1000;
}

/* "some avg10=… total=123" */
static uint64_t pressure_of(const char *text)
{
	return strncmp(text, "some", 4) == 0 ? sp_cgroup_value(text, " total=") : UINT64_MAX;
}

static void take_pressure(const struct sp_cgroup *group, void *argument)
{
	struct sp_cores_metadata *ret = argument;
	char text[SP_PROCFS_BYTES];

	if (ret->pressure_us != UINT64_MAX || !group->is_v2)
		return;
	sp_cgroup_read(group, "cpu.pressure", text);
	ret->pressure_us = pressure_of(text);
}

static void task_use(void *argument)
{
	struct use *use = argument;
	struct sp_cores_metadata *ret = &use->is;
	char text[SP_PROCFS_BYTES];

	read_machine(use);
	sp_cgroups_visit("cpu", take_throttling, ret);
	sp_cgroups_visit("cpu", take_pressure, ret);
	if (ret->pressure_us != UINT64_MAX)
		return;
	sp_procfs_read("/proc/pressure/cpu", text);
	ret->pressure_us = pressure_of(text);
	ret->is_pressure_of_machine = 1;
}

void sp_cores_define_use(struct sp_thread *t, uint64_t at)
{
	struct use use = {.groups = groups_get(),
			  .is = {.at = at,
				 .periods = UINT64_MAX,
				 .throttled = UINT64_MAX,
				 .throttled_us = UINT64_MAX,
				 .pressure_us = UINT64_MAX}};

	sp_fd_private_task(task_use, &use);
	sp_define(t, SP_DEFINE_CORES, 0, &use.is, sizeof(use.is), NULL, 0);
}
