/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/made_loop.h"

#include <check.h>

void loop_begin(void)
{
	judged_trace_begin();
	name(LOADER, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
	name(ZERO, "Optimizer.zero_grad#Adam.zero_grad");
	name(ADAM, "Optimizer.step#Adam.step");
	name(LABEL, "my label");
}

void work(uint64_t ns)
{
	m.now_ticks += ns;
}

void batch(void)
{
	span(SP_EV_torch_range, LOADER, WAIT_NS, 0);
}

void last_batch(void)
{
	span(SP_EV_torch_range, LOADER, LAST_NS, 0);
}

void zero_grad(void)
{
	span(SP_EV_torch_range, ZERO, ZERO_NS, 0);
}

void call_model(enum sp_phase phase)
{
	span(SP_EV_python_call, LABEL, FORWARD_NS, phase);
}

void backward(void)
{
	uint64_t start = m.now_ticks;

	span(SP_EV_torch_backward, LABEL, NODE_NS, 0);
	work(100);
	span(SP_EV_torch_backward, LABEL, NODE_NS, 0);
	sp_maker_around(&m, SP_EV_python_call, LABEL, start, SP_PHASE_backward);
}

void optimize(void)
{
	span(SP_EV_torch_range, ADAM, OPTIMIZER_NS, 0);
}

void forward_backward(void)
{
	work(FORWARD_NS);
	backward();
}

void train_batch(void)
{
	batch();
	zero_grad();
	forward_backward();
	optimize();
	work(AFTER_NS);
}

const struct sp_steps *steps(void)
{
	sp_maker_put(&m, folder, "a.zst");
	sp_load_one(&load, folder);
	ck_assert_uint_eq(load.report.training.count, 1);
	return &load.report.training.trainers[0].steps;
}

struct sp_account account(void)
{
	return sp_trainer_account(&load.report.training, &load.report.training.trainers[0]);
}

/* Before the first step and after the last one. */
static uint64_t known_at_ends(const struct sp_steps *s)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < s->pause_count; i++) {
		struct sp_account kept = sp_account_at_end(&s->pauses[i].account);

		if (!s->pauses[i].step || s->pauses[i].step == s->count)
			ns += sp_account_total(&kept);
	}
	return ns;
}

void check_whole(const struct sp_steps *s)
{
	struct sp_account sum = account();

	ck_assert_uint_eq(sp_account_total(&sum),
			  (uint64_t)(s->steps[s->count - 1].end_ns - s->steps[0].start_ns) +
				  known_at_ends(s));
	for (uint32_t i = 0; i < s->count; i++)
		ck_assert_uint_eq(sp_account_total(&s->steps[i].account),
				  (uint64_t)(s->steps[i].end_ns - s->steps[i].start_ns));
}

const struct sp_steps *whole_steps(uint32_t count)
{
	const struct sp_steps *s = steps();

	ck_assert_uint_eq(s->count, count);
	check_whole(s);
	return s;
}
