#include "preload/cuda_time.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "preload/config.h"
#include "preload/dlsym_stub.h"
#include "preload/names.h"
#include "preload/originals.h"
#include "preload/process.h"
#include "trace/events.h"

#define GROUP "cuda-gpu-time"
#define CHAINS 8u /* streams of the training thread that are timed at once */
#define MARKS 64u /* recorded and not collected, of each; a power of two */
/* Work that is looked at after a boundary; a stream whose first comes later has no time in that stage. */
#define VISITS_MIN 32u
#define VISITS_MAX 256u

enum { KEEP = UINT32_MAX };

/* cuda.h 11.0 to 13.0: names and prototypes of the exported functions are the same in all of them. */
static struct {
	int (*cuCtxGetCurrent)(void **context);
	int (*cuCtxGetDevice)(int *device);
	int (*cuCtxPushCurrent_v2)(void *context);
	int (*cuCtxPopCurrent_v2)(void **context);
	int (*cuEventCreate)(void **event, unsigned flags);
	int (*cuEventRecord)(void *event, void *stream);
	int (*cuEventQuery)(void *event);
	int (*cuEventElapsedTime)(float *ms, void *from, void *to);
	int (*cuStreamIsCapturing)(void *stream, int *status);
	int (*cuThreadExchangeStreamCaptureMode)(int *mode);
} driver;

struct mark {
	void *event;
	uint64_t recorded;
	uint32_t part;
	uint8_t kind;	    /* enum mark_kind */
	uint8_t is_drained; /* all before it was reached when it was recorded: it is reached at once */
};

enum mark_kind {
	BEGIN,
	END,
	LONE, /* its pair was given up */
};

/* One stream. Marks are numbered; those from `got` on are not known to be reached. */
struct chain {
	void *context, *stream; /* stream NULL: it is gone, and the place is free */
	const void *owner; /* the thread whose stream it is; NULL: all threads' */
	uint32_t device, put, got;
	uint32_t dropped;
	uint64_t reached; /* when mark got - 1 was, in ticks of the trace's clock */
	uint64_t began, began_lag; /* the pair whose end is not collected */
	struct mark marks[MARKS];
};

static struct chain chains[CHAINS];
static uint32_t chain_count;
static uint32_t busy;			   /* a thread is in here: others go on without */
static uint32_t forgets, forgotten;	   /* asked for, and done */
static uint32_t captures;		   /* that forbid all threads */
static uint64_t image;			   /* whose chains these are: a forked child has none */
static const void *trainer;		   /* the training thread, by its sp_tls */
static uint32_t now_part;		   /* its stage */
static uint32_t visits;
static int has_driver;			   /* 0: not looked for; -1: there is none that will do */
static int is_off;
static __thread uint32_t my_captures __attribute__((tls_model("initial-exec")));

uint32_t sp_cuda_time_armed;

void sp_cuda_time_init(void)
{
	is_off = sp_config_is(sp_config.gputime, "0");
}

int sp_cuda_name_is_per_thread(const char *name)
{
	size_t bytes = strlen(name);

	return bytes > 5 && (!strcmp(name + bytes - 5, "_ptsz") || !strcmp(name + bytes - 5, "_ptds"));
}

