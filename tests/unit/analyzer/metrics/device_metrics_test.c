/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of a device in made traces: launches, copies, waits and allocations. One tick is one ns.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/verdict/verdict_text.h"
#include "analyzer/gpu/gpu_sums.h"
#include "analyzer/training/training_account.h"
#include "analyzer/verdict/whatif.h"
#include "tests/unit/analyzer/metrics/usual_step.h"
#include "tests/unit/common/suite.h"

/* A sync at the end of each step, WORK_NS of launches in it, and a gap before the next launch. */
static void device_step(uint64_t sync_ns)
{
	span(SP_EV_torch_range, LOADER, WAIT_NS, 0);
	m.now_ticks += 50000; /* the device is idle, where it was waited for */
	for (int i = 0; i < 10; i++)
		span(SP_EV_cudaLaunchKernel, 0, 10000, 0);
	span(SP_EV_torch_backward, ADAM, WORK_NS, 0);
	span(SP_EV_torch_range, ADAM, ADAM_NS, 0);
	if (!sync_ns)
		return;
	/* what .item() does: the wait is in the sync, or in the copy */
	span(SP_EV_cudaMemcpyAsync, sp_cuda_arg_make(0, SP_COPY_TO_HOST, SP_COPY_HOST_PAGEABLE),
	     2000, 8);
	span(SP_EV_cudaStreamSynchronize, 0, sync_ns, 0);
}

START_TEST(a_wait_behind_a_sync_is_lost)
{
	names();
	for (int i = 0; i < STEPS; i++)
		device_step(2 * WORK_NS);
	judge();
	ck_assert(v.metrics.has_device);
	ck_assert(v.metrics.is_queue_known);
	ck_assert(!v.doubts[SP_DOUBT_queue]);
	ck_assert_double_eq_tol(value(SP_METRIC_lost_wait_share),
				value(SP_METRIC_loader_wait_share), 1e-9);
	ck_assert_double_eq_tol(value(SP_METRIC_launches_per_step), 10, 0.3);
	/* only the gap after the wait is the sync's */
	ck_assert_double_eq_tol(value(SP_METRIC_sync_cost_share),
				50000.0 / (WAIT_NS + 50000 + 100000 + 3 * WORK_NS + ADAM_NS),
				0.002);
}
END_TEST

/* Beside validation that takes as long as all steps, a steady step waits for the device as long as
 * without it. */
START_TEST(a_what_if_is_about_a_steady_step)
{
	const double sync_ns = WORK_NS, wake_ns = 0.15 * WORK_NS;
	struct sp_what_if w;

	names();
	for (int i = 0; i < STEPS; i++) {
		device_step(WORK_NS);
		for (int k = 0; _i && i % 10 == 5 && k < 4; k++) {
			span(SP_EV_torch_range, LOADER, WAIT_NS, 0);
			span(SP_EV_python_call, ADAM, 8 * WORK_NS, SP_PHASE_forward_no_grad);
		}
	}
	judge();
	ck_assert_int_eq(is_known(SP_METRIC_validation_share) &&
				 value(SP_METRIC_validation_share) > 0.3,
			 _i);
	w = sp_what_if_make(&v.metrics, SP_WHAT_IF_no_syncs, SP_WORKERS_UNASKED);
	ck_assert(w.is_known);
	ck_assert_double_eq_tol(w.low_ns / w.now_ns, 1 - (sync_ns + wake_ns) / w.now_ns, 0.02);
}
END_TEST

START_TEST(a_wait_behind_a_launch_is_not_known_to_be_lost)
{
	names();
	for (int i = 0; i < STEPS; i++)
		device_step(0);
	judge();
	ck_assert(!v.metrics.is_queue_known);
	/* what is not surely hidden counts */
	ck_assert_double_eq_tol(value(SP_METRIC_lost_wait_share),
				value(SP_METRIC_loader_wait_share), 1e-9);
	ck_assert(v.doubts[SP_DOUBT_queue]);
	ck_assert(!is_known(SP_METRIC_sync_share));
	/* the device may be slow: no wait for it shows how slow */
	ck_assert(!is_known(SP_METRIC_launch_bound_share));
}
END_TEST

