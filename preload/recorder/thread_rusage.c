/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/thread_rusage.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>

#include "preload/sys/fd_private_task.h"
#include "preload/sys/clock.h"
#include "preload/sys/paths.h"
#include "preload/recorder/emit.h"
#include "preload/recorder/process.h"
#include "preload/sys/procfs.h"
#include "preload/sys/sys.h"

#define PATH_BYTES 1024u
#define THREADS_MAX 1024u /* whose schedstat is read; one file for each thread */

struct linux_dirent64 { /* getdents(2) */
	uint64_t d_ino;
	int64_t d_off;
	uint16_t d_reclen;
	uint8_t d_type;
	char d_name[];
};

/* "/sys/fs/cgroup/cpu" and "/a/b" and "cpu.max" into one path. */
static void group_path(char ret[PATH_BYTES], const char *mount, const char *group, const char *file)
{
	struct sp_text path = sp_text_init(ret, PATH_BYTES);

	sp_text_add(&path, mount);
	sp_text_add(&path, group);
	sp_text_add(&path, "/");
	sp_text_add(&path, file);
}

/* The limit of one group in thousandths of a core; 0: no limit.
 * v2: "max 100000" or "50000 100000". */
static uint32_t group_quota(const char *mount, const char *group, int v2)
{
	char path[PATH_BYTES], text[SP_PROCFS_BYTES];
	const char *p = text;
	uint64_t quota, period;

	group_path(path, mount, group, v2 ? "cpu.max" : "cpu.cfs_quota_us");
	sp_procfs_read(path, text);
	quota = sp_procfs_number(&p);
	if (!v2) {
		group_path(path, mount, group, "cpu.cfs_period_us");
		sp_procfs_read(path, text);
		p = text;
	}
	period = sp_procfs_number(&p);
	if (quota == UINT64_MAX || period == UINT64_MAX || !period || quota > UINT32_MAX)
		return 0;
	return (uint32_t)(quota * 1000 / period);
}

/* The smallest limit of a group and all groups above it. A container may see its own group as the
 * root only. */
static uint32_t groups_quota(const char *mount, char *group, int v2)
{
	uint32_t least = 0;

	for (;;) {
		char *slash = strrchr(group, '/');
		uint32_t quota = group_quota(mount, group, v2);

		if (quota && (!least || quota < least))
			least = quota;
		if (!slash)
			return least;
		*slash = 0;
	}
}

/* Returns the path in a line of /proc/self/cgroup, "4:cpu,cpuacct:/path", if the line is the CPU
 * controller's; else NULL. */
static char *group_of(char *line, int *ret_v2)
{
	char *controllers = strchr(line, ':'),
	     *group = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!group)
		return NULL;
	*group++ = 0;
	controllers++;
	*ret_v2 = !*controllers;
	for (char *p = controllers; *p; p += strcspn(p, ","), p += *p == ',')
		if (strcspn(p, ",") == 3 && memcmp(p, "cpu", 3) == 0)
			return group;
	return *ret_v2 ? group : NULL;
}

static void task_quota(void *argument)
{
	uint32_t *ret = argument;
	char text[SP_PROCFS_BYTES];
	char *line = text;

	sp_procfs_read("/proc/self/cgroup", text);
	while (*line) {
		char *end = line + strcspn(line, "\n");
		char *next = end + (*end == '\n');
		char *group;
		int v2;
		uint32_t quota;

		*end = 0;
		group = group_of(line, &v2);
		quota = group ? groups_quota(v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu", group,
					     v2)
			      : 0;
		if (quota && (!*ret || quota < *ret))
			*ret = quota;
		line = next;
	}
}

static uint32_t cpus_allowed(void)
{
	uint64_t mask[128];
	long bytes = SP_SYS3(SYS_sched_getaffinity, 0, sizeof(mask), mask);
	uint32_t n = 0;

	for (long i = 0; i < bytes / (long)sizeof(mask[0]); i++)
		n += (uint32_t)__builtin_popcountll(mask[i]);
	return n;
}

void sp_rusage_define_cpus(struct sp_thread *t)
{
	static int is_known;
	static uint32_t quota;
	struct sp_cpu_metadata metadata = {.allowed = 0};

	if (__atomic_exchange_n(&sp_process->cpus_are_defined, 1, __ATOMIC_RELAXED))
		return;
	metadata.allowed = cpus_allowed();
	if (!__atomic_load_n(&is_known, __ATOMIC_ACQUIRE)) {
		sp_fd_private_task(task_quota, &metadata.quota_millicores);
		__atomic_store_n(&quota, metadata.quota_millicores, __ATOMIC_RELAXED);
		__atomic_store_n(&is_known, 1, __ATOMIC_RELEASE);
	}
	metadata.quota_millicores = __atomic_load_n(&quota, __ATOMIC_RELAXED);
	sp_define(t, SP_DEFINE_CPUS, 0, &metadata, sizeof(metadata), NULL, 0);
}

