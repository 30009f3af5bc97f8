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
#include "preload/recorder/recorder.h"
#include "preload/settings/setting.h"
#include "preload/sys/clock.h"
#include "scripts/sampler/python_names.h"
#include "scripts/sampler/python_walk.h"
#include "scripts/sampler/sampled_process.h"

#define NS_IN_S 1000000000u
#define NS_IN_US 1000u
#define LOOKS_IN_S 10u	/* for new processes */
#define BUFFERED 100u	/* samples; a definition has room for them */
#define MISSES_MAX 20u	/* looks without a thread, after which CPython is searched again */
#define CHANCE 8u	/* see look_at_threads() */
#define LEAF_CHANCE 16u /* looks at a running thread, of which one asks for its library */
#define IDLE_LOOKS 16u	/* > CHANCE * 3 / 2: the waiting that a sample by chance takes from */
#define PRICED_LOOKS 10u
#define TURN_NS 100000u	    /* the least that the kernel grants */
#define ONE_INTERPRETER 2u  /* heads: of interpreters, and of its threads */
#define SAME_MAX_NS NS_IN_S /* a sample stands for at most this time */

/* The state of one run of the sampler; of its thread alone. */
struct sampling {
	struct sp_sampler *sampler;
	struct sp_thread *recorder; /* NULL: the run's directory is not there yet */
	struct sp_sampled_processes processes;
	struct sp_python_names names;
	struct sp_python_walk walk;
	struct sp_other_parts parts;
	uint32_t heads; /* of parts: words of struct sp_sampled_head */
	struct sp_python_sample buffer[BUFFERED];
	uint32_t buffered;
	struct sp_sampler_metadata counts;
	uint64_t begin_ns, flushed_ns;
	uint64_t last_look;		  /* ticks; the one before the look at hand */
	uint64_t mean_ns;		  /* between two looks */
	uint64_t priced_ns, priced_looks; /* at the last set_mean() */
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

static uint64_t random_of(struct sampling *s)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return s->random;
}

static uint32_t microseconds(uint64_t ns)
{
	uint64_t us = ns / NS_IN_US;

	return us < UINT32_MAX ? (uint32_t)us : UINT32_MAX - 1;
}

static uint64_t span_since(const struct sp_sampled_thread *thread, uint64_t now)
{
	return thread->last_ticks ? sp_clock_span_ns(now - thread->last_ticks) : 0;
}

/* The kernel has noted the instruction of the last sample meanwhile, or it is not known. */
static void take_leaf(struct sampling *s, struct sp_sampled_process *process,
		      struct sp_sampled_thread *thread)
{
	uint64_t address = thread->sample.samples ? sp_native_leaf_take(&thread->leaf) : 0;
	struct sp_code_range *library =
		address ? sp_library_map_find(&process->libraries, process->pid, address) : NULL;

	if (!library)
		return;
	if (!library->id)
		library->id = sp_python_names_library(&s->names, library->name);
	thread->sample.object = library->id;
}

/* Before the stack is read: the instruction is then of about the same instant. The kernel has to
 * interrupt another processor for it, which costs as much as the rest of the look. */
static void arm_leaf(struct sampling *s, struct sp_sampled_thread *thread)
{
	bool was_refused = thread->leaf.is_refused;

	if (thread->state_now == 'R' && random_of(s) % LEAF_CHANCE == 0 &&
	    sp_native_leaf_arm(&thread->leaf, thread->tid) < 0)
		s->counts.leafless += !was_refused && thread->leaf.is_refused;
}

/* The thread has not run since its last sample: its stack is the same, and so is its state. */
static void extend(struct sampling *s, struct sp_sampled_thread *thread, uint64_t now,
		   uint32_t looks)
{
	struct sp_python_sample *sample = &thread->sample;
	uint64_t span_ns = span_since(thread, now);

	if (sample->cpu_us || !sample->span_us ||
	    (uint64_t)sample->span_us * NS_IN_US + span_ns > SAME_MAX_NS) {
		struct sp_python_sample next = *sample;

		put(s, thread);
		next.samples = next.span_us = next.cpu_us = next.object = 0;
		*sample = next;
	}
	sample->at = now;
	sample->samples += looks;
	sample->span_us += microseconds(span_ns);
	thread->last_ticks = now;
	s->counts.samples += looks;
}

