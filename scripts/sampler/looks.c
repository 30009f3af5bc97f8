/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/sampler/looks.h"

#include <errno.h>
#include <string.h>

#include "preload/sys/clock.h"

#define MISSES_MAX 20u	   /* looks without a thread, after which CPython is searched again */
#define LEAF_CHANCE 16u	   /* looks at a running thread, of which one asks for its library */
#define IDLE_LOOKS 16u	   /* > 3/2 of SP_SAMPLE_CHANCE, whose samples take from this waiting */
#define ONE_INTERPRETER 2u /* heads: of interpreters, and of its threads */

/* The kernel has noted the instruction of the last sample meanwhile, or it is not known. */
static void take_leaf(struct sp_looks *looks, struct sp_sampled_process *process,
		      struct sp_sampled_thread *thread)
{
	uint64_t address = thread->sample.samples ? sp_native_leaf_take(&thread->leaf) : 0;
	struct sp_code_range *library =
		address ? sp_library_map_find(&process->libraries, process->pid, address) : NULL;

	if (!library)
		return;
	if (!library->id)
		library->id = sp_python_names_library(&looks->names, library->name);
	thread->sample.object = library->id;
}

/* Before the stack is read: the instruction is then of about the same instant. The kernel has to
 * interrupt another processor for it, which costs as much as the rest of the look. */
static void arm_leaf(struct sp_looks *looks, struct sp_sampled_thread *thread)
{
	bool was_refused = thread->leaf.is_refused;

	if (thread->state_now == 'R' && sp_looks_random(looks) % LEAF_CHANCE == 0 &&
	    sp_native_leaf_arm(&thread->leaf, thread->tid) < 0)
		looks->samples.counts.leafless += !was_refused && thread->leaf.is_refused;
}

