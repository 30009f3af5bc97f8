/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events at the boundaries of stages (preload/cuda/cuda_time.c) as a plain program with a
 * driver that does nothing: how many spans come of a loop, which calls of the driver a step costs,
 * and its other costs. events_price [STEPS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "preload/settings/config.h"
#include "preload/cuda/cuda_events.h"
#include "preload/cuda/cuda_graph.h"
#include "preload/cuda/cuda_time.h"
#include "preload/recorder/process.h"

enum { FORWARD = 60, BACKWARD = 100, OPTIMIZER = 40, STAGES = 3 };

/* Assumed prices of driver calls until scripts/gpu-check has measured them: calls that touch a
 * stream or an event, and other calls. */
enum { TOUCHING_NS = 1000, OTHER_NS = 50, STEP_NS = 30000000 };

struct sp_config sp_config;
struct sp_recorder_clock sp_recorder_clock = {.keep = UINT64_MAX, .ticks_per_second = 1000000000};
int (*sp_clock_gettime)(clockid_t id, struct timespec *ret) = clock_gettime;
struct sp_process *sp_process;
__thread struct sp_tls sp_tls __attribute__((tls_model("initial-exec")));
static struct sp_process process = {.image_start_ns = 1};
static struct sp_thread thread = {.state = SP_THREAD_LIVE};
static const uint32_t switch_word;
const uint32_t *sp_switch_word = &switch_word;
uint32_t sp_switch_mask;

static uint64_t spans, dropped, touching, others;
static char context, event;

int sp_config_is(const char *setting, const char *word)
{
	return setting && !strcmp(setting, word);
}

int sp_config_has(const char *setting, const char *word)
{
	return setting && !strcmp(setting, word);
}

struct sp_thread *sp_thread_begin(void)
{
	abort();
}

void sp_emit_extra(struct sp_thread *t, uint32_t kind, uint32_t arg, uint64_t start, uint64_t ticks,
		   int64_t value, const uint64_t extra[3])
{
	(void)t, (void)kind, (void)arg, (void)start, (void)ticks, (void)value;
	spans++;
	dropped += extra[2] >> 32;
}

static int get_current(void **ret)
{
	others++;
	*ret = &context;
	return 0;
}

static int get_device(int *device)
{
	others++;
	*device = 0;
	return 0;
}

static int push(void *unused)
{
	(void)unused;
	abort();
}

static int pop(void **unused)
{
	(void)unused;
	abort();
}

static int make(void **ret, unsigned flags)
{
	(void)flags;
	*ret = &event;
	return 0;
}

static int record(void *which, void *stream)
{
	(void)which, (void)stream;
	touching++;
	return 0;
}

static int query(void *which)
{
	(void)which;
	touching++;
	return 0;
}

static int elapsed(float *ms, void *from, void *to)
{
	(void)from, (void)to;
	touching++;
	*ms = 0.001f;
	return 0;
}

static int is_capturing(void *stream, int *status)
{
	(void)stream;
	others++;
	*status = 0;
	return 0;
}

struct sp_cuda_events sp_cuda_events = {get_current, get_device, push,	  pop,		make,
					record,	     query,	 elapsed, is_capturing, NULL};

void sp_cuda_graph_phase_begun(void)
{
}

int sp_cuda_graph_count(void)
{
	return 0;
}

int sp_cuda_graph_is_step(void)
{
	return 0;
}

int sp_cuda_events_are_gone(void)
{
	return 0;
}

int sp_cuda_events_are_found(void)
{
	return 1;
}

void sp_cuda_events_find(void)
{
}

int sp_cuda_relax(struct sp_cuda_relaxed *before)
{
	before->is_kept = 1;
	others++;
	return 1;
}

void sp_cuda_restore(struct sp_cuda_relaxed *before)
{
	(void)before;
	others++;
}

static void launch(int count)
{
	for (int i = 0; i < count; i++)
		SP_CUDA_TIME_WORK(0, 0);
}

static void step(void)
{
	sp_cuda_time_leave(sp_cuda_time_enter(SP_PHASE_loader_next));
	launch(FORWARD);
	sp_cuda_time_leave(sp_cuda_time_enter(SP_PHASE_zero_grad));
	uint32_t entered = sp_cuda_time_enter(SP_PHASE_backward);

	launch(BACKWARD);
	sp_cuda_time_leave(entered);
	entered = sp_cuda_time_enter(SP_PHASE_optimizer);
	launch(OPTIMIZER);
	sp_cuda_time_leave(entered);
	sp_cuda_time_synced();
}

int main(int argc, char **argv)
{
	long steps = argc > 1 ? atol(argv[1]) : 20000;
	struct timespec from, to;
	double own_ns, all_ns;

	sp_process = &process;
	sp_tls.thread = &thread;
	sp_cuda_time_init();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	for (long i = 0; i < steps; i++)
		step();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	own_ns = ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) /
		 (double)steps;
	all_ns = own_ns + (double)(touching * TOUCHING_NS + others * OTHER_NS) / (double)steps;
	printf("a step of %d stages with work and %d launches: %.0f ns of our own, %.1f calls of "
	       "the driver for a stream or "
	       "an event, %.1f others\n",
	       STAGES, FORWARD + BACKWARD + OPTIMIZER, own_ns, (double)touching / (double)steps,
	       (double)others / (double)steps);
	printf("at %d and %d ns a call that is %.3f %% of a step of %d ms\n", TOUCHING_NS, OTHER_NS,
	       100 * all_ns / STEP_NS, STEP_NS / 1000000);
	if (spans != (uint64_t)steps * STAGES || dropped) {
		printf("%llu spans and %llu given up of %ld steps\n", (unsigned long long)spans,
		       (unsigned long long)dropped, steps);
		return 1;
	}
	return (double)(touching * TOUCHING_NS + others * OTHER_NS) / (double)steps >
	       STEP_NS / 1000.0;
}