static int driver_find_all(void *library)
{
#define FIND(name)                                                                                 \
	(driver.name = (__typeof__(driver.name))sp_dlsym_next(library, #name)) != NULL
	return FIND(cuCtxGetCurrent) && FIND(cuCtxGetDevice) && FIND(cuCtxPushCurrent_v2) &&
	       FIND(cuCtxPopCurrent_v2) && FIND(cuEventCreate) && FIND(cuEventRecord) &&
	       FIND(cuEventQuery) && FIND(cuEventElapsedTime) && FIND(cuStreamIsCapturing) &&
	       FIND(cuThreadExchangeStreamCaptureMode);
#undef FIND
}

/* A program that has work for a device has loaded its driver. */
static int driver_find(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);

	if (!library) {
		dlerror(); /* the host must not find our failure */
		return 0;
	}
	has_driver = driver_find_all(library) ? 1 : -1;
	SP_REAL(dlclose)(library);
	if (has_driver < 0)
		dlerror();
	sp_cover(GROUP, has_driver > 0 ? "bound" : "unobservable",
		 has_driver > 0 ? "events at the boundaries of stages" :
				  "the driver lacks a function");
	return has_driver > 0;
}

/* The thread's own driver calls are allowed whatever captures: none touches a stream that does. */
struct relaxed {
	int mode, is_kept;
};

static int relax(struct relaxed *before)
{
	before->mode = SP_CUDA_CAPTURE_RELAXED;
	before->is_kept = driver.cuThreadExchangeStreamCaptureMode(&before->mode) == 0;
	return before->is_kept;
}

static void restore(struct relaxed *before)
{
	if (before->is_kept)
		driver.cuThreadExchangeStreamCaptureMode(&before->mode);
}

static void chains_forget(void)
{
	memset(chains, 0, sizeof(chains));
	chain_count = 0;
}

/* Returns 0 where another thread is in here, or a signal handler interrupted it. */
static int enter(void)
{
	uint32_t asked;

	if (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE))
		return 0;
	asked = __atomic_load_n(&forgets, __ATOMIC_ACQUIRE);
	if (asked != forgotten)
		chains_forget();
	forgotten = asked;
	return 1;
}

