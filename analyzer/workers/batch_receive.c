/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/workers/batch_receive.h"

#include "analyzer/base/intervals.h"
#include "analyzer/steps/step.h"

/* 1 + index of the wait that holds the instant; 0: none does. */
static uint32_t wait_at(const struct sp_steps *s, int64_t at_ns)
{
	uint32_t i = SP_LOWER_BOUND(s->waits, s->wait_count, end_ns, at_ns);

	return i < s->wait_count && s->waits[i].start_ns <= at_ns ? i + 1 : 0;
}

void sp_receiving_take(struct sp_receiving *r, enum sp_stage stage, int64_t start_ns,
		       int64_t end_ns, int64_t value)
{
	uint32_t wait;

	if (stage != SP_STAGE_ipc_read && stage != SP_STAGE_wait)
		return;
	wait = wait_at(r->steps, end_ns);
	if (!wait)
		return;
	r->bytes += stage == SP_STAGE_ipc_read && value > 0 ? (uint64_t)value : 0;
	if (stage == SP_STAGE_wait && wait == r->wait) {
		r->received_ns -= end_ns - start_ns;
	} else if (stage == SP_STAGE_ipc_read && wait != r->wait) {
		r->wait = wait;
		r->received_ns += r->steps->waits[wait - 1].end_ns - end_ns;
	}
}

void sp_receiving_draw(struct sp_receiving *r, int64_t start_ns, int64_t end_ns)
{
	uint32_t wait = wait_at(r->steps, end_ns);

	if (!wait) {
		r->ahead_ns += (uint64_t)(end_ns - start_ns);
		return;
	}
	if (start_ns < r->steps->waits[wait - 1].start_ns)
		start_ns = r->steps->waits[wait - 1].start_ns;
	r->sampler_ns += (uint64_t)(end_ns - start_ns);
	if (wait == r->wait)
		r->received_ns -= end_ns - start_ns;
}

struct sp_batch_receive sp_receiving_sum(const struct sp_receiving *r)
{
	const struct sp_steps *s = r->steps;
	struct sp_batch_receive sum = {.ns = r->received_ns,
				       .bytes = r->bytes,
				       .sampler_ns = r->sampler_ns,
				       .ahead_ns = r->ahead_ns};

	if (s && s->wait_count) {
		const struct sp_interval *last = &s->waits[s->wait_count - 1];

		sum.all_batches = s->wait_count;
		sum.all_wait_ns = last->before_ns + (uint64_t)(last->end_ns - last->start_ns);
	}
	if (r->wait) {
		sum.batches = sum.all_batches;
		sum.wait_ns = sum.all_wait_ns;
	}
	return sum;
}