/* A copy to the host of 300 µs after a launch, perhaps a sync, and 150 µs in which nothing is
 * launched. */
static void copying_step(uint32_t kind, enum sp_copy_host host, bool is_synced)
{
	span(SP_EV_torch_range, LOADER, 1000, 0);
	span(SP_EV_cudaLaunchKernel, 0, 10000, 0);
	span(kind, sp_cuda_arg_make(0, SP_COPY_TO_HOST, host), 300000, 8);
	if (is_synced)
		span(SP_EV_cudaStreamSynchronize, 0, 2000, 0);
	m.now_ticks += 150000;
	span(SP_EV_cudaLaunchKernel, 0, 10000, 0);
	span(SP_EV_torch_backward, ADAM, WORK_NS / 10, 0);
	span(SP_EV_torch_range, ADAM, ADAM_NS / 10, 0);
}

static void copying_run(uint32_t kind, enum sp_copy_host host, bool is_synced)
{
	names();
	for (int i = 0; i < STEPS; i++)
		copying_step(kind, host, is_synced);
}

/* Returns false where the host waited for nothing. */
static bool has_waits(double syncs, double copies)
{
	if (!is_known(SP_METRIC_sync_share))
		return false;
	ck_assert_double_eq_tol(value(SP_METRIC_syncs_per_step), syncs, 0.01);
	ck_assert_double_eq_tol(value(SP_METRIC_blocking_copies_per_step), copies, 0.01);
	return true;
}

START_TEST(a_copy_that_waits_is_a_wait_of_its_own)
{
	char text[1024];

	copying_run(_i ? SP_EV_cuMemcpy : SP_EV_cudaMemcpy,
		    _i ? SP_COPY_HOST_PINNED : SP_COPY_HOST_PAGEABLE, false);
	ck_assert_str_eq(judge(), "sync-bound");
	ck_assert(has_waits(0, 1));
	ck_assert_ptr_nonnull(strstr(v.text, "0.0 syncs and 1.0 blocking copies a step"));
	sp_advice_text(&v, SP_ADVICE_fewer_syncs, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "0.0 syncs and 1.0 blocking copies a step"));
	ck_assert_double_eq_tol((double)sp_training_account(&load.report.training)
					.ns[SP_ACCOUNT_sync_wait],
				STEPS * 300000.0, 1);
}
END_TEST

/* The time of a copy decides where its memory is unknown. */
START_TEST(a_copy_to_memory_that_is_not_pinned_waits)
{
	copying_run(SP_EV_cudaMemcpyAsync, _i ? SP_COPY_HOST_UNKNOWN : SP_COPY_HOST_PAGEABLE,
		    false);
	ck_assert_str_eq(judge(), "sync-bound");
	ck_assert(has_waits(0, 1));
}
END_TEST

/* .cpu() makes both calls: one wait, no matter which of the two calls waits. */
START_TEST(a_copy_and_the_sync_behind_it_are_one_wait)
{
	copying_run(SP_EV_cudaMemcpyAsync, _i ? SP_COPY_HOST_PINNED : SP_COPY_HOST_PAGEABLE, true);
	judge();
	ck_assert(has_waits(1, 0));
}
END_TEST

START_TEST(a_copy_to_pinned_memory_waits_for_nothing)
{
	copying_run(SP_EV_cudaMemcpyAsync, SP_COPY_HOST_PINNED, false);
	judge();
	ck_assert(!has_waits(0, 0));
}
END_TEST

/* A free that waits, then 150 µs in which nothing is launched; or a sync, and an allocation in the
 * gap after it. */
static void allocating_step(bool is_synced)
{
	span(SP_EV_torch_range, LOADER, WAIT_NS, 0);
	for (int i = 0; i < 10; i++)
		span(SP_EV_cudaLaunchKernel, 0, 10000, 0);
	if (is_synced)
		span(SP_EV_cudaStreamSynchronize, 0, 300000, 0);
	else
		span(SP_EV_cudaFree, 1, 300000, 0);
	m.now_ticks += 30000;
	span(SP_EV_cudaMalloc, 1, 100000, 4096);
	m.now_ticks += 20000;
	span(SP_EV_cudaLaunchKernel, 0, 10000, 0);
	/* neither of these waits for the device, whatever they take */
	span(SP_EV_cudaMallocAsync, 2, 200000, 4096);
	span(SP_EV_cudaFreeAsync, 2, 200000, 0);
	span(SP_EV_torch_backward, ADAM, WORK_NS, 0);
	span(SP_EV_torch_range, ADAM, ADAM_NS, 0);
}

