/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/process_image.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>

#include "preload/sys/fd_private_task.h"
#include "preload/sys/clock.h"
#include "preload/settings/config.h"
#include "preload/recorder/duplicate_preload.h"
#include "preload/recorder/cost.h"
#include "preload/recorder/emit.h"
#include "preload/sys/freeze.h"
#include "preload/recorder/process.h"
#include "preload/settings/dormant.h"
#include "preload/sys/glibc.h"
#include "preload/sys/paths.h"
#include "preload/settings/redact.h"
#include "preload/recorder/run_claim.h"
#include "preload/settings/run_identity.h"
#include "preload/sys/log_once.h"
#include "preload/recorder/switch.h"
#include "preload/sys/sys.h"

/* Values that forked images inherit. */
static struct {
	uint32_t constructor_pid;
	uint64_t constructed_ns, forked_ns;
	uint64_t image_start_ns; /* of the newest known image; a forked child finds its parent's
				    value */
	char host[64], exe[64];
	struct sp_run_ranks ranks;
	uint32_t flags; /* enum sp_header_flags of every image */
	int is_late;	/* libc's functions were bound before this library was loaded */
} inherited;

static void host_read(void)
{
	struct utsname names;
	struct sp_text text = sp_text_init(inherited.host, sizeof(inherited.host));

	/* The host is part of file names: no character that a shell or a path treats specially. */
	if (uname(&names) == 0) {
		for (const char *p = names.nodename; *p; p++) {
			int plain = (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
				    (*p >= 'A' && *p <= 'Z') || *p == '.' || *p == '_';

			sp_text_add_char(&text, plain ? *p : '_');
		}
	}
	if (!inherited.host[0] || inherited.host[0] == '.')
		strcpy(inherited.host, "host");
}

static void exe_read(void)
{
	char path[4096];
	struct sp_text text = sp_text_init(inherited.exe, sizeof(inherited.exe));
	long length = SP_SYS4(SYS_readlinkat, -100 /* AT_FDCWD */, "/proc/self/exe", path,
			      sizeof(path) - 1);
	const char *name;

	path[length > 0 ? length : 0] = 0;
	name = strrchr(path, '/');
	sp_text_add(&text, name ? name + 1 : path);
}

static int is_listed(const char *list, const char *exe)
{
	while (list && *list) {
		size_t length = strcspn(list, ",");

		if (length && sp_dormant_matches(exe, list, length))
			return 1;
		list += length + (list[length] == ',');
	}
	return 0;
}

/* STAGEPROF_RANKS: "0", "0,4", "0-3". */
static int is_unwanted_rank(void)
{
	const char *ranks = sp_config.ranks;
	long rank = strtol(sp_run_rank(), NULL, 10);

	while (ranks && *ranks) {
		char *end;
		long first = strtol(ranks, &end, 10),
		     last = *end == '-' ? strtol(end + 1, &end, 10) : first;

		if (end == ranks || (rank >= first && rank <= last))
			return 0;
		ranks = end + (*end == ',');
		if (*end && *end != ',')
			return 0;
	}
	return sp_config.ranks && *sp_config.ranks;
}

int sp_process_wants(const char *exe)
{
	return sp_config_is(sp_config.children, "all") || is_listed(sp_config.children, exe);
}

static int is_dormant(void)
{
	if (!sp_has_glibc() || is_unwanted_rank())
		return 1;
	if (sp_process_wants(inherited.exe))
		return 0;
	/* "none": only the process that began the run records, also after it has called exec. */
	if (sp_config_is(sp_config.children, "none") &&
	    sp_run.beginner_pid != (uint64_t)SP_SYS1(SYS_getpid, 0))
		return 1;
	return sp_dormant_is(inherited.exe);
}

static int is_spare_copy(void)
{
	const char *path = sp_duplicate_preload_first();

	if (path)
		sp_log_once("two copies are preloaded, of which one records:", path, 0,
			    "name one in LD_PRELOAD");
	return path != NULL;
}

/* valgrind preloads its own library into the program that it runs. */
static int under_valgrind(void)
{
	const char *preloads = getenv("LD_PRELOAD");

	return preloads && strstr(preloads, "/vgpreload_");
}

/* Settings that this version does not take. One process of a job says so: all inherit them. */
static void settings_log(void)
{
	char fix[128];
	struct sp_text text = sp_text_init(fix, sizeof(fix));

	if (sp_config.unknown)
		sp_log_once("unknown setting", sp_config.unknown, 0, sp_config.unknown_fix);
	if (!sp_config.unfit)
		return;
	sp_text_add(&text, "it takes ");
	sp_text_add(&text, sp_config.unfit_form);
	sp_log_once("ignored:", sp_config.unfit, 0, fix);
}

static int image_prepare(int is_under_valgrind)
{
	int error;

	host_read();
	inherited.constructor_pid = (uint32_t)SP_SYS1(SYS_getpid, 0);
	sp_clock_init(sp_config_is(sp_config.clock, "counter")	   ? SP_CLOCK_COUNTER
		      : sp_config_is(sp_config.clock, "monotonic") ? SP_CLOCK_MONOTONIC
								   : SP_CLOCK_AUTO);
	inherited.constructed_ns = sp_clock_ns(CLOCK_REALTIME);
	sp_fd_private_task_init(is_under_valgrind);
	error = sp_process_make();
	if (error)
		sp_log_once("no memory for recording", NULL, error, "nothing is recorded");
	return !error;
}

int sp_process_init_sampler(void)
{
	exe_read();
	sp_redact_init();
	inherited.flags = SP_HEADER_SAMPLER;
	return image_prepare(0);
}

/* The process that begins the run says so for all of the job. */
static void other_libc_log(void)
{
	if (!sp_has_glibc() && !(sp_config.run && *sp_config.run))
		sp_log_once("another libc than glibc (such as musl): nothing is recorded of",
			    inherited.exe[0] ? inherited.exe : "this program", 0,
			    "use an image with glibc 2.17 or later");
}

int sp_process_init(void)
{
	int error;

	/* Set-uid programs: glibc drops the preload already,
	 * unless it lies in a trusted directory. */
	if (getauxval(AT_SECURE) || sp_config_is(sp_config.enable, "0"))
		return 0;
	exe_read();
	sp_dormant_drop_triplet(inherited.exe);
	error = sp_run_init();
	other_libc_log();
	if (is_dormant() || is_spare_copy())
		return 0;
	sp_redact_init();
	if (error) {
		sp_log_once("cannot name the run's directory", sp_config.output, error,
			    "set STAGEPROF_OUTPUT to an absolute path");
		return 0;
	}
	inherited.ranks = sp_run_ranks();
	inherited.is_late = sp_preload_is_late();
	return image_prepare(under_valgrind());
}

void sp_process_forked(void)
{
	/* a frozen process may have lost the counter that the clock reads */
	if (!sp_process_is_frozen())
		inherited.forked_ns = sp_clock_ns(CLOCK_REALTIME);
}

static int arguments;
static char **argument;

void sp_process_keep_arguments(int argc, char **argv)
{
	if (sp_config_is(sp_config.command, "1")) {
		arguments = argc;
		argument = argv;
	}
}

static void late_define(struct sp_thread *t)
{
	static const char note[] = SP_NOTE_TEXT("stageprof was loaded into a running program: "
						"calls that were bound before, such as its reads "
						"and waits, are not observed");

	if (inherited.is_late)
		sp_define(t, SP_DEFINE_NOTE, 0, NULL, 0, note, sizeof(note) - 1);
}

static void command_define(struct sp_thread *t)
{
	char line[1024];
	size_t length = 0;

	for (int i = 0; i < arguments && argument[i] && length < sizeof(line); i++)
		for (const char *p = argument[i]; length < sizeof(line); p++) {
			line[length++] = *p;
			if (!*p)
				break;
		}
	if (length)
		sp_define(t, SP_DEFINE_COMMAND, 0, NULL, 0, line, length);
}

void sp_process_define(struct sp_thread *t)
{
	command_define(t);
	late_define(t);
}

static void image_begin(void)
{
	struct sp_process *p = sp_process;

	p->pid = (uint32_t)SP_SYS1(SYS_getpid, 0);
	p->flags |= inherited.flags;
	if (p->pid == inherited.constructor_pid) {
		p->image_start_ns = inherited.constructed_ns;
	} else {
		/* The fork hook did not run (raw clone or _Fork): the image begins now. */
		uint64_t forked = inherited.forked_ns;

		p->parent_start_ns = inherited.image_start_ns ? inherited.image_start_ns
							      : inherited.constructed_ns;
		p->image_start_ns =
			forked > p->parent_start_ns ? forked : sp_clock_ns(CLOCK_REALTIME);
		p->flags |= SP_HEADER_FORKED;
		sp_switch_forked();
	}
	inherited.image_start_ns = p->image_start_ns;
	if (sp_recorder_clock.counter)
		p->flags |= SP_HEADER_CLOCK_COUNTER;
}

static int image_claim(int *ret_is_new)
{
	int error = sp_run_claim();

	*ret_is_new = error == SP_RUN_MADE;
	if (error == SP_RUN_MADE) {
		settings_log();
		return 0;
	}
	if (error)
		sp_log_once("cannot make the run's directory", sp_run.base, error,
			    "training goes on, nothing is recorded; set STAGEPROF_OUTPUT");
	return error;
}

/* Another thread begins the image: at most a millisecond of work, but that thread may wait for a
 * core. Its signals are blocked, so that thread cannot be this one. */
static int image_wait(void)
{
	const struct timespec pause = {0, 100000};

	for (int i = 0; i < 20000; i++) {
		uint32_t state = __atomic_load_n(&sp_process->state, __ATOMIC_ACQUIRE);

		if (state >= SP_PROCESS_RECORDING)
			return state == SP_PROCESS_RECORDING ? 0 : -ENOENT;
		if (i < 1000)
			SP_SYS1(SYS_sched_yield, 0);
		else
			SP_SYS2(SYS_nanosleep, &pause, 0);
	}
	return -EBUSY;
}

static struct sp_arena_keeper keeper(void)
{
	return (struct sp_arena_keeper){.directory = sp_process_run_directory(),
					.run_token = sp_run.token,
					.spares = &sp_process->spares};
}

static void files_begin(int is_new)
{
	struct sp_process *p = sp_process;

	p->is_written = !sp_switch_maps_files();
	sp_spare_files_init(&p->spares, sp_switch_spare_table(), inherited.host);
	/* workers that join a run whose files are mapped are spared the search */
	if (is_new || p->is_written || !p->spares.table) {
		const struct sp_arena_keeper k = keeper();

		sp_arenas_collect_others(&k);
	}
}

int sp_process_begin(void)
{
	struct sp_process *p = sp_process;
	uint32_t expected = SP_PROCESS_NEW;
	int failed, is_new;

	if (__atomic_compare_exchange_n(&p->state, &expected, SP_PROCESS_BEGINNING, 0,
					__ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
		sp_clock_calibrate();
		sp_cost_measure();
		image_begin();
		failed = image_claim(&is_new);
		files_begin(is_new);
		__atomic_store_n(&p->state, failed ? SP_PROCESS_FAILED : SP_PROCESS_RECORDING,
				 __ATOMIC_RELEASE);
	}
	return image_wait();
}

void sp_process_end(void)
{
	struct sp_arena_keeper k;

	if (!sp_process || sp_process_is_frozen() || sp_tls.suppress_depth ||
	    __atomic_load_n(&sp_process->state, __ATOMIC_RELAXED) != SP_PROCESS_RECORDING)
		return;
	k = keeper();
	sp_arenas_end(&sp_process->arenas, &k);
}

struct sp_run_directory sp_process_run_directory(void)
{
	return (struct sp_run_directory){.path = sp_run.directory, .inode = sp_run.inode};
}

void sp_process_describe(struct sp_file_header *header)
{
	const struct sp_process *p = sp_process;

	header->flags = p->flags;
	header->run_token[0] = sp_run.token[0];
	header->run_token[1] = sp_run.token[1];
	header->pid = p->pid;
	header->ppid = (uint32_t)SP_SYS1(SYS_getppid, 0);
	header->image_start_ns = p->image_start_ns;
	header->parent_start_ns = p->parent_start_ns;
	header->ticks_per_second = sp_recorder_clock.ticks_per_second;
	header->grain = sp_recorder_clock.grain;
	sp_clock_read(&header->opened);
	memcpy(header->host, inherited.host, sizeof(header->host));
	memcpy(header->exe, inherited.exe, sizeof(header->exe));
	header->rank = sp_checked_make(inherited.ranks.rank);
	header->local_rank = sp_checked_make(inherited.ranks.local_rank);
	header->world_size = sp_checked_make(inherited.ranks.world_size);
	header->event_ps = sp_checked_make(sp_cost_event_ps());
}
