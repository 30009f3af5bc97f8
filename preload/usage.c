#include "preload/usage.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>

#include "preload/aside.h"
#include "preload/paths.h"
#include "preload/sys.h"

#define PATH_BYTES 1024u
#define FILE_BYTES 2048u

/* Reads a small file of procfs, sysfs or a cgroup; "" where there is none. */
static void file_read(const char *path, char ret[FILE_BYTES])
{
	long fd = SP_SYS4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0), n = 0;

	if (fd >= 0) {
		n = SP_SYS3(SYS_read, fd, ret, FILE_BYTES - 1);
		SP_SYS1(SYS_close, fd);
	}
	ret[n > 0 ? n : 0] = 0;
}

/* The number that p begins with, after blanks; UINT64_MAX: none. *p is moved behind it. */
static uint64_t number_read(const char **p)
{
	uint64_t number = 0;

	while (**p == ' ')
		++*p;
	if (**p < '0' || **p > '9')
		return UINT64_MAX;
	while (**p >= '0' && **p <= '9')
		number = number * 10 + (uint64_t)(*(*p)++ - '0');
	return number;
}

/* "/sys/fs/cgroup/cpu" and "/a/b" and "cpu.max" into one path. */
static void group_path(char ret[PATH_BYTES], const char *mount, const char *group, const char *file)
{
	struct sp_text path = sp_text_init(ret, PATH_BYTES);

	sp_text_add(&path, mount);
	sp_text_add(&path, group);
	sp_text_add(&path, "/");
	sp_text_add(&path, file);
}

/* Thousandths of a core that one group may use; 0: no limit. v2: "max 100000" or "50000 100000". */
static uint32_t group_quota(const char *mount, const char *group, int v2)
{
	char path[PATH_BYTES], text[FILE_BYTES];
	const char *p = text;
	uint64_t quota, period;

	group_path(path, mount, group, v2 ? "cpu.max" : "cpu.cfs_quota_us");
	file_read(path, text);
	quota = number_read(&p);
	if (!v2) {
		group_path(path, mount, group, "cpu.cfs_period_us");
		file_read(path, text);
		p = text;
	}
	period = number_read(&p);
	if (quota == UINT64_MAX || period == UINT64_MAX || !period || quota > UINT32_MAX)
		return 0;
	return (uint32_t)(quota * 1000 / period);
}

/* The least of a group's and all above it. A container may see its own group as the root only. */
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

/* A line of /proc/self/cgroup, "4:cpu,cpuacct:/path": the path where it is the controller's; else NULL. */
static char *group_of(char *line, int *ret_v2)
{
	char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;

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

static void errand_quota(void *argument)
{
	uint32_t *ret = argument;
	char text[FILE_BYTES];
	char *line = text;

	file_read("/proc/self/cgroup", text);
	while (*line) {
		char *end = line + strcspn(line, "\n");
		char *next = end + (*end == '\n');
		char *group;
		int v2;
		uint32_t quota;

		*end = 0;
		group = group_of(line, &v2);
		quota = group ? groups_quota(v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu", group, v2) : 0;
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

void sp_usage_define_cpus(struct sp_thread *t)
{
	static int asked;
	static uint32_t quota;
	struct sp_cpu_facts facts = {.allowed = cpus_allowed()};

	if (!__atomic_load_n(&asked, __ATOMIC_ACQUIRE)) {
		sp_aside(errand_quota, &facts.quota_millicores);
		__atomic_store_n(&quota, facts.quota_millicores, __ATOMIC_RELAXED);
		__atomic_store_n(&asked, 1, __ATOMIC_RELEASE);
	}
	facts.quota_millicores = __atomic_load_n(&quota, __ATOMIC_RELAXED);
	sp_define(t, SP_DEFINE_CPUS, 0, &facts, sizeof(facts), NULL, 0);
}

struct schedstat {
	char path[64];
	uint64_t ready_ns;
};

/* "run_ns ready_ns slices" */
static void errand_schedstat(void *argument)
{
	struct schedstat *s = argument;
	char text[FILE_BYTES];
	const char *p = text;

	file_read(s->path, text);
	if (number_read(&p) != UINT64_MAX)
		s->ready_ns = number_read(&p);
}

/* proc(5): aside, "self" would be another thread. */
static uint64_t ready_ns(void)
{
	struct schedstat s = {.ready_ns = UINT64_MAX};
	struct sp_text path = sp_text_init(s.path, sizeof(s.path));

	sp_text_add(&path, "/proc/self/task/");
	sp_text_add_number(&path, (uint64_t)SP_SYS1(SYS_gettid, 0), 10);
	sp_text_add(&path, "/schedstat");
	sp_aside(errand_schedstat, &s);
	return s.ready_ns;
}

static uint64_t cpu_ns(const struct rusage *usage)
{
	const struct timeval *u = &usage->ru_utime, *s = &usage->ru_stime;

	return ((uint64_t)u->tv_sec + (uint64_t)s->tv_sec) * 1000000000u +
	       ((uint64_t)u->tv_usec + (uint64_t)s->tv_usec) * 1000u;
}

void sp_usage_define_thread(struct sp_thread *t)
{
	struct rusage own = {0}, all = {0};
	struct sp_usage_facts facts;

	if (SP_SYS2(SYS_getrusage, RUSAGE_THREAD, &own) < 0 ||
	    SP_SYS2(SYS_getrusage, RUSAGE_SELF, &all) < 0)
		return;
	facts = (struct sp_usage_facts){
		.cpu_ns = cpu_ns(&own),
		.ready_ns = ready_ns(),
		.major_faults = (uint64_t)own.ru_majflt,
		.blocks_read = (uint64_t)own.ru_inblock,
		.process_cpu_ns = cpu_ns(&all),
		.process_major_faults = (uint64_t)all.ru_majflt,
	};
	sp_define(t, SP_DEFINE_USAGE, 0, &facts, sizeof(facts), NULL, 0);
}