/* The looks that passed the thread over count as if they had found it waiting. */
static void catch_up(struct sp_looks *looks, struct sp_sampled_thread *thread, uint64_t number)
{
	if (number > thread->look)
		sp_sample_extend(&looks->samples, thread, looks->last,
				 (uint32_t)(number - thread->look));
	thread->look = number;
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
 * Threads that have not run for some time are looked at once in SP_SAMPLE_CHANCE looks. One that is
 * found to have run stands for SP_SAMPLE_CHANCE looks, which are taken from its waiting: so no sort
 * of threads has too many or too few.
 */
static uint32_t look_at_threads(struct sp_looks *looks, struct sp_sampled_process *process)
{
	uint64_t now = sp_clock_ticks();
	uint32_t due = 0;

	process->has_chance = sp_looks_random(looks) % SP_SAMPLE_CHANCE == 0;
	if (process->is_idle && (!process->has_chance || !has_moved(process)))
		return 0;
	process->is_idle = true;
	for (uint32_t i = 0; i < process->thread_count; i++) {
		struct sp_sampled_thread *thread = &process->threads[i];

		take_leaf(looks, process, thread);
		thread->was_chance = is_idle(thread);
		thread->is_due = false;
		if (thread->was_chance && !process->has_chance)
			continue;
		if (thread->was_chance)
			catch_up(looks, thread, looks->samples.counts.ticks - 1);
		thread->look = looks->samples.counts.ticks;
		look_at_thread(process, thread);
		thread->was_chance &= thread->is_due;
		thread->idle_looks = thread->is_due ? 0 : thread->idle_looks + 1;
		process->is_idle &= is_idle(thread);
		due += thread->is_due;
		if (!thread->is_due && thread->is_seen)
			sp_sample_extend(&looks->samples, thread, now, 1);
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

static int read_due(struct sp_looks *looks, struct sp_sampled_process *process)
{
	sp_other_parts_begin(&looks->parts, process->pid);
	if (process->has_chance || process->head_count > ONE_INTERPRETER)
		for (uint32_t i = 0; i < process->head_count; i++)
			sp_other_parts_add(&looks->parts, process->heads[i].at, sizeof(uint64_t));
	looks->heads = looks->parts.count;
	for (uint32_t i = 0; i < process->thread_count; i++) {
		struct sp_sampled_thread *thread = &process->threads[i];

		if (thread->is_due)
			look_at_state(process, thread);
		if (thread->is_due)
			arm_leaf(looks, thread);
		if (thread->is_due)
			sp_walk_guess(&thread->guess, &looks->parts, &process->python,
				      thread->state);
	}
	return looks->parts.count ? sp_other_parts_read(&looks->parts) : 0;
}

/* False: an interpreter or a thread began or ended. */
static bool has_same_heads(const struct sp_looks *looks, const struct sp_sampled_process *process)
{
	for (uint32_t i = 0; i < looks->heads; i++)
		if (i >= looks->parts.read ||
		    memcmp(looks->parts.here[i].iov_base, &process->heads[i].value,
			   sizeof(uint64_t)) != 0)
			return false;
	return true;
}

/* Returns 0, -EAGAIN where the stack was torn, or -ESRCH where the thread has ended. */
static int read_stack(struct sp_looks *looks, const struct sp_sampled_process *process,
		      struct sp_sampled_thread *thread)
{
	int r = sp_walk_stack(&looks->walk, &thread->guess, &looks->parts, &process->python,
			      thread->state, thread->key);

	return r < 0 ? r
		     : sp_python_names_stack(&looks->names, &process->python, process->pid,
					     &looks->walk, &thread->last);
}

/* Samples of another state have the time of the thread. */
static void let_go(struct sp_looks *looks, struct sp_sampled_thread *thread)
{
	sp_sample_put(&looks->samples, thread);
	thread->last_ticks = 0;
}

static void read_stacks(struct sp_looks *looks, struct sp_sampled_process *process)
{
	for (uint32_t i = 0; i < process->thread_count; i++) {
		struct sp_sampled_thread *thread = &process->threads[i];
		int r;

		thread->is_read = false;
		if (!thread->is_due)
			continue;
		r = read_stack(looks, process, thread);
		thread->is_read = r == 0;
		if (r < 0)
			thread->leaf.armed_ns = 0; /* the last sample is of another instant */
		process->is_stale |= r == -ESRCH;
		looks->samples.counts.torn += r < 0 && r != -ESRCH;
	}
}

static void take_due(struct sp_looks *looks, struct sp_sampled_process *process)
{
	read_stacks(looks, process);
	for (uint32_t i = 0; i < process->thread_count; i++) {
		if (!process->threads[i].is_read)
			continue;
		if (is_taken(process, i))
			let_go(looks, &process->threads[i]);
		else
			sp_sample_take(&looks->samples, process, &process->threads[i]);
	}
}

static void drop_ended_threads(struct sp_looks *looks, struct sp_sampled_process *process)
{
	for (uint32_t i = process->thread_count; i > 0; i--)
		if (!process->threads[i - 1].is_seen) {
			sp_sample_put(&looks->samples, &process->threads[i - 1]);
			sp_sampled_thread_remove(process, i - 1);
		}
}

/* The process ends, or calls exec. */
static void miss(struct sp_looks *looks, struct sp_sampled_process *process)
{
	for (uint32_t i = 0; i < process->thread_count; i++) {
		sp_sample_put(&looks->samples, &process->threads[i]);
		process->threads[i].is_seen = false;
	}
	if (++process->misses <= MISSES_MAX)
		return;
	drop_ended_threads(looks, process);
	process->state = SP_SAMPLED_NEW;
}

/* Returns -EAGAIN where a thread of one of several interpreters began or ended: then the others'
 * stacks may be those of callers. */
static int look_once(struct sp_looks *looks, struct sp_sampled_process *process)
{
	if (process->is_stale || !process->thread_count) {
		int count = sp_sampled_process_list(process);

		if (count <= 0) {
			miss(looks, process);
			return 0;
		}
		drop_ended_threads(looks, process);
		process->is_idle = false;
	}
	if (look_at_threads(looks, process) == 0)
		return 0;
	if (read_due(looks, process) < 0) {
		process->is_stale = true;
		return 0;
	}
	process->misses = 0;
	if (has_same_heads(looks, process))
		return 1;
	process->is_stale = true;
	return process->head_count > ONE_INTERPRETER ? -EAGAIN : 1;
}

void sp_look_at_process(struct sp_looks *looks, struct sp_sampled_process *process)
{
	int r = look_once(looks, process);

	if (r == -EAGAIN)
		r = look_once(looks, process);
	if (r != 0)
		take_due(looks, process);
}

void sp_look_finish(struct sp_looks *looks, struct sp_sampled_process *process)
{
	for (uint32_t i = 0; i < process->thread_count; i++) {
		struct sp_sampled_thread *thread = &process->threads[i];

		take_leaf(looks, process, thread);
		if (is_idle(thread))
			catch_up(looks, thread, looks->samples.counts.ticks);
		sp_sample_put(&looks->samples, thread);
	}
}