enum { ALLOCATING_NS = WAIT_NS + 11 * 10000 + 300000 + 150000 + 400000 + WORK_NS + ADAM_NS };

START_TEST(a_gap_behind_a_free_is_the_allocation_s)
{
	char text[1024];

	names();
	for (int i = 0; i < STEPS; i++)
		allocating_step(false);
	judge();
	ck_assert_double_eq_tol(value(SP_METRIC_allocation_cost_share), 150000.0 / ALLOCATING_NS,
				0.002);
	ck_assert_double_eq_tol(value(SP_METRIC_allocation_share), 400000.0 / ALLOCATING_NS, 0.005);
	ck_assert_double_eq_tol(value(SP_METRIC_allocations_per_step), 2, 0.1);
	sp_advice_text(&v, SP_ADVICE_keep_memory, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "freed 2.0 times a step"));
}
END_TEST

START_TEST(allocating_behind_a_sync_is_parted_from_it)
{
	names();
	for (int i = 0; i < STEPS; i++)
		allocating_step(true);
	judge();
	ck_assert_double_eq_tol(value(SP_METRIC_allocation_cost_share), 100000.0 / ALLOCATING_NS,
				0.002);
	ck_assert_double_eq_tol(value(SP_METRIC_sync_cost_share), 50000.0 / ALLOCATING_NS, 0.002);
}
END_TEST

START_TEST(nothing_allocated_is_not_zero)
{
	names();
	for (int i = 0; i < STEPS; i++)
		device_step(WORK_NS);
	judge();
	ck_assert(!is_known(SP_METRIC_allocation_cost_share));
	ck_assert(!is_known(SP_METRIC_allocations_per_step));
}
END_TEST

/* Memory frees bring the verdict where the loader does not. */
START_TEST(a_loop_that_allocates_is_told_so)
{
	char text[1024];

	names();
	for (int i = 0; i < STEPS; i++) {
		span(SP_EV_torch_range, LOADER, 1000, 0);
		span(SP_EV_cudaLaunchKernel, 0, 10000, 0);
		span(SP_EV_cudaFree, 1, 300000, 0);
		span(SP_EV_cudaMalloc, 1, 200000, 4096);
		span(SP_EV_cudaLaunchKernel, 0, 10000, 0);
		span(SP_EV_torch_backward, ADAM, WORK_NS, 0);
		span(SP_EV_torch_range, ADAM, ADAM_NS, 0);
	}
	ck_assert_str_eq(judge(), "allocation-bound");
	sp_advice_text(&v, SP_ADVICE_keep_memory, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "empty_cache"));
}
END_TEST

/*
 * 200 launches of 3 µs, and the span of their work: on the device from 5 µs after the first launch
 * to `behind_ns` after the last.
 */
static void launching_step(uint64_t behind_ns)
{
	uint64_t at, launched;

	span(SP_EV_torch_range, LOADER, 1000, 0);
	at = m.now_ticks;
	for (int i = 0; i < 200; i++)
		span(SP_EV_cudaLaunchKernel, 0, 3000, 0);
	launched = m.now_ticks;
	m.now_ticks = launched + behind_ns;
	sp_maker_around(&m, SP_EV_gpu_span, 0, at + 5000, SP_PHASE_none);
	sp_maker_extra(&m, 5000, launched - at, 0);
	m.now_ticks = launched;
	span(SP_EV_torch_backward, ADAM, 100000, 0);
	span(SP_EV_torch_range, ADAM, ADAM_NS, 0);
}

/* The span was as long as the launching: it hides gaps, and is no sign that the device was the
 * slower one. */
