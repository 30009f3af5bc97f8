/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/sampler/sampler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "preload/recorder/process.h"
#include "preload/recorder/recorder.h"
#include "preload/sys/clock.h"
#include "scripts/sampler/python_names.h"
#include "scripts/sampler/python_walk.h"
#include "scripts/sampler/sampled_process.h"

#define NS_IN_S 1000000000u
#define NS_IN_US 1000u
#define LOOKS_IN_S 10u	    /* for new processes */
#define BUFFERED 100u	    /* samples; a definition has room for them */
#define MISSES_MAX 20u	    /* looks without a thread, after which CPython is searched again */
#define THREADS_MAX 4096u   /* states in the list of one process: a torn list may be a circle */
#define SAME_MAX_NS NS_IN_S /* a sample stands for at most this time */

/* The state of one run of the sampler; of its thread alone. */
struct sampling {
	struct sp_sampler *sampler;
	struct sp_thread *recorder; /* NULL: the run's directory is not there yet */
	struct sp_sampled_processes processes;
	struct sp_python_names names;
	struct sp_python_walk walk;
	struct sp_python_sample buffer[BUFFERED];
	uint32_t buffered;
	struct sp_sampler_metadata counts;
	uint64_t begin_ns, flushed_ns;
	uint64_t random;
};

static void flush(struct sampling *s)
{
	if (s->buffered)
		sp_define(s->recorder, SP_DEFINE_SAMPLES, 0, s->buffer,
			  s->buffered * (uint32_t)sizeof(s->buffer[0]), "", 0);
	s->buffered = 0;
}

static void put(struct sampling *s, struct sp_sampled_thread *thread)
{
	if (!thread->sample.samples)
		return;
	if (s->buffered == BUFFERED)
		flush(s);
	s->buffer[s->buffered++] = thread->sample;
	thread->sample.samples = 0;
}

static void put_counts(struct sampling *s)
{
	s->counts.cpu_ns = sp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	s->counts.wall_ns = sp_clock_ns(CLOCK_MONOTONIC) - s->begin_ns;
	s->counts.refused = s->processes.refused;
	s->counts.foreign = s->processes.foreign;
	sp_define(s->recorder, SP_DEFINE_SAMPLER, 0, &s->counts, sizeof(s->counts), "", 0);
}

static uint32_t microseconds(uint64_t ns)
{
	uint64_t us = ns / NS_IN_US;

	return us < UINT32_MAX ? (uint32_t)us : UINT32_MAX - 1;
}

/* The thread has not run since its last sample: its stack is the same. */
static bool extend(struct sampling *s, struct sp_sampled_thread *thread, uint64_t now,
		   uint64_t span_ns)
{
	struct sp_python_sample *sample = &thread->sample;

	if (sample->state == 'R' || sample->cpu_us || !sample->span_us)
		return false;
	if ((uint64_t)sample->span_us * NS_IN_US + span_ns > SAME_MAX_NS) {
		struct sp_python_sample next = *sample;

		put(s, thread);
		next.samples = next.span_us = 0;
		*sample = next;
	}
	sample->at = now;
	sample->samples++;
	sample->span_us += microseconds(span_ns);
	return true;
}

static int read_stack(struct sampling *s, const struct sp_sampled_process *process,
		      const struct sp_walk_thread *state, uint32_t *ret_stack)
{
	int r = sp_walk_stack(&s->walk, &process->python, process->pid, state);

	return r < 0 ? r
		     : sp_python_names_stack(&s->names, &process->python, process->pid, &s->walk,
					     ret_stack);
}

static void sample_thread(struct sampling *s, struct sp_sampled_process *process,
			  const struct sp_walk_thread *state)
{
	struct sp_sampled_thread *thread = sp_sampled_thread_of(process, state->tid);
	uint64_t now, cpu_ns = 0, turns = 0, span_ns;
	bool has_usage, has_run;
	uint32_t stack;

	if (!thread)
		return;
	thread->is_seen = true;
	now = sp_clock_ticks();
	span_ns = thread->last_ticks ? sp_clock_span_ns(now - thread->last_ticks) : 0;
	has_usage = sp_sampled_thread_usage(thread, &cpu_ns, &turns);
	has_run = !has_usage || cpu_ns != thread->cpu_ns || turns != thread->turns;
	if (has_run || !extend(s, thread, now, span_ns)) {
		char state_now = sp_sampled_thread_state(thread);

		if (read_stack(s, process, state, &stack) < 0) {
			s->counts.torn++;
			return;
		}
		put(s, thread);
		thread->sample = (struct sp_python_sample){
			.at = now,
			.pid = (uint32_t)process->pid,
			.tid = (uint32_t)thread->tid,
			.stack = stack,
			.samples = 1,
			.span_us = microseconds(span_ns),
			.cpu_us = has_usage ? microseconds(cpu_ns - thread->cpu_ns) : UINT32_MAX,
			.state = (uint32_t)state_now,
		};
	}
	s->counts.samples++;
	thread->last_ticks = now;
	thread->cpu_ns = cpu_ns;
	thread->turns = turns;
}