/* The looks that passed the thread over count as if they had found it waiting. */
static void catch_up(struct sampling *s, struct sp_sampled_thread *thread, uint64_t looks)
{
	if (looks > thread->look)
		extend(s, thread, s->last_look, (uint32_t)(looks - thread->look));
	thread->look = looks;
}

/* States of several interpreters may be of one thread. The newest interpreter that runs Python was
 * called by the others. */
static bool is_taken(const struct sp_sampled_process *process, uint32_t i)
{
	const struct sp_sampled_thread *thread = &process->threads[i];

	for (uint32_t k = 0; k < process->thread_count && process->head_count > ONE_INTERPRETER;
	     k++) {
		const struct sp_sampled_thread *other = &process->threads[k];
		bool has_stack = other->last.stack != 0;

		if (k != i && other->tid == thread->tid &&
		    (has_stack != (thread->last.stack != 0)
			     ? has_stack
			     : other->interpreter < thread->interpreter))
			return true;
	}
	return false;
}

static int read_usage(struct sp_sampled_thread *thread)
{
	int r = sp_sampled_thread_usage(thread, &thread->cpu_now, &thread->turns_now);

	thread->has_usage_now = r == 0;
	return r;
}

/* Returns 1 where the thread has run since its last sample, 0 where it has not, or -ESRCH. A thread
 * that runs may have no count of it yet. */
static int has_run(struct sp_sampled_thread *thread)
{
	int r;

	thread->has_usage_now = false;
	if (!thread->last_ticks || !thread->has_usage)
		return 1;
	r = read_usage(thread);
	if (r < 0)
		return r == -ESRCH ? r : 1;
	return thread->cpu_now != thread->cpu_ns || thread->turns_now != thread->turns;
}

static void look_at_thread(struct sp_sampled_process *process, struct sp_sampled_thread *thread)
{
	int r = has_run(thread);

	thread->is_due = r > 0;
	thread->has_run |= thread->is_due;
	thread->is_seen = r != -ESRCH;
	process->is_stale |= r == -ESRCH;
}

static bool is_idle(const struct sp_sampled_thread *thread)
{
	return thread->last_ticks && thread->idle_looks >= IDLE_LOOKS;
}

/* Some thread of the process has run since the last call. */
static bool has_moved(struct sp_sampled_process *process)
{
	uint64_t clock_ns = sp_clock_ns(process->clock), before_ns = process->clock_ns;

	process->clock_ns = clock_ns;
	return clock_ns != before_ns;
}

/*
 * Threads that have not run for some time are looked at once in CHANCE looks. One that is found to
 * have run stands for CHANCE looks, which are taken from its waiting: so no sort of threads has too
 * many or too few.
 */
static uint32_t look_at_threads(struct sampling *s, struct sp_sampled_process *process)
{
	uint64_t now = sp_clock_ticks();
	uint32_t due = 0;

	process->has_chance = random_of(s) % CHANCE == 0;
	if (process->is_idle && (!process->has_chance || !has_moved(process)))
		return 0;
	process->is_idle = true;
	for (uint32_t i = 0; i < process->thread_count; i++) {
		struct sp_sampled_thread *thread = &process->threads[i];

		take_leaf(s, process, thread);
		thread->was_chance = is_idle(thread);
		thread->is_due = false;
		if (thread->was_chance && !process->has_chance)
			continue;
		if (thread->was_chance)
			catch_up(s, thread, s->counts.ticks - 1);
		thread->look = s->counts.ticks;
		look_at_thread(process, thread);
		thread->was_chance &= thread->is_due;
		thread->idle_looks = thread->is_due ? 0 : thread->idle_looks + 1;
		process->is_idle &= is_idle(thread);
		due += thread->is_due;
		if (!thread->is_due && thread->is_seen)
			extend(s, thread, now, 1);
	}
	return due;
}

/* The state is of the instant of the stack. A waiting thread's usage is of before the stack: one
 * that has the same usage the next time has not run. */
