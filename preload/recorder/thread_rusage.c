/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/thread_rusage.h"

#include <fcntl.h>
#include <sys/resource.h>

#include "preload/sys/fd_private_task.h"
#include "preload/sys/clock.h"
#include "preload/sys/paths.h"
#include "preload/recorder/emit.h"
#include "preload/sys/procfs.h"
#include "preload/sys/sys.h"

#define THREADS_MAX 1024u /* whose schedstat is read; one file for each thread */

struct linux_dirent64 { /* getdents(2) */
	uint64_t d_ino;
	int64_t d_off;
	uint16_t d_reclen;
	uint8_t d_type;
	char d_name[];
};

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
