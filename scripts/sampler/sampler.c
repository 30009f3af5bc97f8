/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/sampler/sampler.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "preload/recorder/process.h"
#include "preload/recorder/process_image.h"
#include "preload/recorder/recorder.h"
#include "preload/settings/setting.h"
#include "preload/sys/clock.h"
#include "scripts/sampler/looks.h"

#define NS_IN_S 1000000000u
#define LOOKS_IN_S 10u /* for new processes */
#define PRICED_LOOKS 10u
#define TURN_NS 100000u /* the least that the kernel grants */

/* The state of one run of the sampler; of its thread alone. */
struct sampling {
	struct sp_sampler *sampler;
	struct sp_sampled_processes processes;
	struct sp_looks looks;
	uint64_t begin_ns, flushed_ns;
	uint64_t mean_ns;		  /* between two looks */
	uint64_t priced_ns, priced_looks; /* at the last set_mean() */
};

static void put_counts(struct sampling *s)
{
	s->looks.samples.counts.cpu_ns = sp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	s->looks.samples.counts.wall_ns = sp_clock_ns(CLOCK_MONOTONIC) - s->begin_ns;
	s->looks.samples.counts.refused = s->processes.refused;
	s->looks.samples.counts.foreign = s->processes.foreign;
	sp_define(s->looks.samples.recorder, SP_DEFINE_SAMPLER, 0, &s->looks.samples.counts,
		  sizeof(s->looks.samples.counts), "", 0);
}

/* The recorder begins where the run's directory is: nothing of ours makes it. */
static bool may_record(struct sampling *s)
{
	if (s->looks.samples.recorder)
		return true;
	if (!s->sampler->is_ready(s->sampler->context))
		return false;
	if (!sp_process && !sp_process_init_sampler())
		return false;
	s->looks.samples.recorder = sp_thread_even_off();
	s->looks.names.recorder = s->looks.samples.recorder;
	if (s->looks.samples.recorder)
		put_counts(s);
	return s->looks.samples.recorder != NULL;
}

static bool has_found(const struct sp_sampled_processes *processes)
{
	if (processes->refused || processes->foreign)
		return true;
	for (uint32_t i = 0; i < processes->count; i++)
		if (processes->list[i].state == SP_SAMPLED_FOUND)
			return true;
	return false;
}

static void sample_all(struct sampling *s)
{
	s->looks.names.look = ++s->looks.samples.counts.ticks;
	for (uint32_t i = 0; i < s->processes.count; i++)
		if (s->processes.list[i].state == SP_SAMPLED_FOUND)
			sp_look_at_process(&s->looks, &s->processes.list[i]);
	s->looks.last = sp_clock_ticks();
}

/* A fixed interval would meet a loop of the same length always at the same place. */
static uint64_t interval_ns(struct sampling *s)
{
	return s->mean_ns / 2 + sp_looks_random(&s->looks) % (s->mean_ns + 1);
}

/* By the price of the looks since the last time. */
static void set_mean(struct sampling *s)
{
	uint64_t cpu_ns = sp_clock_ns(CLOCK_THREAD_CPUTIME_ID), price_ns,
		 looks = s->looks.samples.counts.ticks - s->priced_looks;

	if (!s->sampler->has_limit || looks < PRICED_LOOKS)
		return;
	price_ns = (cpu_ns - s->priced_ns) / looks * SP_SAMPLER_PRICE;
	s->priced_ns = cpu_ns;
	s->priced_looks = s->looks.samples.counts.ticks;
	s->mean_ns = NS_IN_S / s->sampler->rate;
	if (price_ns > s->mean_ns)
		s->mean_ns = price_ns;
}

static void sleep_until(uint64_t ns)
{
	struct timespec until = {(time_t)(ns / NS_IN_S), (long)(ns % NS_IN_S)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static void put_all(struct sampling *s)
{
	for (uint32_t i = 0; i < s->processes.count; i++)
		sp_look_finish(&s->looks, &s->processes.list[i]);
	sp_samples_flush(&s->looks.samples);
	put_counts(s);
}

/* Looks that wait for a free processor would find more threads asleep than there are: Linux 6.12
 * and later let a thread that asks for short turns go first. */
static void ask_for_short_turns(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attributes = {.size = sizeof(attributes)};

	if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) < 0 ||
	    attributes.policy != SCHED_OTHER)
		return;
	attributes.size = sizeof(attributes);
	attributes.runtime = TURN_NS;
	syscall(SYS_sched_setattr, 0, &attributes, 0);
}

static void *sample_run(void *argument)
{
	struct sampling *s = argument;
	uint64_t next = sp_clock_ns(CLOCK_MONOTONIC), looked = 0;

	s->begin_ns = s->flushed_ns = next;
	ask_for_short_turns();
	while (!atomic_load(&s->sampler->is_ended)) {
		uint64_t now = sp_clock_ns(CLOCK_MONOTONIC);
		bool looks = now - looked >= NS_IN_S / LOOKS_IN_S;

		if (looks) {
			sp_sampled_processes_look(&s->processes, s->sampler->root);
			set_mean(s);
			looked = now;
		}
		if ((s->looks.samples.recorder || (looks && has_found(&s->processes))) &&
		    may_record(s)) {
			sample_all(s);
			if (now - s->flushed_ns >= NS_IN_S) {
				sp_samples_flush(&s->looks.samples);
				put_counts(s);
				s->flushed_ns = now;
			}
		}
		next += interval_ns(s);
		now = sp_clock_ns(CLOCK_MONOTONIC);
		if (next < now)
			next = now + s->mean_ns; /* looks that came too late */
		sleep_until(next);
	}
	if (s->looks.samples.recorder) {
		put_all(s);
		sp_thread_finish();
		sp_process_end();
	}
	s->sampler->is_refused = s->processes.refused != 0;
	sp_python_names_finish(&s->looks.names);
	sp_sampled_processes_finish(&s->processes);
	free(s);
	return NULL;
}

void sp_sampler_ask(struct sp_sampler *sampler, const char *setting)
{
	unsigned long rate = setting ? strtoul(setting, NULL, 10) : 0;

	sampler->has_limit = setting && strcmp(setting, SP_SAMPLER_AUTO) == 0;
	if (sampler->has_limit)
		rate = SP_SAMPLER_RATE;
	sampler->rate = (unsigned)(rate < SP_SETTING_RATE_MAX ? rate : SP_SETTING_RATE_MAX);
}

int sp_sampler_start(struct sp_sampler *sampler, pid_t root)
{
	struct sampling *s;
	int error;

	if (!sampler->rate)
		return 0;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->sampler = sampler;
	s->processes.is_apart = sampler->is_apart;
	s->looks.samples.counts.rate = sampler->rate;
	s->mean_ns = NS_IN_S / sampler->rate;
	s->looks.random = sp_clock_ns(CLOCK_MONOTONIC) | 1;
	sampler->root = root;
	atomic_store(&sampler->is_ended, false);
	error = pthread_create(&sampler->thread, NULL, sample_run, s);
	sampler->is_running = error == 0;
	if (error)
		free(s);
	return -error;
}

void sp_sampler_stop(struct sp_sampler *sampler)
{
	if (!sampler->is_running)
		return;
	atomic_store(&sampler->is_ended, true);
	pthread_join(sampler->thread, NULL);
	sampler->is_running = false;
}