START_TEST(a_device_that_keeps_up_is_waiting_for_launches)
{
	names();
	for (int i = 0; i < STEPS; i++)
		launching_step(0);
	ck_assert_str_eq(judge(), "launch-bound");
	ck_assert_double_gt(value(SP_METRIC_launch_bound_share), 0.9);
}
END_TEST

START_TEST(a_device_that_lags_is_not_waiting_for_launches)
{
	names();
	for (int i = 0; i < STEPS; i++)
		launching_step(100000 + ADAM_NS);
	ck_assert_str_eq(judge(), "compute-bound");
}
END_TEST

/* 200 launches in the model's call, then 30 ms of the script's own before the backward. */
START_TEST(a_script_that_sleeps_after_the_model_is_not_launching)
{
	names();
	for (int i = 0; i < STEPS; i++) {
		uint64_t at;

		span(SP_EV_torch_range, LOADER, 1000, 0);
		at = m.now_ticks;
		for (int n = 0; n < 200; n++)
			span(SP_EV_cudaLaunchKernel, 0, 3000, 0);
		sp_maker_around(&m, SP_EV_gpu_span, 0, at + 5000, SP_PHASE_none);
		sp_maker_extra(&m, 5000, m.now_ticks - at, 0);
		sp_maker_around(&m, SP_EV_python_call, 0, at, SP_PHASE_forward);
		m.now_ticks += 30000000;
		span(SP_EV_torch_backward, ADAM, 100000, 0);
		span(SP_EV_torch_range, ADAM, ADAM_NS, 0);
	}
	ck_assert_str_ne(judge(), "launch-bound");
	ck_assert_double_lt(value(SP_METRIC_launches_per_ms), 10);
}
END_TEST

static uint64_t launched_ns(enum sp_account_phase part)
{
	struct sp_gpu_sums gpu;
	uint64_t dropped;

	ck_assert(sp_gpu_time_sum(&load.report.training, &gpu, &dropped));
	return gpu.launched.ns[part];
}

/* The events of `ns` of work that is launched and done at once. */
static void work_at_once(uint64_t ns)
{
	uint64_t begin = m.now_ticks;

	m.now_ticks += ns;
	sp_maker_around(&m, SP_EV_gpu_span, 0, begin, SP_PHASE_none);
	sp_maker_extra(&m, 0, ns, 0);
}

/* A backward without launches has no span. Work launched after the backward or before the batch is
 * no forward. */
START_TEST(work_ahead_of_a_backward_that_launches_nothing_is_the_forward)
{
	names();
	for (int i = 0; i < STEPS; i++) {
		for (int batch = 0; batch < 2; batch++) {
			work_at_once(20000);
			span(SP_EV_torch_range, LOADER, 1000, 0);
			work_at_once(300000);
			span(SP_EV_torch_backward, ADAM, 100000, 0);
			work_at_once(50000);
		}
		span(SP_EV_torch_range, ADAM, ADAM_NS, 0);
	}
	judge();
	ck_assert_uint_eq(launched_ns(SP_ACCOUNT_forward), 2 * STEPS * 300000);
	ck_assert_uint_eq(launched_ns(SP_ACCOUNT_backward), 0);
	/* without the work before the first batch, and so before the first step */
	ck_assert_uint_eq(launched_ns(SP_ACCOUNT_other), 2 * STEPS * 70000 - 20000);
}
END_TEST

/* A copy ahead of the model's call is in `other` on the device, as on the host. */
START_TEST(work_ahead_of_an_observed_forward_is_other)
{
	names();
	for (int i = 0; i < STEPS; i++) {
		uint64_t at;

		span(SP_EV_torch_range, LOADER, 1000, 0);
		work_at_once(40000);
		at = m.now_ticks;
		sp_maker_around(&m, SP_EV_python_call, 0, at - 10, SP_PHASE_zero_grad);
		at = m.now_ticks;
		work_at_once(300000);
		sp_maker_around(&m, SP_EV_python_call, 0, at, SP_PHASE_forward);
		span(SP_EV_torch_backward, ADAM, 100000, 0);
		span(SP_EV_torch_range, ADAM, ADAM_NS, 0);
	}
	judge();
	ck_assert_uint_eq(launched_ns(SP_ACCOUNT_forward), STEPS * 300000);
	ck_assert_uint_eq(launched_ns(SP_ACCOUNT_other), STEPS * 40000);
}
END_TEST

