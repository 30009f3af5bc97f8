#include "preload/cuda_time.h"

#include <errno.h>
#include <string.h>

#include "preload/config.h"
#include "preload/cuda_chain.h"
#include "preload/cuda_events.h"
#include "preload/cuda_graph.h"
#include "preload/cuda_streams.h"
#include "preload/hot.h"
#include "preload/process.h"
#include "preload/sys.h"

/* Work that is looked at after a boundary; a stream whose first comes later has no time in that stage. */
#define VISITS_MIN 32u
#define VISITS_MAX 256u
/* A thread that closes a library waits so often for one that is in here: that may be waiting for the loader's lock. */
#define CLOSE_PATIENCE 256u

enum { KEEP = UINT32_MAX };

static uint32_t busy;			   /* a thread is in here: others go on without */
static uint32_t forgets, forgotten;	   /* asked for, and done */
static uint32_t captures;		   /* that forbid all threads */
static uint64_t image;			   /* whose chains these are: a forked child has none */
static const void *trainer;		   /* the training thread, by its sp_tls */
static uint32_t now_part;		   /* its stage */
static uint32_t visits;
static int has_unseen_driver;		   /* work was met, and nobody told that the driver had begun */
static int is_off;
static const void *closer;		   /* the thread that closes a library and keeps others out, by its sp_tls */
static __thread uint32_t my_captures __attribute__((tls_model("initial-exec")));

uint32_t sp_cuda_asks SP_HOT_DATA = SP_CUDA_ASK_CLOCK;

void sp_cuda_time_init(void)
{
	is_off = sp_config_is(sp_config.gputime, "0");
	if (sp_clock.keep)
		sp_cuda_asks_clear(SP_CUDA_ASK_CLOCK);
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

	return bytes > 5 && (!strcmp(name + bytes - 5, "_ptsz") || !strcmp(name + bytes - 5, "_ptds"));
}

static void leave(void)
{
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

/* Returns 0 where another thread is in here, or a signal handler interrupted it, or there is no driver any more. */
static int enter(void)
{
	uint32_t asked;

	if (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE))
		return 0;
	asked = __atomic_load_n(&forgets, __ATOMIC_ACQUIRE);
	if (asked != forgotten)
		sp_cuda_streams_forget();
	forgotten = asked;
	if (sp_cuda_events_are_found())
		return 1;
	leave();
	return 0;
}

/* After a fork nothing of the parent's is of use: not even its locks. */
static int is_this_image(void)
{
	if (!sp_process || image == sp_process->image_start_ns)
		return sp_process != NULL;
	sp_cuda_streams_reset();
	trainer = NULL;
	now_part = SP_PART_none;
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

/* What is open ends here, and the next work opens anew. */
static void boundary(void)
{
	int kept = errno;
	struct sp_cuda_relaxed before;

	if (sp_cuda_streams_exist() && enter()) {
		if (is_forbidden())
			sp_cuda_streams_drop();
		else if (sp_cuda_relax(&before)) {
			sp_cuda_streams_close(now_part);
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
	sp_cuda_asks_set(SP_CUDA_ASK_BOUNDARY);
}

static int is_stage(uint32_t part)
{
	switch (part) {
	case SP_PART_loader_next:
	case SP_PART_backward:
	case SP_PART_optimizer:
	case SP_PART_zero_grad:
	case SP_PART_checkpoint_save:
		return 1;
	}
	return 0;
}

/* The first thread with a stage; one that steps an optimizer takes its place. */
static int is_trainer(uint32_t part)
{
	if (is_off || !sp_enter() || !is_this_image())
		return 0;
	if (!trainer || (part == SP_PART_optimizer && trainer != &sp_tls)) {
		trainer = &sp_tls;
		now_part = SP_PART_none;
	}
	return trainer == &sp_tls;
}

uint32_t sp_cuda_time_enter(uint32_t part)
{
	uint32_t before;

	if (!is_stage(part) || !is_trainer(part) || part == now_part)
		return KEEP;
	if (has_unseen_driver)
		sp_cuda_time_bind();
	if (part != SP_PART_loader_next && part != SP_PART_checkpoint_save)
		sp_cuda_graph_is_part();
	/* A launch that was left by an exception has no end. */
	before = now_part == SP_PART_cuda_graph ? SP_PART_none : now_part;
	boundary();
	now_part = part;
	arm();
	return before;
}

void sp_cuda_time_leave(uint32_t entered)
{
	if (entered == KEEP || trainer != &sp_tls)
		return;
	if (is_trainer(SP_PART_none)) {
		boundary();
		arm();
	}
	now_part = entered;
}

void sp_cuda_time_split(void)
{
	if (!is_trainer(SP_PART_none))
		return;
	boundary();
	arm();
}

void sp_cuda_time_graph_begin(void)
{
	if (!is_trainer(SP_PART_none))
		return;
	boundary();
	if (now_part == SP_PART_none)
		now_part = SP_PART_cuda_graph;
	arm();
}

void sp_cuda_time_graph_end(void)
{
	if (!is_trainer(SP_PART_none))
		return;
	boundary();
	if (now_part == SP_PART_cuda_graph)
		now_part = SP_PART_none;
	sp_cuda_asks_clear(SP_CUDA_ASK_BOUNDARY);
}

static void chain_begin(struct sp_cuda_chain *c)
{
	struct sp_cuda_relaxed before;

	if (!sp_cuda_relax(&before))
		return;
	/* Another thread (autograd has its own) leaves it to the training thread: spans are in that one's file. */
	if (trainer == &sp_tls && sp_cuda_chain_collect(c)) {
		sp_cuda_streams_forget();
	} else if (sp_cuda_chain_is_full(c) || sp_cuda_chain_put(c, now_part, SP_CUDA_MARK_BEGIN)) {
		sp_cuda_chain_drop(c);
		visits = VISITS_MAX;
	}
	sp_cuda_restore(&before);
}

static void disarm_after(uint32_t enough)
{
	if (++visits >= enough)
		sp_cuda_asks_clear(SP_CUDA_ASK_BOUNDARY);
}

void sp_cuda_time_begin(uint64_t stream, int per_thread)
{
	int kept = errno;
	struct sp_cuda_chain *c;

	/* It may begin in the very call that comes: the next one sees. */
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
	/* Another stream of the thread may yet come. */
	disarm_after(sp_cuda_streams_are_open() ? VISITS_MIN : VISITS_MAX);
	leave();
	errno = kept;
}

void sp_cuda_time_synced(void)
{
	int kept = errno;
	struct sp_cuda_relaxed before;

	if (trainer != &sp_tls || !sp_cuda_streams_exist() || is_forbidden() ||
	    !is_this_image() || !enter())
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

void sp_cuda_time_forget(void)
{
	__atomic_add_fetch(&forgets, 1, __ATOMIC_ACQ_REL);
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
		sp_cuda_time_forget();
	if (begun) {
		__atomic_store_n(&closer, NULL, __ATOMIC_RELAXED);
		leave();
	}
	errno = kept;
}

void sp_cuda_time_forget_stream(uint64_t stream)
{
	if (stream <= SP_CUDA_STREAM_PER_THREAD)
		return;
	if (!enter()) {
		sp_cuda_time_forget();
		return;
	}
	sp_cuda_streams_release(stream);
	leave();
}
