#include "preload/process.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>

#include "preload/aside.h"
#include "preload/clock.h"
#include "preload/config.h"
#include "preload/copies.h"
#include "preload/cost.h"
#include "preload/dormant.h"
#include "preload/files.h"
#include "preload/glibc.h"
#include "preload/hot.h"
#include "preload/memory.h"
#include "preload/paths.h"
#include "preload/record.h"
#include "preload/redact.h"
#include "preload/returns.h"
#include "preload/run.h"
#include "preload/say.h"
#include "preload/switch.h"
#include "preload/sys.h"

struct sp_process *sp_process;
uint32_t *sp_files_near SP_HOT_DATA;

/* What is the same in every image that forks from this one. */
static struct {
	uint32_t constructor_pid;
	uint64_t constructed_ns, forked_ns;
	uint64_t image_start_ns; /* of the newest image known; a forked child finds its parent's */
	char host[64], exe[64];
	struct sp_run_place place;
} facts;

static void host_read(void)
{
	struct utsname names;
	struct sp_text text = sp_text_init(facts.host, sizeof(facts.host));

	/* Part of file names: nothing that a shell or a path would read otherwise. */
	if (uname(&names) == 0) {
		for (const char *p = names.nodename; *p; p++) {
			int plain = (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
				    (*p >= 'A' && *p <= 'Z') || *p == '.' || *p == '_';

			sp_text_add_char(&text, plain ? *p : '_');
		}
	}
	if (!facts.host[0] || facts.host[0] == '.')
		strcpy(facts.host, "host");
}

static void exe_read(void)
{
	char path[4096];
	struct sp_text text = sp_text_init(facts.exe, sizeof(facts.exe));
	long length = SP_SYS4(SYS_readlinkat, -100 /* AT_FDCWD */, "/proc/self/exe", path, sizeof(path) - 1);
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
		long first = strtol(ranks, &end, 10), last = *end == '-' ? strtol(end + 1, &end, 10) : first;

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
	if (sp_process_wants(facts.exe))
		return 0;
	/* "none": only the process that began the run, whatever it has become by exec since. */
	if (sp_config_is(sp_config.children, "none") && sp_run.beginner_pid != (uint64_t)SP_SYS1(SYS_getpid, 0))
		return 1;
	return sp_dormant_is(facts.exe);
}

static int is_spare_copy(void)
{
	const char *path = sp_copies_first();

	if (path)
		sp_say("two copies are preloaded, of which one records:", path, 0,
		       "name one in LD_PRELOAD");
	return path != NULL;
}

/* valgrind preloads a library of its own into what it runs. */
static int under_valgrind(void)
{
	const char *preloads = getenv("LD_PRELOAD");

	return preloads && strstr(preloads, "/vgpreload_");
}

static int memory_make(void)
{
	sp_process = sp_pages_make_wiped(sizeof(*sp_process));
	if (!sp_process)
		return -ENOMEM;
	sp_files_near = sp_process->files_near;
	return 0;
}

static void unfit_say(void)
{
	char fix[128];
	struct sp_text text = sp_text_init(fix, sizeof(fix));

	sp_text_add(&text, "it takes ");
	sp_text_add(&text, sp_config.unfit_form);
	sp_say("ignored:", sp_config.unfit, 0, fix);
}

int sp_process_init(void)
{
	int error;

	/* Set-uid programs: glibc drops the preload already, unless it lies in a trusted directory. */
	if (getauxval(AT_SECURE) || sp_config_is(sp_config.enable, "0"))
		return 0;
	exe_read();
	sp_dormant_drop_triplet(facts.exe);
	error = sp_run_init();
	if (is_dormant() || is_spare_copy())
		return 0;
	sp_redact_init();
	if (sp_config.unknown)
		sp_say("unknown setting", sp_config.unknown, 0, "see stageprof-report --help");
	if (sp_config.unfit)
		unfit_say();
	if (error) {
		sp_say("cannot name the run's directory", sp_config.output, error,
		       "set STAGEPROF_OUTPUT to an absolute path");
		return 0;
	}
	host_read();
	facts.place = sp_run_place();
	facts.constructor_pid = (uint32_t)SP_SYS1(SYS_getpid, 0);
	facts.constructed_ns = sp_clock_ns(CLOCK_REALTIME);
	sp_clock_init(sp_config_is(sp_config.clock, "counter")	 ? SP_CLOCK_COUNTER :
		      sp_config_is(sp_config.clock, "monotonic") ? SP_CLOCK_MONOTONIC :
								   SP_CLOCK_AUTO);
	sp_aside_init(under_valgrind());
	error = memory_make();
	if (error)
		sp_say("no memory for recording", NULL, error, "nothing is recorded");
	return !error;
}

void sp_process_forked(void)
{
	/* a frozen process may be without the counter that the clock reads */
	if (!sp_process_is_frozen())
		facts.forked_ns = sp_clock_ns(CLOCK_REALTIME);
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

void sp_process_define_command(struct sp_thread *t)
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

static int frozen;

void sp_process_freeze(void)
{
	__atomic_store_n(&frozen, 1, __ATOMIC_RELAXED);
	sp_say_stop();
}

int sp_process_is_frozen(void)
{
	return __atomic_load_n(&frozen, __ATOMIC_RELAXED);
}

static void image_begin(void)
{
	struct sp_process *p = sp_process;

	p->pid = (uint32_t)SP_SYS1(SYS_getpid, 0);
	if (p->pid == facts.constructor_pid) {
		p->image_start_ns = facts.constructed_ns;
	} else {
		/* Not told of the fork: it was a raw clone or _Fork; this instant must do. */
		uint64_t forked = facts.forked_ns;

		p->parent_start_ns = facts.image_start_ns ? facts.image_start_ns : facts.constructed_ns;
		p->image_start_ns =
			forked > p->parent_start_ns ? forked : sp_clock_ns(CLOCK_REALTIME);
		p->flags |= SP_HEADER_FORKED;
		sp_switch_forked();
	}
	facts.image_start_ns = p->image_start_ns;
	if (sp_clock.counter)
		p->flags |= SP_HEADER_CLOCK_COUNTER;
}

static int image_claim(void)
{
	int error = sp_run_claim();

	if (error)
		sp_say("cannot make the run's directory", sp_run.base, error,
		       "training goes on, nothing is recorded; set STAGEPROF_OUTPUT");
	return error;
}

/* Another thread is at it: a millisecond of work at most, but it may have to wait for a core. Its signals
 * are blocked, so it cannot be us. */
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

int sp_process_begin(void)
{
	struct sp_process *p = sp_process;
	uint32_t expected = SP_PROCESS_NEW;

	if (__atomic_compare_exchange_n(&p->state, &expected, SP_PROCESS_BEGINNING, 0, __ATOMIC_ACQUIRE,
					__ATOMIC_ACQUIRE)) {
		sp_clock_settle();
		sp_cost_measure();
		sp_returns_choose();
		image_begin();
		__atomic_store_n(&p->state, image_claim() ? SP_PROCESS_FAILED : SP_PROCESS_RECORDING,
				 __ATOMIC_RELEASE);
	}
	return image_wait();
}

/* Threads race here: the largest count must stay. */
static void raise_word(uint64_t *word, uint64_t count)
{
	uint64_t seen, stored = __atomic_load_n(word, __ATOMIC_RELAXED);

	while (sp_checked_read(stored, &seen) < 0 || seen < count)
		if (__atomic_compare_exchange_n(word, &stored, sp_checked_make(count), 0,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			break;
}

void sp_process_lose(uint64_t events)
{
	uint64_t lost = __atomic_add_fetch(&sp_process->lost, events, __ATOMIC_RELAXED);
	struct sp_file_header *page = __atomic_load_n(&sp_process->header_page, __ATOMIC_ACQUIRE);

	if (page)
		raise_word(&page->process_lost, lost);
}

void sp_process_spend(uint64_t ns)
{
	uint64_t own = __atomic_add_fetch(&sp_process->own_ns, ns, __ATOMIC_RELAXED);
	struct sp_file_header *page = __atomic_load_n(&sp_process->header_page, __ATOMIC_ACQUIRE);

	if (!page)
		return;
	raise_word(&page->own_ns, own);
	raise_word(&page->stall_ns, ns);
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
	header->ticks_per_second = sp_clock.ticks_per_second;
	header->grain = sp_clock.grain;
	sp_clock_read(&header->opened);
	memcpy(header->host, facts.host, sizeof(header->host));
	memcpy(header->exe, facts.exe, sizeof(header->exe));
	header->rank = sp_checked_make(facts.place.rank);
	header->local_rank = sp_checked_make(facts.place.local_rank);
	header->world_size = sp_checked_make(facts.place.world_size);
	header->event_ps = sp_checked_make(sp_cost_event_ps());
}

uint32_t sp_process_intern(uint64_t hash, struct sp_interned **ret_entry)
{
	hash |= hash == 0;
	for (unsigned probe = 0; probe < 16; probe++) {
		struct sp_interned *entry =
			&sp_process->interned[(hash + probe) & (SP_NAMES_INTERNED - 1)];
		uint64_t found = 0;

		*ret_entry = entry;
		if (__atomic_compare_exchange_n(&entry->hash, &found, hash, 0, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE))
			return 0;
		if (found == hash) {
			uint32_t id = __atomic_load_n(&entry->id, __ATOMIC_ACQUIRE);

			/* id 0: another thread is defining it; the caller defines its own. */
			if (!id)
				*ret_entry = NULL;
			return id;
		}
	}
	*ret_entry = NULL;
	return 0;
}
