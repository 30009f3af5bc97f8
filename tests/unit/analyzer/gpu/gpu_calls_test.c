/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of CUDA in made traces of trainers on a device: idle time, the phase of each call, bytes.
 * One tick is one ns.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/training/training_account.h"
#include "tests/unit/common/judged_trace.h"
#include "tests/unit/common/suite.h"

enum { LOADER = 1, ADAM, ZERO, LABEL, KERNEL };

enum { STEPS = 30, WAIT_NS = 1000, WORK_NS = 1000000, SET_UP_NS = 976000000 };

static void setup(void)
{
	judged_trace_begin();
	name(LOADER, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
	name(ADAM, "Optimizer.step#Adam.step");
	name(ZERO, "Optimizer.zero_grad#Adam.zero_grad");
	name(LABEL, "a label");
	name(KERNEL, "a_kernel");
}

static void launch(void)
{
	span(SP_EV_cudaLaunchKernel, 0, 5000, 0);
}

/* A launch in each phase of the step, and zero_grad between forward and backward. */
static void step(void)
{
	uint64_t start;

	span(SP_EV_torch_range, LOADER, WAIT_NS, 0);
	span(SP_EV_cudaMemcpyAsync, sp_cuda_arg_make(0, SP_COPY_TO_DEVICE, SP_COPY_HOST_PINNED),
	     2000, 4096);
	launch();
	m.now_ticks += WORK_NS;
	start = m.now_ticks;
	span(SP_EV_cudaMemsetAsync, 0, 1000, 512);
	sp_maker_around(&m, SP_EV_torch_range, ZERO, start, 0);
	start = m.now_ticks;
	span(SP_EV_cudaStreamWaitEvent, 0, 100, 0);
	launch();
	m.now_ticks += WORK_NS;
	sp_maker_around(&m, SP_EV_python_call, LABEL, start, SP_PHASE_backward);
	start = m.now_ticks;
	launch();
	sp_maker_around(&m, SP_EV_torch_range, ADAM, start, 0);
	span(SP_EV_cudaStreamSynchronize, 0, WORK_NS, 0);
}

/* Set-up is no idle time of the training, whatever sync it began with. */
START_TEST(a_sync_before_the_first_step_is_not_charged_to_it)
{
	launch();
	span(SP_EV_cudaStreamSynchronize, 0, WORK_NS, 0);
	m.now_ticks += SET_UP_NS;
	for (int i = 0; i < STEPS; i++)
		step();
	judge();
	ck_assert_str_ne(sp_rule_of(v.id)->code, "sync-bound");
	/* from each sync to the next wait, and from the wait to the copy: nothing */
	ck_assert_uint_eq(load.report.device_calls.idle_ns, 0);
}
END_TEST

static void check_row(const char *view, const char *row)
{
	char *text = sp_load_print(&load, view, SP_FORMAT_JSON);

	ck_assert_msg(strstr(text, row) != NULL, "no %s in %s", row, text);
	free(text);
}

/* The trace has no time of the device, as with STAGEPROF_WITHOUT=gpu_time. Copies are 4096 bytes a
 * step, sets 512. The last sync comes after the last step. */
START_TEST(calls_have_the_phase_of_the_host)
{
	for (int i = 0; i < STEPS; i++)
		step();
	judge();
	check_row("cuda", "\"part\":\"forward\",\"launches\":30,\"copies\":30,\"bytes\":122880,"
			  "\"sets\":0,\"set_bytes\":0,\"syncs\":0,");
	check_row("cuda", "\"part\":\"backward\",\"launches\":30,\"copies\":0,\"bytes\":0,"
			  "\"sets\":0,\"set_bytes\":0,\"syncs\":0,\"blocking_copies\":0,"
			  "\"host_ns\":153000,\"gpu_ns\":null");
	check_row("cuda", "\"part\":\"optimizer\",\"launches\":30,\"copies\":0,\"bytes\":0,");
	check_row("cuda", "\"part\":\"zero_grad\",\"launches\":0,\"copies\":0,\"bytes\":0,"
			  "\"sets\":30,\"set_bytes\":15360,");
	check_row("cuda", "\"part\":\"other\",\"launches\":0,\"copies\":0,\"bytes\":0,\"sets\":0,"
			  "\"set_bytes\":0,\"syncs\":29,");
}
END_TEST

/* A kernel on the GPU for the launch of each step's forward, which began launched_ns ago. */
static void kernel(struct sp_maker *gpu, uint64_t launched_ticks)
{
	sp_maker_span(gpu, SP_EV_gpu_kernel, KERNEL, launched_ticks + 6000, launched_ticks + 26000,
		      0);
	sp_maker_extra(gpu, 0, 0, (int64_t)launched_ticks);
}

START_TEST(kernels_of_a_forward_before_zero_grad_are_forward)
{
	struct sp_maker gpu;

	sp_maker_init(&gpu, 10, 11, 0);
	sp_maker_header(&gpu);
	sp_maker_define(&gpu, SP_DEFINE_NAME, KERNEL, "a_kernel", 8);
	for (int i = 0; i < STEPS; i++) {
		/* after the wait and the copy */
		uint64_t launched = m.now_ticks + WAIT_NS + 2000;

		step();
		kernel(&gpu, launched);
	}
	sp_maker_put(&gpu, folder, "gpu.zst");
	judge();
	check_row("kernels", "\"total_ns\":600000,");
	check_row("kernels", "\"forward_ns\":600000,");
	check_row("kernels", "\"other_ns\":0");
}
END_TEST

static void train(void)
{
	uint64_t start;

	span(SP_EV_torch_range, ZERO, 1000, 0);
	launch();
	start = m.now_ticks;
	m.now_ticks += WORK_NS;
	sp_maker_around(&m, SP_EV_python_call, LABEL, start, SP_PHASE_backward);
	span(SP_EV_torch_range, ADAM, 1000, 0);
}

static void batch(void)
{
	span(SP_EV_torch_range, LOADER, WAIT_NS, 0);
}

/* As the documents of PyTorch say: warm up, capture, and replay for each batch. _i: 0: the input of
 * the warm-up is the loop's own, 1: it is a batch, 2: there is no loader at all. */
START_TEST(each_replay_is_a_step_and_no_warm_up)
{
	const struct sp_steps *s;

	if (_i == 1)
		batch();
	for (int i = 0; i < 3; i++)
		train();
	span(SP_EV_cudaStreamBeginCapture, 0, 1000, 0);
	train();
	span(SP_EV_cudaStreamEndCapture, 0, 1000, 0);
	for (int i = 0; i < STEPS; i++) {
		if (_i < 2)
			batch();
		span(SP_EV_cudaGraphLaunch, 0, 5000, 0);
		span(SP_EV_cudaStreamSynchronize, 0, WORK_NS, 0);
	}
	judge();
	s = &load.report.training.trainers[0].steps;
	ck_assert_int_eq(s->end, SP_STEP_BY_GRAPH);
	ck_assert_uint_eq(s->count, STEPS);
	for (uint32_t i = 0; i < s->count; i++)
		ck_assert_int_le(s->steps[i].end_ns - s->steps[i].start_ns, WORK_NS + 10000);
	ck_assert_uint_eq(sp_training_account(&load.report.training).ns[SP_ACCOUNT_backward], 0);
}
END_TEST

/* Steps that take a batch each are steps, though graphs follow them. */
START_TEST(steps_before_a_capture_are_steps)
{
	for (int i = 0; i < 3; i++) {
		batch();
		train();
	}
	batch();
	span(SP_EV_cudaStreamBeginCapture, 0, 1000, 0);
	train();
	span(SP_EV_cudaStreamEndCapture, 0, 1000, 0);
	for (int i = 0; i < STEPS; i++) {
		if (i)
			batch();
		span(SP_EV_cudaGraphLaunch, 0, 5000, 0);
	}
	judge();
	ck_assert_uint_eq(load.report.training.trainers[0].steps.count, 3 + STEPS);
}
END_TEST

/* Autograd's thread: two calls in each backward, of which one lies in the other, and one that ends
 * before any. */
START_TEST(nccl_of_another_thread_is_communication_in_backward)
{
	struct sp_maker autograd;
	struct sp_account sum;
	char *text;

	sp_maker_init(&autograd, 10, 11, 0);
	sp_maker_header(&autograd);
	sp_maker_event(&autograd, SP_EV_ncclAllReduce, 0, 10, 4096);
	m.now_ticks += 100000;
	for (int i = 0; i < STEPS; i++) {
		uint64_t backward;

		batch();
		train();
		backward = m.now_ticks - 1000 - WORK_NS;
		sp_maker_span(&autograd, SP_EV_ncclAllReduce, 0, backward + 1000, backward + 21000,
			      1 << 24);
		sp_maker_span(&autograd, SP_EV_ncclGroupEnd, 0, backward + 11000, backward + 31000,
			      0);
	}
	sp_maker_put(&autograd, folder, "autograd.zst");
	judge();
	sum = sp_training_account(&load.report.training);
	ck_assert_uint_eq(sum.ns[SP_ACCOUNT_grad_sync], STEPS * 30000);
	ck_assert_uint_eq(sum.ns[SP_ACCOUNT_backward], (uint64_t)STEPS * (WORK_NS - 30000));
	text = sp_load_print(&load, "summary", SP_FORMAT_TABLE);
	ck_assert_ptr_nonnull(strstr(text, "900 µs of it NCCL calls in backward, on other "
					   "threads"));
	free(text);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("gpu_calls");
	TCase *c = tcase_create("gpu_calls");

	tcase_add_checked_fixture(c, setup, judged_trace_end);
	tcase_add_test(c, a_sync_before_the_first_step_is_not_charged_to_it);
	tcase_add_test(c, calls_have_the_phase_of_the_host);
	tcase_add_test(c, kernels_of_a_forward_before_zero_grad_are_forward);
	tcase_add_loop_test(c, each_replay_is_a_step_and_no_warm_up, 0, 3);
	tcase_add_test(c, steps_before_a_capture_are_steps);
	tcase_add_test(c, nccl_of_another_thread_is_communication_in_backward);
	suite_add_tcase(s, c);
	return s;
}

int main(void)
{
	return sp_suite_run(suite());
}