static void leave(void)
{
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

/* After a fork nothing of the parent's is of use: not even its locks. */
static int is_this_image(void)
{
	if (!sp_process || image == sp_process->image_start_ns)
		return sp_process != NULL;
	chains_forget();
	trainer = NULL;
	now_part = SP_PART_none;
	captures = 0;
	my_captures = 0;
	busy = 0;
	image = sp_process->image_start_ns;
	return 1;
}

static int is_forbidden(void)
{
	return __atomic_load_n(&captures, __ATOMIC_ACQUIRE) != 0;
}

static struct mark *mark_at(struct chain *c, uint32_t number)
{
	return &c->marks[number % MARKS];
}

static int is_open(const struct chain *c)
{
	return c->put && c->marks[(c->put - 1) % MARKS].kind == BEGIN;
}

static void pair_drop(struct chain *c)
{
	c->dropped++;
	if (is_open(c))
		mark_at(c, c->put - 1)->kind = LONE;
}

/* The stream's context has to be current where the stream has no handle of its own. */
static int record_in_context(struct chain *c, struct mark *mark)
{
	int ret = mark->event ? 0 : driver.cuEventCreate(&mark->event, 0);

	if (ret)
		mark->event = NULL;
	return ret ? ret : driver.cuEventRecord(mark->event, c->stream);
}

static int record(struct chain *c, struct mark *mark)
{
	void *current = NULL;
	int status = 0, ret, pushed;

	if (driver.cuCtxGetCurrent(&current))
		return -EINVAL;
	pushed = current != c->context;
	if (pushed && driver.cuCtxPushCurrent_v2(c->context))
		return -EINVAL;
	ret = driver.cuStreamIsCapturing(c->stream, &status);
	if (!ret)
		ret = status ? -EBUSY : record_in_context(c, mark);
	if (pushed)
		driver.cuCtxPopCurrent_v2(&current);
	return ret;
}

/* Returns 0 where the mark is on the stream. */
static int mark_put(struct chain *c, uint32_t part, enum mark_kind kind)
{
	struct mark *mark = mark_at(c, c->put);
	int ret;

	mark->recorded = sp_clock_ticks();
	mark->part = part;
	mark->kind = (uint8_t)kind;
	mark->is_drained = c->got == c->put;
	ret = record(c, mark);
	if (!ret)
		c->put++;
	return ret;
}

static void pair_emit(struct chain *c, const struct mark *end, uint64_t ticks)
{
	const struct mark *begin = mark_at(c, c->got - 1);
	struct sp_thread *t = sp_enter();
	uint64_t words[3] = {c->began_lag, end->recorded - begin->recorded,
			     c->device | (uint64_t)(c - chains) << 8 | (uint64_t)c->dropped << 32};

	if (!t)
		return;
	sp_emit_extra(t, SP_EV_gpu_span, sp_cuda_arg_make((uintptr_t)c->stream, 0, 0), c->began,
		      ticks, begin->part, words);
	c->dropped = 0;
}

/*
 * When the mark was reached by the trace's clock. From the one before it by the device's clock; but not
 * before it was recorded, nor after it was seen to be reached. One that came upon a stream with nothing
 * to do is reached as it is recorded, which sets both clocks right.
 */
static uint64_t reached_when(const struct chain *c, const struct mark *mark, uint64_t ticks,
			     uint64_t seen)
{
	uint64_t at = c->got ? c->reached + ticks : mark->recorded;

	if (mark->is_drained || at < mark->recorded)
		return mark->recorded;
	return at < seen ? at : seen;
}

/* Milliseconds on the device since the mark before; 0 for the first. Returns 0 or CUDA's error. */
static int elapsed_ticks(struct chain *c, const struct mark *mark, uint64_t *ret_ticks)
{
	float ms = 0;
	int ret = c->got ? driver.cuEventElapsedTime(&ms, mark_at(c, c->got - 1)->event, mark->event) :
			   0;

	*ret_ticks = ms > 0 ? (uint64_t)((double)ms * (double)sp_clock.ticks_per_second / 1e3) : 0;
	return ret;
}

/* Takes what was reached; stops at the first that was not. Returns 0, or the error of a broken stream. */
static int collect(struct chain *c)
{
	while (c->got < c->put) {
		struct mark *mark = mark_at(c, c->got);
		int ret = driver.cuEventQuery(mark->event);
		uint64_t seen = sp_clock_ticks(), ticks;

		if (ret == SP_CUDA_NOT_READY)
			return 0;
		if (!ret)
			ret = elapsed_ticks(c, mark, &ticks);
		if (ret)
			return ret;
		c->reached = reached_when(c, mark, ticks, seen);
		if (mark->kind == END) {
			pair_emit(c, mark, ticks);
		} else {
			c->began = c->reached;
			c->began_lag = c->reached - mark->recorded;
		}
		c->got++;
	}
	return 0;
}

static void collect_all(void)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < chain_count; i++)
		ret = collect(&chains[i]);
	if (ret)
		chains_forget();
}

static int is_foreign(const struct chain *c)
{
	return c->owner && c->owner != &sp_tls;
}

static void close_all(uint32_t part)
{
	for (uint32_t i = 0; i < chain_count; i++) {
		struct chain *c = &chains[i];

		if (is_open(c) && (is_foreign(c) || mark_put(c, part, END)))
			pair_drop(c);
	}
}

/* What is open ends here, and the next work opens anew. */
static void boundary(void)
{
	int kept = errno;
	struct relaxed before;

	if (has_driver > 0 && chain_count && enter()) {
		if (is_forbidden())
			for (uint32_t i = 0; i < chain_count; i++)
				is_open(&chains[i]) ? pair_drop(&chains[i]) : (void)0;
		else if (relax(&before)) {
			close_all(now_part);
			collect_all();
			restore(&before);
		}
		leave();
	}
	errno = kept;
}