static void look_at_state(struct sp_sampled_process *process, struct sp_sampled_thread *thread)
{
	int r = sp_sampled_thread_state(thread, &thread->state_now);

	if (r == 0 && thread->state_now != 'R' && !thread->has_usage_now)
		r = read_usage(thread);
	if (r == -ESRCH) {
		thread->is_due = thread->is_seen = false;
		process->is_stale = true;
	}
}

static int read_due(struct sampling *s, struct sp_sampled_process *process)
{
	sp_other_parts_begin(&s->parts, process->pid);
	if (process->has_chance || process->head_count > ONE_INTERPRETER)
		for (uint32_t i = 0; i < process->head_count; i++)
			sp_other_parts_add(&s->parts, process->heads[i].at, sizeof(uint64_t));
	s->heads = s->parts.count;
	for (uint32_t i = 0; i < process->thread_count; i++) {
		struct sp_sampled_thread *thread = &process->threads[i];

		if (thread->is_due)
			look_at_state(process, thread);
		if (thread->is_due)
			arm_leaf(s, thread);
		if (thread->is_due)
			sp_walk_guess(&thread->guess, &s->parts, &process->python, thread->state);
	}
	return s->parts.count ? sp_other_parts_read(&s->parts) : 0;
}

/* False: an interpreter or a thread began or ended. */
static bool has_same_heads(const struct sampling *s, const struct sp_sampled_process *process)
{
	for (uint32_t i = 0; i < s->heads; i++)
		if (i >= s->parts.read || memcmp(s->parts.here[i].iov_base,
						 &process->heads[i].value, sizeof(uint64_t)) != 0)
			return false;
	return true;
}

static uint32_t chance_span(struct sp_sampled_thread *thread, uint32_t span_us)
{
	uint32_t more = span_us * (CHANCE - 1);

	if (!thread->was_chance || thread->sample.span_us <= more)
		return span_us;
	thread->sample.span_us -= more;
	return span_us + more;
}

static void take_stack(struct sampling *s, const struct sp_sampled_process *process,
		       struct sp_sampled_thread *thread)
{
	uint64_t now = sp_clock_ticks();
	bool is_known = thread->has_usage && thread->has_usage_now;
	uint32_t span_us = chance_span(thread, microseconds(span_since(thread, now)));

	put(s, thread);
	thread->sample = (struct sp_python_sample){
		.at = now,
		.pid = (uint32_t)process->pid,
		.tid = (uint32_t)thread->tid,
		.stack = thread->last.stack,
		.samples = 1,
		.span_us = span_us,
		.cpu_us = is_known ? microseconds(thread->cpu_now - thread->cpu_ns) : UINT32_MAX,
		.state = (uint32_t)thread->state_now,
	};
	s->counts.samples++;
	thread->last_ticks = now;
	thread->has_usage = thread->has_usage_now;
	thread->cpu_ns = thread->cpu_now;
	thread->turns = thread->turns_now;
}

/* Returns 0, -EAGAIN where the stack was torn, or -ESRCH where the thread has ended. */
static int read_stack(struct sampling *s, const struct sp_sampled_process *process,
		      struct sp_sampled_thread *thread)
{
	int r = sp_walk_stack(&s->walk, &thread->guess, &s->parts, &process->python, thread->state,
			      thread->key);

	return r < 0 ? r
		     : sp_python_names_stack(&s->names, &process->python, process->pid, &s->walk,
					     &thread->last);
}

/* Samples of another state have the time of the thread. */
static void let_go(struct sampling *s, struct sp_sampled_thread *thread)
{
	put(s, thread);
	thread->last_ticks = 0;
}

static void read_stacks(struct sampling *s, struct sp_sampled_process *process)
{
	for (uint32_t i = 0; i < process->thread_count; i++) {
		struct sp_sampled_thread *thread = &process->threads[i];
		int r;

		thread->is_read = false;
		if (!thread->is_due)
			continue;
		r = read_stack(s, process, thread);
		thread->is_read = r == 0;
		if (r < 0)
			thread->leaf.armed_ns = 0; /* the last sample is of another instant */
		process->is_stale |= r == -ESRCH;
		s->counts.torn += r < 0 && r != -ESRCH;
	}
}

