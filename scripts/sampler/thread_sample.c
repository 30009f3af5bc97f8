/* SPDX-License-Identifier: Apache-2.0 */
#include "scripts/sampler/thread_sample.h"

#include "preload/sys/clock.h"

#define NS_IN_S 1000000000u
#define NS_IN_US 1000u
#define SAME_MAX_NS NS_IN_S /* a sample stands for at most this time */

void sp_samples_flush(struct sp_sample_buffer *samples)
{
	if (samples->buffered)
		sp_define(samples->recorder, SP_DEFINE_SAMPLES, 0, samples->buffer,
			  samples->buffered * (uint32_t)sizeof(samples->buffer[0]), "", 0);
	samples->buffered = 0;
}

void sp_sample_put(struct sp_sample_buffer *samples, struct sp_sampled_thread *thread)
{
	if (!thread->sample.samples)
		return;
	if (samples->buffered == SP_SAMPLES_BUFFERED)
		sp_samples_flush(samples);
	samples->buffer[samples->buffered++] = thread->sample;
	thread->sample.samples = 0;
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

void sp_sample_extend(struct sp_sample_buffer *samples, struct sp_sampled_thread *thread,
		      uint64_t now, uint32_t looks)
{
	struct sp_python_sample *sample = &thread->sample;
	uint64_t span_ns = span_since(thread, now);

	if (sample->cpu_us || !sample->span_us ||
	    (uint64_t)sample->span_us * NS_IN_US + span_ns > SAME_MAX_NS) {
		struct sp_python_sample next = *sample;

		sp_sample_put(samples, thread);
		next.samples = next.span_us = next.cpu_us = next.object = 0;
		*sample = next;
	}
	sample->at = now;
	sample->samples += looks;
	sample->span_us += microseconds(span_ns);
	thread->last_ticks = now;
	samples->counts.samples += looks;
}

static uint32_t chance_span(struct sp_sampled_thread *thread, uint32_t span_us)
{
	uint32_t more = span_us * (SP_SAMPLE_CHANCE - 1);

	if (!thread->was_chance || thread->sample.span_us <= more)
		return span_us;
	thread->sample.span_us -= more;
	return span_us + more;
}

void sp_sample_take(struct sp_sample_buffer *samples, const struct sp_sampled_process *process,
		    struct sp_sampled_thread *thread)
{
	uint64_t now = sp_clock_ticks();
	bool is_known = thread->has_usage && thread->has_usage_now;
	uint32_t span_us = chance_span(thread, microseconds(span_since(thread, now)));

	sp_sample_put(samples, thread);
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
	samples->counts.samples++;
	thread->last_ticks = now;
	thread->has_usage = thread->has_usage_now;
	thread->cpu_ns = thread->cpu_now;
	thread->turns = thread->turns_now;
}
