/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recorder/thread.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>

#include "preload/sys/fd_private_task.h"
#include "preload/sys/libdl.h"
#include "preload/settings/config.h"
#include "preload/recorder/own_stack.h"
#include "preload/sys/memory.h"
#include "preload/sys/freeze.h"
#include "preload/recorder/emit.h"
#include "preload/recorder/process.h"
#include "preload/recorder/process_image.h"
#include "preload/blocks/publish.h"
#include "preload/settings/run_identity.h"
#include "preload/sys/log_once.h"
#include "preload/sys/sys.h"
#include "preload/recorder/switch.h"
#include "preload/recorder/cores.h"
#include "preload/recorder/thread_rusage.h"
#include "preload/recorder/unobserved_exec.h"

#define ALIGN_UP(x, to) (((x) + (to)-1) / (to) * (to))
/* Each name that is taken makes the next step twice as large. */
#define SEGMENT_STEP_MAX (1u << 20)
/* A fraction of a second: a thread that lived for less has no line of its resource usage. */
#define RUSAGE_LIFE_FRACTION 10u
#define REFUSED_FRACTION 64u /* of a second, in which no thread asks for memory again */

static pthread_key_t end_key;
static int end_key_made;
static uint64_t refused_ticks; /* when the kernel refused memory for a thread; 0: never */

static size_t recorder_bytes(void)
{
	return ALIGN_UP(sizeof(struct sp_recorder), 4096);
}

static size_t memory_bytes(void)
{
	return recorder_bytes() + ALIGN_UP(sp_pack_memory_bytes(SP_WINDOW_SLOTS_MIN), 4096);
}

/* One mapping for each thread. Fork wipes it, and the child's thread begins in it again. */
static struct sp_recorder *memory_make(void)
{
	return sp_pages_make_wiped(memory_bytes());
}

/* Not where a suspended frame may come back to it, on another thread. */
static void memory_free(struct sp_recorder *r)
{
	if (r->hot.inside || r->keeps_windows)
		return;
	if (r->pack.slots > SP_WINDOW_SLOTS_MIN)
		sp_pages_free(r->pack.memory, r->pack.memory_bytes);
	sp_pages_free(r, memory_bytes());
}

static void ring_empty(struct sp_recorder *r)
{
	r->capacity = 0;
	r->hot.head = r->hot.base = r->hot.limit = 0;
	r->hot.mask = 0;
	r->hot.ring = &r->no_slot;
	r->hot.shift = 0;
	r->hot.mark = &r->no_window.mark;
}

static void identity_fill(struct sp_recorder *r, struct sp_stream_identity *identity)
{
	sp_process_describe(&identity->header);
	identity->header.segment = r->segment;
	identity->header.writer_version = STAGEPROF_VERSION_NUMBER;
	if (r->is_device) {
		identity->header.flags |= SP_HEADER_DEVICE;
		memcpy(r->comm, "gpu", sizeof("gpu"));
	} else {
		identity->header.tid = (uint32_t)SP_SYS1(SYS_gettid, 0);
		SP_SYS2(SYS_prctl, PR_GET_NAME, r->comm);
	}
	memcpy(identity->header.comm, r->comm, sizeof(r->comm));
	identity->directory = sp_process_run_directory();
	identity->pool = &sp_process->arenas;
	identity->spares = &sp_process->spares;
	identity->write_mode = __atomic_load_n(&sp_process->is_written, __ATOMIC_RELAXED);
}

/* A file name may be taken: by an earlier segment of this thread, or by an earlier thread with this
 * id. */
static int stream_open(struct sp_recorder *r)
{
	struct sp_process *p = sp_process;
	struct sp_file_header *page = NULL;
	int first = __atomic_load_n(&p->header_page, __ATOMIC_ACQUIRE) == NULL, ret = -EEXIST;

	for (uint32_t step = 1; ret == -EEXIST && step < SEGMENT_STEP_MAX; step *= 2) {
		struct sp_stream_identity identity = {0};

		identity_fill(r, &identity);
		ret = sp_stream_create(&r->stream, &identity, SP_WINDOW_SLOTS_MIN,
				       first ? &page : NULL);
		if (ret == -EEXIST)
			r->segment += step;
	}
	if (ret)
		return ret;
	/* If two threads are first at once, both pages stay mapped
	 * and one of them gets the count. */
	if (page) {
		__atomic_store_n(&p->header_page, page, __ATOMIC_RELEASE);
		sp_process_lose(0); /* events that were lost before the page existed */
	}
	if (r->stream.write_mode)
		__atomic_store_n(&p->is_written, 1, __ATOMIC_RELAXED);
	sp_recorder_adopt(r, sp_stream_window(&r->stream)->capacity);
	if (first)
		sp_process_define(&r->hot);
	return 0;
}

/* Programs name threads after the threads began: the header has the first name, this definition the
 * last. */
