/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/cuda/cuda_time.h"

#include <errno.h>
#include <string.h>

#include "preload/settings/config.h"
#include "preload/cuda/cuda_chain.h"
#include "preload/cuda/cuda_events.h"
#include "preload/cuda/cuda_graph.h"
#include "preload/cuda/cuda_streams.h"
#include "preload/recorder/process.h"
#include "preload/sys/hot_data.h"
#include "preload/sys/sys.h"

/* Calls that are checked after a boundary; a stream whose first work comes later has no time in
 * that phase. */
#define VISITS_MIN 32u
#define VISITS_MAX 256u
/* The number of times that a thread which closes a library waits for a thread in here, which may
 * wait for the loader's lock. */
#define CLOSE_PATIENCE 256u

enum { KEEP = UINT32_MAX };

static uint32_t busy;			  /* a thread is in here: other threads go on without */
static uint32_t drops_wanted, drops_done; /* wanted, and done */
static uint32_t captures;		  /* captures that forbid the calls of all threads */
static uint64_t image;			  /* the pid of these chains: a forked child has none */
static const void *trainer;		  /* the training thread, by its sp_tls */
static uint32_t now_phase;		  /* its phase */
static uint32_t visits;
static int has_unseen_driver; /* work was seen, and no hook saw the driver begin */
static int is_off;
static const void
	*closer; /* the thread that closes a library and keeps others out, by its sp_tls */
static __thread uint32_t my_captures __attribute__((tls_model("initial-exec")));

uint32_t sp_cuda_slow_path SP_HOT_DATA = SP_CUDA_SLOW_PATH_CLOCK;

void sp_cuda_time_init(void)
{
	is_off = sp_config_has(sp_config.without, "gpu_time");
	if (sp_recorder_clock.keep)
		sp_cuda_slow_path_clear(SP_CUDA_SLOW_PATH_CLOCK);
}

void sp_cuda_time_bind(void)
{
	int kept = errno;

	has_unseen_driver = 0;
	if (!is_off)
		sp_cuda_events_find();
	errno = kept;
}

int sp_cuda_name_is_per_thread(const char *name)
{
	size_t bytes = strlen(name);

	return bytes > 5 && (!strcmp(name + bytes - 5, "_ptsz") || !strcmp(name + bytes - 5, "_ptd"
											     "s"));
}

static void leave(void)
{
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

/* Returns 0 if another thread is in here, or a signal handler interrupted it, or the driver is
 * gone. */
static int enter(void)
{
	uint32_t wanted;

	if (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE))
		return 0;
	wanted = __atomic_load_n(&drops_wanted, __ATOMIC_ACQUIRE);
	if (wanted != drops_done)
		sp_cuda_streams_abandon();
	drops_done = wanted;
	if (sp_cuda_events_are_found())
		return 1;
	leave();
	return 0;
}

/* After a fork none of the parent's state is valid, not even its locks. */
static int is_this_image(void)
{
	if (!sp_process || image == sp_process->image_start_ns)
		return sp_process != NULL;
	sp_cuda_streams_reset();
	trainer = NULL;
	now_phase = SP_PHASE_none;
	captures = 0;
	my_captures = 0;
	closer = NULL;
	busy = 0;
	image = sp_process->image_start_ns;
	return 1;
}

static int is_forbidden(void)
{
	return __atomic_load_n(&captures, __ATOMIC_ACQUIRE) != 0;
}

/* Ends the open intervals; the next work opens new ones. */
static void boundary(void)
{
	int kept = errno;
	struct sp_cuda_relaxed before;

	if (sp_cuda_streams_exist() && enter()) {
		if (is_forbidden())
			sp_cuda_streams_drop();
		else if (sp_cuda_relax(&before)) {
			sp_cuda_streams_close(now_phase);
			sp_cuda_streams_collect();
			sp_cuda_restore(&before);
		}
		leave();
	}
	errno = kept;
}

static void arm(void)
{
	visits = 0;
	sp_cuda_slow_path_set(SP_CUDA_SLOW_PATH_BOUNDARY);
}

static int is_stage(uint32_t phase)
{
#define STRETCH 1
#define NONE 0
#define SP_PHASE(name, title, interval, device, work, sampled) [SP_PHASE_##name] = (device),
	static const uint8_t is_stretch[SP_PHASES] = {
#include "trace/phases.def"
	};
#undef SP_PHASE
#undef STRETCH
#undef NONE
	return phase < SP_PHASES && is_stretch[phase];
}

/* The training thread is the first thread with a phase; a thread that steps an optimizer replaces
 * it. */
static int is_trainer(uint32_t phase)
{
	if (is_off || !sp_enter() || !is_this_image())
		return 0;
	if (!trainer || (sp_phase_optimizes(phase) && trainer != &sp_tls)) {
		trainer = &sp_tls;
		now_phase = SP_PHASE_none;
	}
	return trainer == &sp_tls;
}

uint32_t sp_cuda_time_enter(uint32_t phase)
{
	uint32_t before;

	if (!is_stage(phase) || !is_trainer(phase) || phase == now_phase)
		return KEEP;
	if (has_unseen_driver)
		sp_cuda_time_bind();
	if (phase != SP_PHASE_loader_next && phase != SP_PHASE_checkpoint_save)
		sp_cuda_graph_phase_begun();
	/* A launch that an exception left has no end. */
	before = now_phase == SP_PHASE_cuda_graph ? SP_PHASE_none : now_phase;
	boundary();
	now_phase = phase;
	arm();
	return before;
}