static void take_due(struct sampling *s, struct sp_sampled_process *process)
{
	read_stacks(s, process);
	for (uint32_t i = 0; i < process->thread_count; i++) {
		if (!process->threads[i].is_read)
			continue;
		if (is_taken(process, i))
			let_go(s, &process->threads[i]);
		else
			take_stack(s, process, &process->threads[i]);
	}
}

static void drop_ended_threads(struct sampling *s, struct sp_sampled_process *process)
{
	for (uint32_t i = process->thread_count; i > 0; i--)
		if (!process->threads[i - 1].is_seen) {
			put(s, &process->threads[i - 1]);
			sp_sampled_thread_remove(process, i - 1);
		}
}

/* The process ends, or calls exec. */
static void miss(struct sampling *s, struct sp_sampled_process *process)
{
	for (uint32_t i = 0; i < process->thread_count; i++) {
		put(s, &process->threads[i]);
		process->threads[i].is_seen = false;
	}
	if (++process->misses <= MISSES_MAX)
		return;
	drop_ended_threads(s, process);
	process->state = SP_SAMPLED_NEW;
}

/* Returns -EAGAIN where a thread of one of several interpreters began or ended: then the others'
 * stacks may be those of callers. */
static int sample_once(struct sampling *s, struct sp_sampled_process *process)
{
	if (process->is_stale || !process->thread_count) {
		int count = sp_sampled_process_list(process);

		if (count <= 0) {
			miss(s, process);
			return 0;
		}
		drop_ended_threads(s, process);
		process->is_idle = false;
	}
	if (look_at_threads(s, process) == 0)
		return 0;
	if (read_due(s, process) < 0) {
		process->is_stale = true;
		return 0;
	}
	process->misses = 0;
	if (has_same_heads(s, process))
		return 1;
	process->is_stale = true;
	return process->head_count > ONE_INTERPRETER ? -EAGAIN : 1;
}

static void sample_process(struct sampling *s, struct sp_sampled_process *process)
{
	int r = sample_once(s, process);

	if (r == -EAGAIN)
		r = sample_once(s, process);
	if (r != 0)
		take_due(s, process);
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
	if (processes->refused || processes->foreign)
		return true;
	for (uint32_t i = 0; i < processes->count; i++)
		if (processes->list[i].state == SP_SAMPLED_FOUND)
			return true;
	return false;
}

static void sample_all(struct sampling *s)
{
	s->names.look = ++s->counts.ticks;
	for (uint32_t i = 0; i < s->processes.count; i++)
		if (s->processes.list[i].state == SP_SAMPLED_FOUND)
			sample_process(s, &s->processes.list[i]);
	s->last_look = sp_clock_ticks();
}

/* A fixed interval would meet a loop of the same length always at the same place. */
static uint64_t interval_ns(struct sampling *s)
{
	return s->mean_ns / 2 + random_of(s) % (s->mean_ns + 1);
}

/* By the price of the looks since the last time. */
static void set_mean(struct sampling *s)
{
	uint64_t cpu_ns = sp_clock_ns(CLOCK_THREAD_CPUTIME_ID), price_ns,
		 looks = s->counts.ticks - s->priced_looks;

	if (!s->sampler->has_limit || looks < PRICED_LOOKS)
		return;
	price_ns = (cpu_ns - s->priced_ns) / looks * SP_SAMPLER_PRICE;
	s->priced_ns = cpu_ns;
	s->priced_looks = s->counts.ticks;
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
		for (uint32_t k = 0; k < s->processes.list[i].thread_count; k++) {
			struct sp_sampled_thread *thread = &s->processes.list[i].threads[k];

			take_leaf(s, &s->processes.list[i], thread);
			if (is_idle(thread))
				catch_up(s, thread, s->counts.ticks);
			put(s, thread);
		}
	flush(s);
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
			next = now + s->mean_ns; /* looks that came too late */
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
	s->counts.rate = sampler->rate;
	s->mean_ns = NS_IN_S / sampler->rate;
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