static void drop_ended_threads(struct sampling *s, struct sp_sampled_process *process)
{
	for (uint32_t i = process->thread_count; i > 0; i--) {
		struct sp_sampled_thread *thread = &process->threads[i - 1];

		if (!thread->is_seen) {
			put(s, thread);
			sp_sampled_thread_remove(process, i - 1);
		} else {
			thread->is_seen = false;
		}
	}
}

static void sample_process(struct sampling *s, struct sp_sampled_process *process)
{
	uint64_t at = sp_walk_first_thread(&process->python, process->pid);
	struct sp_walk_thread state;

	if (!at) { /* it ends, or calls exec */
		for (uint32_t i = 0; i < process->thread_count; i++)
			put(s, &process->threads[i]);
		if (++process->misses > MISSES_MAX)
			process->state = SP_SAMPLED_NEW;
		return;
	}
	process->misses = 0;
	for (uint32_t i = 0; at && i < THREADS_MAX; i++) {
		if (sp_walk_thread(&state, &process->python, process->pid, at) < 0)
			return; /* the threads after this one are looked at the next time */
		sample_thread(s, process, &state);
		at = state.next;
	}
	drop_ended_threads(s, process);
}

/* The recorder begins where the run's directory is: nothing of ours makes it. */
static bool may_record(struct sampling *s)
{
	if (s->recorder)
		return true;
	if (!s->sampler->is_ready(s->sampler->context))
		return false;
	if (!sp_process && !sp_process_init_sampler())
		return false;
	s->recorder = sp_thread_even_off();
	s->names.recorder = s->recorder;
	if (s->recorder)
		put_counts(s);
	return s->recorder != NULL;
}

static bool has_found(const struct sp_sampled_processes *processes)
{
	for (uint32_t i = 0; i < processes->count; i++)
		if (processes->list[i].state == SP_SAMPLED_FOUND)
			return true;
	return false;
}

static void sample_all(struct sampling *s)
{
	s->counts.ticks++;
	for (uint32_t i = 0; i < s->processes.count; i++)
		if (s->processes.list[i].state == SP_SAMPLED_FOUND)
			sample_process(s, &s->processes.list[i]);
}

/* A fixed interval would meet a loop of the same length always at the same place. */
static uint64_t interval_ns(struct sampling *s)
{
	uint64_t mean = NS_IN_S / s->sampler->rate;

	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return mean / 2 + s->random % (mean + 1);
}

static void sleep_until(uint64_t ns)
{
	struct timespec until = {(time_t)(ns / NS_IN_S), (long)(ns % NS_IN_S)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static void put_all(struct sampling *s)
{
	for (uint32_t i = 0; i < s->processes.count; i++)
		for (uint32_t k = 0; k < s->processes.list[i].thread_count; k++)
			put(s, &s->processes.list[i].threads[k]);
	flush(s);
	put_counts(s);
}

static void *sample_run(void *argument)
{
	struct sampling *s = argument;
	uint64_t next = sp_clock_ns(CLOCK_MONOTONIC), looked = 0;

	s->begin_ns = s->flushed_ns = next;
	while (!atomic_load(&s->sampler->is_ended)) {
		uint64_t now = sp_clock_ns(CLOCK_MONOTONIC);
		bool looks = now - looked >= NS_IN_S / LOOKS_IN_S;

		if (looks) {
			sp_sampled_processes_look(&s->processes, s->sampler->root);
			looked = now;
		}
		if ((s->recorder || (looks && has_found(&s->processes))) && may_record(s)) {
			sample_all(s);
			if (now - s->flushed_ns >= NS_IN_S) {
				flush(s);
				put_counts(s);
				s->flushed_ns = now;
			}
		}
		next += interval_ns(s);
		now = sp_clock_ns(CLOCK_MONOTONIC);
		if (next < now)
			next = now + NS_IN_S / s->sampler->rate; /* looks that came too late */
		sleep_until(next);
	}
	if (s->recorder) {
		put_all(s);
		sp_thread_finish();
		sp_process_end();
	}
	s->sampler->is_refused = s->processes.refused != 0;
	sp_python_names_finish(&s->names);
	sp_sampled_processes_finish(&s->processes);
	free(s);
	return NULL;
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
	s->counts.rate = sampler->rate;
	s->random = sp_clock_ns(CLOCK_MONOTONIC) | 1;
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