struct schedstat {
	uint32_t tid;
	int all;	   /* also sum over all threads */
	uint64_t task_tid; /* of the private task that reads, which is no thread of the host */
	uint64_t ready_ns;
	uint64_t all_ready_ns, threads;
};

/* Reads "run_ns ready_ns slices" of a thread; UINT64_MAX: not known. By tid, because "self" is
 * another task inside a private task (proc(5)). */
static uint64_t thread_ready_ns(const char *tid)
{
	char name[64], text[SP_PROCFS_BYTES];
	struct sp_text path = sp_text_init(name, sizeof(name));
	const char *p = text;

	sp_text_add(&path, "/proc/self/task/");
	sp_text_add(&path, tid);
	sp_text_add(&path, "/schedstat");
	sp_procfs_read(name, text);
	return sp_procfs_number(&p) == UINT64_MAX ? UINT64_MAX : sp_procfs_number(&p);
}

static void add_threads(struct schedstat *s, const char *entries, long bytes)
{
	for (long at = 0; at < bytes;) {
		const struct linux_dirent64 *entry = (const struct linux_dirent64 *)(entries + at);
		const char *name = entry->d_name;
		uint64_t tid = sp_procfs_number(&name), ns = UINT64_MAX;

		at += entry->d_reclen;
		if (tid != UINT64_MAX && tid != s->task_tid && s->threads < THREADS_MAX)
			ns = thread_ready_ns(entry->d_name);
		if (ns == UINT64_MAX)
			continue;
		s->all_ready_ns += ns;
		s->threads++;
	}
}

static void read_threads(struct schedstat *s)
{
	char entries[SP_PROCFS_BYTES] __attribute__((aligned(8)));
	long fd = SP_SYS4(SYS_openat, AT_FDCWD, "/proc/self/task",
			  O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	long n;

	if (fd < 0)
		return;
	while ((n = SP_SYS3(SYS_getdents64, fd, entries, sizeof(entries))) > 0)
		add_threads(s, entries, n);
	SP_SYS1(SYS_close, fd);
}

static void task_schedstat(void *argument)
{
	struct schedstat *s = argument;
	char tid[16];
	struct sp_text text = sp_text_init(tid, sizeof(tid));

	sp_text_add_number(&text, s->tid, 10);
	s->ready_ns = thread_ready_ns(tid);
	s->task_tid = (uint64_t)SP_SYS1(SYS_gettid, 0);
	if (s->task_tid == s->tid)
		s->task_tid = 0;
	if (s->all)
		read_threads(s);
}

static uint64_t cpu_ns(const struct rusage *usage)
{
	const struct timeval *u = &usage->ru_utime, *s = &usage->ru_stime;

	return ((uint64_t)u->tv_sec + (uint64_t)s->tv_sec) * 1000000000u +
	       ((uint64_t)u->tv_usec + (uint64_t)s->tv_usec) * 1000u;
}

int sp_rusage_read(struct sp_rusage_metadata *ret, int all)
{
	struct rusage own = {0}, process = {0};
	struct schedstat s = {.tid = (uint32_t)SP_SYS1(SYS_gettid, 0), .all = all};

	/* In this order: the process's brings the thread's up to date, which is else that of the
	 * kernel's last tick. */
	if (SP_SYS2(SYS_getrusage, RUSAGE_SELF, &process) < 0 ||
	    SP_SYS2(SYS_getrusage, RUSAGE_THREAD, &own) < 0)
		return -1;
	sp_fd_private_task(task_schedstat, &s);
	*ret = (struct sp_rusage_metadata){
		.cpu_ns = cpu_ns(&own),
		.ready_ns = s.ready_ns,
		.major_faults = (uint64_t)own.ru_majflt,
		.blocks_read = (uint64_t)own.ru_inblock,
		.process_cpu_ns = cpu_ns(&process),
		.process_major_faults = (uint64_t)process.ru_majflt,
		.process_ready_ns = s.threads ? s.all_ready_ns : UINT64_MAX,
		.process_threads = s.threads ? s.threads : UINT64_MAX,
	};
	return 0;
}

void sp_rusage_define_thread(struct sp_thread *t)
{
	struct sp_rusage_metadata metadata;

	if (sp_rusage_read(&metadata, SP_SYS1(SYS_gettid, 0) == SP_SYS1(SYS_getpid, 0)) == 0)
		sp_define(t, SP_DEFINE_RUSAGE, 0, &metadata, sizeof(metadata), NULL, 0);
}
