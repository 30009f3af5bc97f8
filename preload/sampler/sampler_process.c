/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/sampler/sampler_process.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "preload/settings/config.h"
#include "preload/settings/run_sampler.h"
#include "preload/sys/hidden.h"
#include "preload/sys/libdl.h"
#include "preload/sys/log_once.h"
#include "preload/sys/memory.h"
#include "preload/sys/paths.h"
#include "preload/sys/sys.h"

#ifndef SYS_close_range
#define SYS_close_range 436 /* Linux 5.9 */
#endif
#ifndef PR_SET_PTRACER
#define PR_SET_PTRACER 0x59616d61
#endif

#define PROGRAM "stageprof"
#define PATH_BYTES 4096u
#define DESCRIPTORS 65536u /* that are closed one by one where the kernel is older */
#define WAIT_NS 100000
#define WAITS 20000

extern const char __ehdr_start[] SP_HIDDEN;

/* Shared with the process between the host and the sampler. */
struct begun {
	uint32_t is_answered;
	uint64_t pid; /* of the sampler */
};

struct plan {
	char path[PATH_BYTES], root[24];
	char *arguments[5];
	char **environment;
	struct begun *begun;
	int is_adopting; /* the host would be given the sampler as its child */
};

static uint64_t sampler_pid;

/* As the launcher finds the library (scripts/launcher/install.c). */
static int program_find(char *ret)
{
	static const char *const places[] = {"", SP_LIB_TO_BIN "/", "../bin/"};
	const char *own, *slash;
	Dl_info info;

	if (!sp_dladdr(__ehdr_start, &info) || !info.dli_fname)
		return -ENOENT;
	own = info.dli_fname;
	slash = strrchr(own, '/');
	for (size_t i = 0; slash && i < sizeof(places) / sizeof(places[0]); i++) {
		struct sp_text text = sp_text_init(ret, PATH_BYTES);

		for (const char *at = own; at <= slash; at++)
			sp_text_add_char(&text, *at);
		sp_text_add(&text, places[i]);
		sp_text_add(&text, PROGRAM);
		if (!text.full && SP_SYS4(SYS_faccessat, AT_FDCWD, ret, X_OK, 0) == 0)
			return 0;
	}
	return -ENOENT;
}

/* Without LD_PRELOAD, and without the libraries that the host is given in place of others. */
static char **environment_make(void)
{
	size_t count = 0, kept = 0;
	char **ret;

	while (environ[count])
		count++;
	ret = sp_pages_make((count + 1) * sizeof(*ret));
	for (size_t i = 0; ret && i < count; i++)
		if (strncmp(environ[i], "LD_", 3) != 0)
			ret[kept++] = environ[i];
	return ret;
}

/* A process without a signal at its end: wait(2) of the host does not find it. */
static long process_fork(unsigned long end_signal)
{
	return SP_SYS6(SYS_clone, end_signal, 0, 0, 0, 0, 0);
}

/* A reader of the host's pipe must see the pipe's end. */
static void descriptors_leave(void)
{
	if (SP_SYS3(SYS_close_range, 0, ~0u, 0) < 0)
		for (unsigned fd = 0; fd < DESCRIPTORS; fd++)
			SP_SYS1(SYS_close, fd);
	if (SP_SYS4(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR, 0) == 0) {
		SP_SYS1(SYS_dup, 0);
		SP_SYS1(SYS_dup, 0);
	}
}

static void sampler_exec(const struct plan *plan)
{
	SP_SYS1(SYS_setsid, 0);
	SP_SYS3(SYS_execve, plan->path, plan->arguments, plan->environment);
	SP_SYS1(SYS_exit_group, 127);
}

/* Where orphans become children of the host, its wait(2) would find the sampler: this process stays
 * between the two. */
static void between(const struct plan *plan)
{
	long pid;

	descriptors_leave();
	pid = process_fork(SIGCHLD);
	if (pid == 0)
		sampler_exec(plan);
	plan->begun->pid = pid > 0 ? (uint64_t)pid : 0;
	__atomic_store_n(&plan->begun->is_answered, 1, __ATOMIC_RELEASE);
	if (pid > 0 && plan->is_adopting)
		SP_SYS4(SYS_wait4, pid, NULL, 0, NULL);
	SP_SYS1(SYS_exit_group, 0);
}

static void answer_wait(const struct begun *begun)
{
	const struct timespec pause = {0, WAIT_NS};

	for (int i = 0; i < WAITS && !__atomic_load_n(&begun->is_answered, __ATOMIC_ACQUIRE); i++)
		SP_SYS2(SYS_nanosleep, &pause, 0);
}

static int adopts_orphans(void)
{
	int is_reaper = 0;

	SP_SYS2(SYS_prctl, PR_GET_CHILD_SUBREAPER, &is_reaper);
	return is_reaper || SP_SYS1(SYS_getpid, 0) == 1;
}

static long start(struct plan *plan)
{
	struct sp_text root = sp_text_init(plan->root, sizeof(plan->root));
	long pid;

	sp_text_add_number(&root, (uint64_t)SP_SYS1(SYS_getpid, 0), 10);
	plan->arguments[0] = (char *)PROGRAM;
	plan->arguments[1] = (char *)"sampler";
	plan->arguments[2] = plan->root;
	plan->arguments[3] = (char *)sp_config.sample;
	plan->environment = environment_make();
	plan->is_adopting = adopts_orphans();
	if (!plan->environment)
		return -ENOMEM;
	pid = process_fork(0);
	if (pid == 0)
		between(plan);
	if (pid < 0)
		return pid;
	if (plan->is_adopting)
		answer_wait(plan->begun);
	else
		SP_SYS4(SYS_wait4, pid, NULL, 0x40000000 /* __WALL */, NULL);
	return plan->begun->pid ? (long)plan->begun->pid : -ECHILD;
}

static long plan_start(struct plan *plan)
{
	long begun = sp_pages_of_file(sizeof(*plan->begun), MAP_SHARED | MAP_ANONYMOUS, -1, 0), ret;

	if (sp_sys_failed(begun))
		return begun;
	plan->begun = (struct begun *)begun;
	ret = start(plan);
	sp_pages_free(plan->begun, sizeof(*plan->begun));
	return ret;
}

static long sampler_begin(void)
{
	struct plan *plan = sp_pages_make(sizeof(*plan));
	long ret = plan ? program_find(plan->path) : -ENOMEM;

	if (ret == 0)
		ret = plan_start(plan);
	sp_pages_free(plan, sizeof(*plan));
	return ret;
}

static void allow_reading(void)
{
	if (sampler_pid)
		SP_SYS2(SYS_prctl, PR_SET_PTRACER, sampler_pid);
}

void sp_sampler_process_begin(void)
{
	long pid;

	if (!sp_config.sample || !*sp_config.sample || sp_config_is(sp_config.sample, "0"))
		return;
	if (sp_run_sampler(&sampler_pid) < 0) {
		pid = sampler_begin();
		sampler_pid = pid > 0 ? (uint64_t)pid : 0;
		sp_run_sampler_publish(sampler_pid);
		if (pid < 0)
			sp_log_once("no Python functions are sampled (STAGEPROF_SAMPLE):",
				    pid == -ENOENT ? "the program stageprof is not beside the "
						     "library"
						   : NULL,
				    pid == -ENOENT ? 0 : pid, "stageprof run --sample samples");
	}
	allow_reading();
}

void sp_sampler_process_forked(void)
{
	allow_reading();
}