void sp_cuda_time_leave(uint32_t entered)
{
	if (entered == KEEP || trainer != &sp_tls)
		return;
	if (is_trainer(SP_PHASE_none)) {
		boundary();
		arm();
	}
	now_phase = entered;
}

void sp_cuda_time_split(void)
{
	if (!is_trainer(SP_PHASE_none))
		return;
	boundary();
	arm();
}

static void graph_begin(void)
{
	if (!is_trainer(SP_PHASE_none))
		return;
	boundary();
	if (now_phase == SP_PHASE_none)
		now_phase = SP_PHASE_cuda_graph;
	arm();
}

static void graph_end(void)
{
	if (!is_trainer(SP_PHASE_none))
		return;
	boundary();
	if (now_phase == SP_PHASE_cuda_graph)
		now_phase = SP_PHASE_none;
	sp_cuda_slow_path_clear(SP_CUDA_SLOW_PATH_BOUNDARY);
}

void sp_cuda_time_graph_launch(void)
{
	if (sp_cuda_graph_count())
		graph_begin();
}

void sp_cuda_time_graph_launched(void)
{
	if (sp_cuda_graph_is_step())
		graph_end();
}

static void chain_begin(struct sp_cuda_chain *c)
{
	struct sp_cuda_relaxed before;

	if (!sp_cuda_relax(&before))
		return;
	/* Another thread (autograd has its own) leaves this to the training thread: spans are in
	 * that thread's file. */
	if (trainer == &sp_tls && sp_cuda_chain_collect(c)) {
		sp_cuda_streams_abandon();
	} else if (sp_cuda_chain_is_full(c) ||
		   sp_cuda_chain_put(c, now_phase, SP_CUDA_MARK_BEGIN)) {
		sp_cuda_chain_drop(c);
		visits = VISITS_MAX;
	}
	sp_cuda_restore(&before);
}

static void disarm_after(uint32_t enough)
{
	if (++visits >= enough)
		sp_cuda_slow_path_clear(SP_CUDA_SLOW_PATH_BOUNDARY);
}

void sp_cuda_time_begin(uint64_t stream, int per_thread)
{
	int kept = errno;
	struct sp_cuda_chain *c;

	/* The driver may begin in this very call: the next call sees it. */
	if (!sp_cuda_events_are_found()) {
		has_unseen_driver = 1;
		disarm_after(VISITS_MAX);
		return;
	}
	if (is_forbidden() || !is_this_image() || !enter())
		return;
	c = sp_cuda_streams_find(stream, per_thread, trainer == &sp_tls);
	if (c && !sp_cuda_chain_is_open(c))
		chain_begin(c);
	/* Another stream of the thread may still come. */
	disarm_after(sp_cuda_streams_are_open() ? VISITS_MIN : VISITS_MAX);
	leave();
	errno = kept;
}

void sp_cuda_time_synced(void)
{
	int kept = errno;
	struct sp_cuda_relaxed before;

	if (trainer != &sp_tls || !sp_cuda_streams_exist() || is_forbidden() || !is_this_image() ||
	    !enter())
		return;
	if (sp_cuda_relax(&before)) {
		sp_cuda_streams_collect();
		sp_cuda_restore(&before);
	}
	leave();
	errno = kept;
}

void sp_cuda_time_capture(int mode)
{
	if (mode == SP_CUDA_CAPTURE_RELAXED)
		return;
	my_captures++;
	__atomic_add_fetch(&captures, 1, __ATOMIC_ACQ_REL);
}

void sp_cuda_time_captured(void)
{
	if (!my_captures)
		return;
	my_captures--;
	__atomic_sub_fetch(&captures, 1, __ATOMIC_ACQ_REL);
}

void sp_cuda_time_drop_contexts(void)
{
	__atomic_add_fetch(&drops_wanted, 1, __ATOMIC_ACQ_REL);
}

int sp_cuda_time_close_begin(void)
{
	if (!sp_cuda_events_are_found() || __atomic_load_n(&closer, __ATOMIC_RELAXED) == &sp_tls ||
	    !is_this_image())
		return 0;
	for (unsigned i = 0; !enter(); i++) {
		if (i == CLOSE_PATIENCE || !sp_cuda_events_are_found())
			return 0;
		SP_SYS1(SYS_sched_yield, 0);
	}
	__atomic_store_n(&closer, &sp_tls, __ATOMIC_RELAXED);
	return 1;
}

void sp_cuda_time_close_end(int begun)
{
	int kept = errno;

	if (sp_cuda_events_are_gone())
		sp_cuda_time_drop_contexts();
	if (begun) {
		__atomic_store_n(&closer, NULL, __ATOMIC_RELAXED);
		leave();
	}
	errno = kept;
}

void sp_cuda_time_drop_stream(uint64_t stream)
{
	if (stream <= SP_CUDA_STREAM_PER_THREAD)
		return;
	if (!enter()) {
		sp_cuda_time_drop_contexts();
		return;
	}
	sp_cuda_streams_release(stream);
	leave();
}