static void arm(void)
{
	visits = 0;
	__atomic_store_n(&sp_cuda_time_armed, 1, __ATOMIC_RELEASE);
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
	before = now_part;
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

static struct chain *chain_find(void *context, void *stream, const void *owner)
{
	for (uint32_t i = 0; i < chain_count; i++)
		if (chains[i].context == context && chains[i].stream == stream &&
		    chains[i].owner == owner)
			return &chains[i];
	return NULL;
}

/* The stream by its handle alone; NULL where several contexts have one of this handle. */
static struct chain *chain_only(const void *stream, const void *owner)
{
	struct chain *found = NULL;

	for (uint32_t i = 0; i < chain_count; i++) {
		if (chains[i].stream != stream || chains[i].owner != owner)
			continue;
		if (found)
			return NULL;
		found = &chains[i];
	}
	return found;
}

/* Events that a stream which is gone has left serve the next one of the same context. */
static struct chain *chain_make(void *context, void *stream, const void *owner)
{
	struct chain *c = chain_find(context, NULL, NULL);
	int device;

	if (trainer != &sp_tls || driver.cuCtxGetDevice(&device))
		return NULL;
	if (!c && chain_count < CHAINS)
		c = &chains[chain_count++];
	if (!c)
		return NULL;
	c->context = context;
	c->stream = stream;
	c->owner = owner;
	c->device = (uint32_t)device;
	c->put = c->got = 0;
	return c;
}

static struct chain *chain_of(uint64_t stream, int per_thread)
{
	void *context = NULL, *handle;
	const void *owner = NULL;
	struct chain *c;

	if (stream <= SP_CUDA_STREAM_PER_THREAD) {
		int own = stream == SP_CUDA_STREAM_PER_THREAD || (!stream && per_thread);

		stream = own ? SP_CUDA_STREAM_PER_THREAD : SP_CUDA_STREAM_LEGACY;
		owner = own ? &sp_tls : NULL;
	}
	handle = (void *)(uintptr_t)stream;
	if (driver.cuCtxGetCurrent(&context))
		return NULL;
	/* The runtime has yet to make one current in a thread's first call: the one that others have here. */
	c = context ? chain_find(context, handle, owner) : chain_only(handle, owner);
	return c || !context ? c : chain_make(context, handle, owner);
}

static void chain_begin(struct chain *c)
{
	struct relaxed before;

	if (!relax(&before))
		return;
	if (collect(c)) {
		chains_forget();
	} else if (c->put - c->got > MARKS - 3 || mark_put(c, now_part, BEGIN)) {
		/* No place for it and its end, behind the last that was collected; or a capture. */
		c->dropped++;
		visits = VISITS_MAX;
	}
	restore(&before);
}

static int all_open(void)
{
	for (uint32_t i = 0; i < chain_count; i++)
		if (chains[i].stream && !is_open(&chains[i]))
			return 0;
	return chain_count > 0;
}

void sp_cuda_time_begin(uint64_t stream, int per_thread)
{
	int kept = errno;
	struct chain *c;

	if (is_forbidden() || !is_this_image() || has_driver < 0 || !enter())
		return;
	if (has_driver || driver_find()) {
		c = chain_of(stream, per_thread);
		if (c && !is_open(c))
			chain_begin(c);
	}
	/* Another stream of the thread may yet come. */
	if (++visits >= VISITS_MAX || (visits >= VISITS_MIN && all_open()))
		__atomic_store_n(&sp_cuda_time_armed, 0, __ATOMIC_RELAXED);
	leave();
	errno = kept;
}

void sp_cuda_time_synced(void)
{
	int kept = errno;
	struct relaxed before;

	if (trainer != &sp_tls || has_driver <= 0 || !chain_count || is_forbidden() ||
	    !is_this_image() || !enter())
		return;
	if (relax(&before)) {
		collect_all();
		restore(&before);
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

void sp_cuda_time_forget_stream(uint64_t stream)
{
	if (stream <= SP_CUDA_STREAM_PER_THREAD)
		return;
	if (!enter()) {
		sp_cuda_time_forget();
		return;
	}
	for (uint32_t i = 0; i < chain_count; i++) {
		if (chains[i].stream != (void *)(uintptr_t)stream)
			continue;
		chains[i].dropped += is_open(&chains[i]);
		chains[i].stream = NULL;
		chains[i].owner = NULL;
		chains[i].put = chains[i].got = 0;
	}
	leave();
}