/* Checks the row of a phase of the account in JSON, from `key` on. */
static void check_part(const char *part, const char *key, const char *value)
{
	char *text = sp_load_print(&load, "summary", SP_FORMAT_JSON), name[64];
	const char *row, *at;

	snprintf(name, sizeof(name), "\"part\":\"%s\"", part);
	row = strstr(text, name);
	ck_assert_ptr_nonnull(row);
	snprintf(name, sizeof(name), "\"%s\":", key);
	at = strstr(row, name);
	ck_assert_ptr_nonnull(at);
	ck_assert_msg(strncmp(at + strlen(name), value, strlen(value)) == 0, "%s of %.*s", key, 200,
		      row);
	free(text);
}

/* A part without a stretch may have been in one of those. */
START_TEST(no_stretch_is_not_zero_where_some_were_given_up)
{
	names();
	for (int i = 0; i < STEPS; i++)
		launching_step(5000);
	sp_maker_around(&m, SP_EV_gpu_span, 0, m.now_ticks - 10, SP_PHASE_none);
	sp_maker_extra(&m, 0, 10, _i ? UINT64_C(3) << 32 : 0);
	judge();
	check_part("backward", "gpu_ns", _i ? "null" : "0,");
	check_part("forward", "gpu_ns", "24000000,");
}
END_TEST

static void other_process(struct sp_maker *other)
{
	sp_maker_init(other, 20, 20, 0);
	sp_maker_header(other);
	for (int i = 0; i < 3; i++)
		sp_maker_event(other, SP_EV_cudaLaunchKernel, 0, 10, 0);
	sp_maker_event(other, SP_EV_cudaMemcpy,
		       sp_cuda_arg_make(0, SP_COPY_TO_HOST, SP_COPY_HOST_PAGEABLE), 10, 64);
	sp_maker_event(other, SP_EV_cudaMalloc, 1, 10, 4096);
	sp_maker_put(other, folder, "b.zst");
}

static void check_row(const char *text, const char *row)
{
	ck_assert_msg(strstr(text, row) != NULL, "no %s in %s", row, text);
}

/* Evaluation beside training: a process without steps has a row for the whole run, which is not
 * added to the trainer's. */
START_TEST(a_process_without_steps_has_its_row)
{
	struct sp_maker other;
	char *text;

	names();
	for (int i = 0; i < STEPS; i++)
		device_step(WORK_NS);
	other_process(&other);
	judge();
	text = sp_load_print(&load, "cuda", SP_FORMAT_JSON);
	check_row(text, "{\"pid\":20,\"part\":\"whole_run\",\"launches\":3,\"copies\":1,\"bytes\":"
			"64,\"sets\":0,\"set_bytes\":0,\"syncs\":0,"
			"\"blocking_copies\":1,\"host_ns\":50,\"gpu_ns\":null}");
	check_row(text, "{\"pid\":20,\"end_bytes\":4096,\"peak_bytes\":4096,\"pinned_peak_bytes\":"
			"0,\"unmatched_frees\":0}");
	check_row(text, "{\"pid\":20,\"event\":\"cudaMalloc\",\"calls\":1,\"total_ns\":10,\"max_"
			"ns\":10}");
	check_row(text, "{\"pid\":10,\"part\":\"forward\",\"launches\":400,");
	free(text);
}
END_TEST

static const char *const sync_reasons[] = {"\"no wait for a device was seen\"", "\"seen, but "
										"none on a "
										"training "
										"thread in a "
										"step\""};

START_TEST(a_sync_outside_of_steps_is_no_absence)
{
	names();
	for (int i = 0; i < STEPS; i++)
		step(1000);
	if (_i)
		span(SP_EV_cudaDeviceSynchronize, 0, 1000, 0);
	judge();
	check_part("sync_wait", "ns", "null");
	check_part("sync_wait", "reason", sync_reasons[_i]);
}
END_TEST