static void name_define(struct sp_recorder *r)
{
	char name[16] = "";

	SP_SYS2(SYS_prctl, PR_GET_NAME, name);
	if (strncmp(name, r->comm, sizeof(name)) != 0)
		sp_define(&r->hot, SP_DEFINE_THREAD, 0, NULL, 0, name, strnlen(name, sizeof(name)));
}

static void recorder_begin(struct sp_recorder *r)
{
	int error;

	ring_empty(r);
	r->begun_ticks = sp_clock_ticks();
	r->hot.hook_state = r->hook_state;
	r->define_cpus = sp_cores_define;
	if (!r->pack.slots)
		sp_pack_init(&r->pack, (uint8_t *)r + recorder_bytes(), SP_WINDOW_SLOTS_MIN);
	error = stream_open(r);
	if (!error)
		error = r->stream.file_error;
	if (error)
		sp_log_once("cannot make a file in", sp_run.directory, error,
			    "training goes on, losses are counted in the report");
	r->hot.state = SP_THREAD_LIVE;
}

static void refuse(void)
{
	sp_process_lose(1);
	__atomic_store_n(&refused_ticks, sp_clock_ticks(), __ATOMIC_RELAXED);
}

/* Without this check, each event of each thread would ask the kernel for memory. */
static int is_refused(void)
{
	uint64_t since = __atomic_load_n(&refused_ticks, __ATOMIC_RELAXED);

	return since &&
	       sp_clock_ticks() - since < sp_recorder_clock.ticks_per_second / REFUSED_FRACTION;
}

static struct sp_thread *thread_make(void)
{
	struct sp_recorder *r = (struct sp_recorder *)sp_tls.thread;

	if (!r) {
		r = memory_make();
		if (!r) {
			refuse();
			sp_log_once("no memory to record a thread", NULL, -ENOMEM,
				    "training goes on, losses are counted in the report, if there "
				    "is one");
			return NULL;
		}
		sp_tls.thread = &r->hot;
	}
	recorder_begin(r);
	if (!end_key_made) /* the host may have loaded libpthread since the constructor */
		sp_thread_init();
	if (end_key_made)
		sp_pthread_setspecific(end_key, r);
	return &r->hot;
}

/* Nothing was recorded from `since` until now. */
static void off_emit(struct sp_thread *t, uint64_t since, uint64_t steps)
{
	uint64_t now = sp_clock_ticks(), made = sp_switch_steps() - steps;

	sp_emit(t, SP_EV_recording_off, 0, since, now - since,
		(int64_t)(made << 1) | sp_switch_was_by_steps());
}

static void thread_pause(struct sp_thread *t)
{
	struct sp_recorder *r = sp_recorder_of(t);

	r->paused_ticks = sp_clock_ticks();
	r->paused_steps = sp_switch_steps();
	sp_mark_store(t, r->paused_ticks, SP_EV_recording_off);
	t->state = SP_THREAD_PAUSED;
}

static struct sp_thread *thread_resume(struct sp_thread *t)
{
	struct sp_recorder *r = sp_recorder_of(t);

	t->state = SP_THREAD_LIVE;
	sp_mark_store(t, 0, 0);
	off_emit(t, r->paused_ticks, r->paused_steps);
	return t;
}

struct making {
	struct sp_thread *thread;
	int even_off;
};

