/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/cuda/cuda_chain.h"

#include <errno.h>

#include "preload/cuda/abi_cuda.h"
#include "preload/cuda/cuda_events.h"
#include "preload/recorder/recorder.h"
#include "trace/events.h"

static struct sp_cuda_mark *mark_at(struct sp_cuda_chain *c, uint32_t number)
{
	return &c->marks[number % SP_CUDA_MARKS];
}

int sp_cuda_chain_is_open(const struct sp_cuda_chain *c)
{
	return c->put && c->marks[(c->put - 1) % SP_CUDA_MARKS].kind == SP_CUDA_MARK_BEGIN;
}

int sp_cuda_chain_is_full(const struct sp_cuda_chain *c)
{
	return c->put - c->got > SP_CUDA_MARKS - 3;
}

uint32_t sp_cuda_chain_outstanding(const struct sp_cuda_chain *c)
{
	uint32_t pairs = (uint32_t)sp_cuda_chain_is_open(c);

	for (uint32_t i = c->got; i < c->put; i++)
		pairs += c->marks[i % SP_CUDA_MARKS].kind == SP_CUDA_MARK_END;
	return pairs;
}

void sp_cuda_chain_drop(struct sp_cuda_chain *c)
{
	c->dropped++;
	if (sp_cuda_chain_is_open(c))
		mark_at(c, c->put - 1)->kind = SP_CUDA_MARK_LONE;
}

/* The stream's context must be current if the stream has no handle of its own. */
static int record_in_context(struct sp_cuda_chain *c, struct sp_cuda_mark *mark)
{
	int ret = mark->event ? 0 : sp_cuda_events.cuEventCreate(&mark->event, 0);

	if (ret)
		mark->event = NULL;
	return ret ? ret : sp_cuda_events.cuEventRecord(mark->event, c->stream);
}

static int record(struct sp_cuda_chain *c, struct sp_cuda_mark *mark)
{
	void *current = NULL;
	int status = 0, ret, pushed;

	if (sp_cuda_events.cuCtxGetCurrent(&current))
		return -EINVAL;
	pushed = current != c->context;
	if (pushed && sp_cuda_events.cuCtxPushCurrent_v2(c->context))
		return -EINVAL;
	ret = sp_cuda_events.cuStreamIsCapturing(c->stream, &status);
	if (!ret)
		ret = status ? -EBUSY : record_in_context(c, mark);
	if (pushed)
		sp_cuda_events.cuCtxPopCurrent_v2(&current);
	return ret;
}

int sp_cuda_chain_put(struct sp_cuda_chain *c, uint32_t phase, enum sp_cuda_mark_kind kind)
{
	struct sp_cuda_mark *mark = mark_at(c, c->put);
	int ret;

	mark->recorded = sp_clock_ticks();
	mark->phase = phase;
	mark->kind = (uint8_t)kind;
	mark->is_drained = c->got == c->put;
	ret = record(c, mark);
	if (!ret)
		c->put++;
	return ret;
}

static void pair_emit(struct sp_cuda_chain *c, const struct sp_cuda_mark *end, uint64_t ticks)
{
	const struct sp_cuda_mark *begin = mark_at(c, c->got - 1);
	struct sp_thread *t = sp_enter();
	uint64_t words[3] = {c->began_lag, end->recorded - begin->recorded,
			     c->device | (uint64_t)c->number << 8 | (uint64_t)c->dropped << 32};

	if (!t)
		return;
	sp_emit_extra(t, SP_EV_gpu_span, sp_cuda_arg_make((uintptr_t)c->stream, 0, 0), c->began,
		      ticks, begin->phase, words);
	c->dropped = 0;
}

/*
 * The time at which the mark was reached, on the trace's clock: the time of the mark before plus
 * the device's interval, but not before the mark was recorded nor after it was seen as reached. A
 * mark on an idle stream is reached as it is recorded, which aligns both clocks.
 */
static uint64_t reached_when(const struct sp_cuda_chain *c, const struct sp_cuda_mark *mark,
			     uint64_t ticks, uint64_t seen)
{
	uint64_t at = c->got ? c->reached + ticks : mark->recorded;

	if (mark->is_drained || at < mark->recorded)
		return mark->recorded;
	return at < seen ? at : seen;
}

/* Milliseconds on the device since the previous mark;
 * 0 for the first. Returns 0 or CUDA's error. */
static int elapsed_ticks(struct sp_cuda_chain *c, const struct sp_cuda_mark *mark,
			 uint64_t *ret_ticks)
{
	float ms = 0;
	int ret = c->got ? sp_cuda_events.cuEventElapsedTime(&ms, mark_at(c, c->got - 1)->event,
							     mark->event)
			 : 0;

	*ret_ticks =
		ms > 0 ? (uint64_t)((double)ms * (double)sp_recorder_clock.ticks_per_second / 1e3)
		       : 0;
	return ret;
}

int sp_cuda_chain_collect(struct sp_cuda_chain *c)
{
	while (c->got < c->put) {
		struct sp_cuda_mark *mark = mark_at(c, c->got);
		int ret = sp_cuda_events.cuEventQuery(mark->event);
		uint64_t seen = sp_clock_ticks(), ticks;

		if (ret == SP_CUDA_NOT_READY)
			return 0;
		if (!ret)
			ret = elapsed_ticks(c, mark, &ticks);
		if (ret)
			return ret;
		c->reached = reached_when(c, mark, ticks, seen);
		if (mark->kind == SP_CUDA_MARK_END) {
			pair_emit(c, mark, ticks);
		} else {
			c->began = c->reached;
			c->began_lag = c->reached - mark->recorded;
		}
		c->got++;
	}
	return 0;
}

void sp_cuda_chain_release(struct sp_cuda_chain *c)
{
	c->dropped += sp_cuda_chain_outstanding(c);
	c->stream = NULL;
	c->owner = NULL;
	c->put = c->got = 0;
}