/* The queue grows over the steps: the device has more than a step's work left at the end of ten. */
START_TEST(a_wait_before_a_sync_that_waits_is_hidden)
{
	names();
	for (int i = 0; i < STEPS; i++)
		device_step(i % 10 == 9 ? LONG_NS : 0);
	ck_assert_str_eq(judge(), "compute-bound");
	ck_assert(v.metrics.is_queue_known);
	/* without the first after each sync, and the first of all */
	ck_assert_double_eq_tol(value(SP_METRIC_lost_wait_share) /
					value(SP_METRIC_loader_wait_share),
				4.0 / 40, 1e-6);
}
END_TEST

/* No more is left than the last step's work: the device may have idled in each of the ten. */
START_TEST(a_wait_before_a_short_sync_is_not_hidden)
{
	names();
	for (int i = 0; i < STEPS; i++)
		device_step(i % 10 == 9 ? WORK_NS : 0);
	ck_assert_str_eq(judge(), "input-bound");
	ck_assert_double_eq_tol(value(SP_METRIC_lost_wait_share),
				value(SP_METRIC_loader_wait_share), 1e-9);
	ck_assert(v.doubts[SP_DOUBT_queue]);
}
END_TEST

START_TEST(memory_that_is_not_pinned_is_told)
{
	names();
	for (int i = 0; i < STEPS; i++) {
		span(SP_EV_torch_range, LOADER, 1000, 0);
		span(SP_EV_cudaMemcpyAsync,
		     sp_cuda_arg_make(0, SP_COPY_TO_DEVICE, SP_COPY_HOST_PAGEABLE), 750000,
		     1 << 20);
		span(SP_EV_cudaMemcpyAsync,
		     sp_cuda_arg_make(0, SP_COPY_TO_DEVICE, SP_COPY_HOST_PINNED), 250000, 1 << 20);
		span(SP_EV_torch_backward, ADAM, WORK_NS, 0);
		span(SP_EV_torch_range, ADAM, ADAM_NS, 0);
	}
	ck_assert_str_eq(judge(), "copy-bound");
	ck_assert_double_eq_tol(value(SP_METRIC_pageable_share), 0.75, 0.02);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("metrics of a device");
	TCase *c = tcase_create("traces");

	tcase_add_checked_fixture(c, judged_trace_begin, judged_trace_end);
	tcase_add_test(c, a_wait_behind_a_sync_is_lost);
	tcase_add_loop_test(c, a_what_if_is_about_a_steady_step, 0, 2);
	tcase_add_test(c, a_wait_behind_a_launch_is_not_known_to_be_lost);
	tcase_add_loop_test(c, a_copy_that_waits_is_a_wait_of_its_own, 0, 2);
	tcase_add_loop_test(c, a_copy_to_memory_that_is_not_pinned_waits, 0, 2);
	tcase_add_loop_test(c, a_copy_and_the_sync_behind_it_are_one_wait, 0, 2);
	tcase_add_test(c, a_copy_to_pinned_memory_waits_for_nothing);
	tcase_add_test(c, a_gap_behind_a_free_is_the_allocation_s);
	tcase_add_test(c, allocating_behind_a_sync_is_parted_from_it);
	tcase_add_test(c, nothing_allocated_is_not_zero);
	tcase_add_test(c, a_loop_that_allocates_is_told_so);
	tcase_add_test(c, a_device_that_keeps_up_is_waiting_for_launches);
	tcase_add_test(c, a_device_that_lags_is_not_waiting_for_launches);
	tcase_add_test(c, a_script_that_sleeps_after_the_model_is_not_launching);
	tcase_add_test(c, work_ahead_of_a_backward_that_launches_nothing_is_the_forward);
	tcase_add_test(c, work_ahead_of_an_observed_forward_is_other);
	tcase_add_loop_test(c, no_stretch_is_not_zero_where_some_were_given_up, 0, 2);
	tcase_add_test(c, a_process_without_steps_has_its_row);
	tcase_add_loop_test(c, a_sync_outside_of_steps_is_no_absence, 0, 2);
	tcase_add_test(c, a_wait_before_a_sync_that_waits_is_hidden);
	tcase_add_test(c, a_wait_before_a_short_sync_is_not_hidden);
	tcase_add_test(c, memory_that_is_not_pinned_is_told);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