static void recorder_make_held(struct making *m)
{
	uint64_t since = 0;
	int error = sp_process_begin();

	if (error == -EBUSY)
		sp_process_lose(1);
	if (error)
		return;
	if (sp_switch_is_off() && !m->even_off) {
		__atomic_compare_exchange_n(&sp_process->off_ticks, &since, sp_clock_ticks(), 0,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		return;
	}
	m->thread = thread_make();
	since = __atomic_exchange_n(&sp_process->off_ticks, 0, __ATOMIC_RELAXED);
	if (m->thread && since)
		off_emit(m->thread, since, 0);
}

static void recorder_make(void *argument)
{
	int is_first = __atomic_load_n(&sp_process->state, __ATOMIC_RELAXED) == SP_PROCESS_NEW;

	if (is_first)
		sp_fd_private_hold();
	recorder_make_held(argument);
	if (is_first)
		sp_fd_private_release();
}

static int is_recording(void)
{
	return __atomic_load_n(&sp_process->state, __ATOMIC_RELAXED) == SP_PROCESS_RECORDING;
}

static struct sp_thread *begin_any(int even_off)
{
	struct making m = {NULL, even_off};
	unsigned long before;
	uint64_t begin;

	if (sp_process_is_frozen() || is_refused()) {
		sp_process_lose(1);
		return NULL;
	}
	before = sp_signals_block();
	begin = sp_clock_ns(CLOCK_MONOTONIC); /* the trace's clock may not be calibrated yet */
	sp_tls.suppress_depth++;
	if (sp_call_on_own_stack(recorder_make, &m) < 0)
		refuse();
	if (m.thread)
		sp_process_spend(sp_clock_ns(CLOCK_MONOTONIC) - begin);
	sp_tls.suppress_depth--;
	sp_signals_restore(before);
	return m.thread;
}

static int may_record(void)
{
	return sp_process && !sp_is_suppressed() &&
	       __atomic_load_n(&sp_process->state, __ATOMIC_RELAXED) != SP_PROCESS_FAILED;
}

struct sp_thread *sp_thread_begin(void)
{
	struct sp_thread *t = sp_tls.thread;

	if (!may_record())
		return NULL;
	if (t && t->state != SP_THREAD_NONE) {
		if (sp_switch_is_off()) {
			if (t->state == SP_THREAD_LIVE)
				thread_pause(t);
			return NULL;
		}
		return t->state == SP_THREAD_PAUSED ? thread_resume(t) : t;
	}
	if (is_recording() && sp_switch_is_off() && sp_process->off_ticks)
		return NULL;
	return begin_any(0);
}

struct sp_thread *sp_thread_even_off(void)
{
	struct sp_thread *t = sp_tls.thread;

	if (!may_record())
		return NULL;
	return t && t->state != SP_THREAD_NONE ? t : begin_any(1);
}

/* Workspaces for larger blocks are kept for the thread's next segment. */
static void recorder_finish(void *argument)
{
	struct sp_recorder *r = argument;

	if (r->hot.state == SP_THREAD_PAUSED)
		off_emit(&r->hot, r->paused_ticks, r->paused_steps);
	if (r->capacity && !r->is_device) {
		name_define(r);
		sp_unobserved_exec_report(&r->hot);
		if (sp_clock_ticks() - r->begun_ticks >=
		    sp_recorder_clock.ticks_per_second / RUSAGE_LIFE_FRACTION) {
			sp_cores_define(&r->hot);
			sp_rusage_define_thread(&r->hot);
		}
	}
	r->stream.keeps_windows = r->keeps_windows || r->hot.inside != 0;
	if (r->capacity && sp_recorder_publish(r, SP_BLOCK_LAST) == 0)
		sp_stream_finish(&r->stream);
	else
		sp_stream_abandon(&r->stream);
	ring_empty(r);
	memset(r->lost, 0, sizeof(r->lost));
	r->stuck = 0;
	r->segment++;
	r->hot.state = SP_THREAD_NONE;
}

static void thread_finish(struct sp_recorder *r)
{
	unsigned long before;
	uint64_t begin;

	if (sp_process_is_frozen() || r->hot.state == SP_THREAD_NONE || sp_tls.suppress_depth)
		return;
	before = sp_signals_block();
	begin = sp_clock_ticks();
	sp_tls.suppress_depth++;
	sp_call_on_own_stack(recorder_finish,
			     r); /* on failure the file stays as a kill would leave it */
	sp_process_spend(sp_clock_span_ns(sp_clock_ticks() - begin));
	sp_tls.suppress_depth--;
	sp_signals_restore(before);
}

void sp_thread_finish(void)
{
	struct sp_recorder *r = (struct sp_recorder *)sp_tls.thread;

	if (r && r->hot.inside <= 0)
		thread_finish(r);
}

uint32_t sp_thread_tid(const struct sp_thread *t)
{
	return t && t->state ? ((const struct sp_recorder *)t)->stream.tid : 0;
}

static void device_make(void *argument)
{
	struct sp_recorder **made = argument;

	if (sp_process_begin() || !(*made = memory_make()))
		return;
	(*made)->is_device = 1;
	recorder_begin(*made);
}

/* Runs a step with signals blocked and without recording our own calls. */
static void run_suppressed(void (*work)(void *), void *argument)
{
	unsigned long before = sp_signals_block();

	sp_tls.suppress_depth++;
	sp_call_on_own_stack(work, argument);
	sp_tls.suppress_depth--;
	sp_signals_restore(before);
}

struct sp_thread *sp_device_recorder_begin(void)
{
	struct sp_recorder *made = NULL;

	if (!sp_process_is_frozen())
		run_suppressed(device_make, &made);
	return made ? &made->hot : NULL;
}

void sp_device_recorder_finish(struct sp_thread *t)
{
	struct sp_recorder *r = sp_recorder_of(t);

	if (sp_process_is_frozen() || t->state == SP_THREAD_NONE)
		return;
	run_suppressed(recorder_finish, r);
	memory_free(r);
}

/* Destructors of other keys may still read files: the first round only asks for another round. */
static void thread_end(void *argument)
{
	struct sp_recorder *r = argument;

	if (&r->hot != sp_tls.thread || sp_process_is_frozen())
		return;
	if (r->destructor_rounds++ == 0) {
		sp_pthread_setspecific(end_key, r);
		return;
	}
	thread_finish(r);
	sp_perf_ring_close(&r->perf);
	sp_tls.thread = NULL;
	memory_free(r);
}

void sp_thread_init(void)
{
	end_key_made = sp_pthread_key_create(&end_key, thread_end) == 0;
}
