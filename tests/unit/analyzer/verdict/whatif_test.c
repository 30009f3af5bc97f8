/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other numbers of workers: a step of made-up metrics, and the step that the arithmetic of cores
 * gives.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/metrics/metrics_input.h"
#include "analyzer/report/report.h"
#include "analyzer/verdict/saving.h"
#include "analyzer/verdict/judge.h"
#include "analyzer/verdict/whatif.h"
#include "tests/unit/common/suite.h"

#define MS 1e6

static const struct sp_wait_thresholds usual = {SP_WAIT_MODERATE, SP_WAIT_SEVERE};
static struct sp_verdict v;

static void set(enum sp_metric_id metric, double value)
{
	sp_metrics_set(&v.metrics, metric, value);
}

/*
 * A training thread that makes its own batches on two cores. model_ms: its other work, all on a
 * core; batch_ms: of a batch, of which cpu_ms are on a core.
 */
static void alone(double model_ms, double batch_ms, double cpu_ms)
{
	double step_ms = model_ms + batch_ms;

	memset(&v, 0, sizeof(v));
	set(SP_METRIC_steps, 100);
	set(SP_METRIC_epochs, 1);
	set(SP_METRIC_step_ns, step_ms * MS);
	set(SP_METRIC_step_mean_ns, step_ms * MS);
	set(SP_METRIC_wait_mean_ns, batch_ms * MS);
	set(SP_METRIC_loader_wait_share, batch_ms / step_ms);
	set(SP_METRIC_lost_wait_share, batch_ms / step_ms);
	set(SP_METRIC_compute_share, model_ms / step_ms);
	set(SP_METRIC_cores, 2);
	set(SP_METRIC_workers, 0);
	set(SP_METRIC_batch_work_ns, batch_ms * MS);
	set(SP_METRIC_batch_cpu_ns, cpu_ms * MS);
	set(SP_METRIC_trainer_cpu_ns, (model_ms + cpu_ms) * MS);
	set(SP_METRIC_workers_wanted, 2);
	v.metrics.of[SP_METRIC_dataset_division].is_known = true;
	v.metrics.of[SP_METRIC_own_collate].is_known = true;
	v.metrics.of[SP_METRIC_loader_line].is_known = true;
}

static struct sp_what_if with(uint32_t workers)
{
	return sp_what_if_make(&v.metrics, SP_WHAT_IF_workers, workers);
}

static bool advises(const char *name)
{
	v.advice_count = 0;
	sp_verdict_judge(&v, &usual);
	for (uint32_t i = 0; i < v.advice_count; i++)
		if (strcmp(sp_advice_rule_of(v.advice[i])->name, name) == 0)
			return true;
	return false;
}

/* 20 ms of processor time a batch and 10 ms for the model: two cores make a step in 15 ms. */
START_TEST(a_batch_counts_once)
{
	struct sp_what_if w;

	alone(10, 20, 20);
	w = with(2);
	ck_assert(w.is_known);
	ck_assert_double_le(w.low_ns, 15 * MS);
	ck_assert_double_ge(w.high_ns, 15 * MS);
	ck_assert_double_le(w.high_ns, 22 * MS);
	ck_assert(advises("use_workers"));
}
END_TEST

/* A worker's batch sleeps, so four workers make it four times as fast on two cores. */
START_TEST(sleep_needs_no_core)
{
	struct sp_what_if w;

	alone(10, 40, 1);
	w = with(4);
	ck_assert_double_le(w.low_ns, 10 * MS);
	ck_assert_double_ge(w.high_ns, 10 * MS);
	ck_assert_double_le(w.high_ns, 15 * MS);
}
END_TEST

/* Half of the batches is one function, to 1%. A worker's work is not the sampler. */
START_TEST(the_slowest_function_is_a_part_of_the_work)
{
	struct sp_what_if w;

	alone(20, 80, 80);
	set(SP_METRIC_input_line_share, 0.5);
	set(SP_METRIC_input_line_samples, 9604);
	w = sp_what_if_make(&v.metrics, SP_WHAT_IF_line, SP_WORKERS_UNASKED);
	ck_assert_double_eq_tol(w.high_ns, 60.8 * MS, 1);
	ck_assert_double_le(w.low_ns, 59.2 * MS);
	ck_assert_double_ge(w.low_ns, 50 * MS);
	set(SP_METRIC_workers, 1);
	set(SP_METRIC_sampler_wait_share, 0.75);
	w = sp_what_if_make(&v.metrics, SP_WHAT_IF_line, SP_WORKERS_UNASKED);
	ck_assert_double_eq_tol(w.high_ns, 90.2 * MS, 1);
	ck_assert_double_eq_tol(w.low_ns, 49 * MS, 1);
	set(SP_METRIC_validation_share, 0.5);
	ck_assert(!sp_what_if_make(&v.metrics, SP_WHAT_IF_line, SP_WORKERS_UNASKED).is_known);
}
END_TEST

/* The sampler stays on the training thread, whatever the number of workers. */
START_TEST(a_sampler_stays)
{
	struct sp_what_if w;

	alone(10, 20, 20);
	set(SP_METRIC_step_mean_ns, 60 * MS);
	set(SP_METRIC_wait_mean_ns, 50 * MS);
	set(SP_METRIC_sampler_ns, 30 * MS);
	w = with(2);
	ck_assert_double_ge(w.low_ns, 39 * MS);
	ck_assert_double_le(w.low_ns, 41 * MS);
}
END_TEST

/* A transfer takes up to 1 ms, so a batch of 0.5 ms may take longer from a worker. */
START_TEST(tiny_batches_gain_nothing)
{
	alone(4, 0.5, 0.5);
	ck_assert_double_ge(with(1).high_ns, 4.5 * MS);
	ck_assert(!advises("use_workers"));
}
END_TEST

/* A collate_fn of the program's own may do what PyTorch's does, or compute: the range has both, and
 * the advice the usual one. */
START_TEST(a_collate_of_the_programs_own_may_copy)
{
	struct sp_what_if w;

	alone(3.1, 3.2, 3.2);
	set(SP_METRIC_own_collate_ns, 2.28 * MS);
	w = with(1);
	ck_assert_double_ge(w.high_ns, 17 * MS);
	ck_assert_double_le(w.usual_ns, 6.3 * MS);
	ck_assert(advises("use_workers"));
	ck_assert_double_eq(sp_advice_saving(&v.metrics, SP_ADVICE_use_workers).least, 0);
}
END_TEST

/* Measured on two cores: 11.7 ms without workers, of which 8.9 ms are a batch's; 8.15 ms with two
 * workers, which have to share the cores with the model. */
START_TEST(more_threads_than_cores_interrupt_each_other)
{
	alone(2.8, 8.9, 8.9);
	ck_assert_double_le(with(2).low_ns, 8.15 * MS);
	ck_assert_double_ge(with(2).high_ns, 8.15 * MS);
	ck_assert_double_le(with(2).high_ns, 9 * MS);
	ck_assert(advises("use_workers"));
}
END_TEST

/* Measured: 5.4 ms without workers, 17 ms with one and 14 ms with two, because batches of 16 MB
 * come in new memory each time. */
START_TEST(large_batches_are_slower_from_workers)
{
	alone(3.1, 3.2, 3.2);
	ck_assert(advises("use_workers"));
	set(SP_METRIC_stack_ns, 2.28 * MS);
	ck_assert_double_ge(with(1).high_ns, 17 * MS);
	ck_assert(!advises("use_workers"));
}
END_TEST

/* A worker takes 22 ms for a batch, of which it writes to shared memory for 20. */
START_TEST(a_batch_without_workers_is_not_shared)
{
	alone(25, 22, 22);
	set(SP_METRIC_workers, 1);
	set(SP_METRIC_handover_ns, 100 * MS);
	set(SP_METRIC_step_mean_ns, 125 * MS);
	set(SP_METRIC_wait_mean_ns, 100 * MS);
	ck_assert_double_ge(with(0).low_ns, 40 * MS);
	set(SP_METRIC_collate_share, 20.0 / 22);
	set(SP_METRIC_release_ns, 3 * MS);
	ck_assert_double_eq_tol(with(0).low_ns, 24 * MS, 1 * MS);
	ck_assert_double_ge(with(0).high_ns, 47 * MS); /* the collating may take its time, too */
}
END_TEST

/* Two workers fill two cores: a third makes no batch faster. */
START_TEST(no_worker_without_a_core)
{
	alone(2, 20, 20);
	set(SP_METRIC_workers, 2);
	set(SP_METRIC_step_mean_ns, 11 * MS);
	set(SP_METRIC_wait_mean_ns, 9 * MS);
	set(SP_METRIC_trainer_cpu_ns, 2 * MS);
	set(SP_METRIC_handover_ns, 0.2 * MS);
	set(SP_METRIC_spare_workers, 1);
	set(SP_METRIC_workers_wanted, 3);
	ck_assert_double_ge(with(3).high_ns, 11 * MS);
	ck_assert(!advises("add_workers"));
	/* Where a batch sleeps half of its time, it does. */
	set(SP_METRIC_batch_cpu_ns, 8 * MS);
	ck_assert(advises("add_workers"));
}
END_TEST

/* Epochs of 20 steps start each worker again: what three more of them gain is less than that. With
 * workers that stay it is all gained. */
START_TEST(workers_have_to_start)
{
	double stays_ns, stays;

	alone(20, 60, 1);
	set(SP_METRIC_workers, 1);
	set(SP_METRIC_step_mean_ns, 60 * MS);
	set(SP_METRIC_wait_mean_ns, 40 * MS);
	set(SP_METRIC_handover_ns, 0.2 * MS);
	set(SP_METRIC_spare_workers, 2);
	set(SP_METRIC_workers_wanted, 3);
	stays_ns = with(3).high_ns;
	stays = sp_advice_saving(&v.metrics, SP_ADVICE_add_workers).least;
	ck_assert_double_le(stays_ns, 27 * MS);
	ck_assert(advises("add_workers"));
	set(SP_METRIC_restarts_per_step, 1.0 / 20);
	set(SP_METRIC_worker_start_ns, 0);
	set(SP_METRIC_first_batch_ns, 300 * MS); /* 15 ms for each step of 60, which stay */
	set(SP_METRIC_steady_share, 60.0 / 75);
	ck_assert_double_eq_tol(sp_advice_saving(&v.metrics, SP_ADVICE_add_workers).least,
				stays * 60 / 75, 1e-6);
	set(SP_METRIC_worker_start_ns, 400 * MS);
	ck_assert_double_eq_tol(with(3).high_ns, stays_ns + 2 * 20 * MS, 0.1 * MS);
	ck_assert(!advises("add_workers"));
	/* As many as there are cost no further start. */
	ck_assert_double_eq_tol(with(1).high_ns, 60 * MS, 1 * MS);
}
END_TEST

/* Two workers keep up on the average, but one batch in ten takes long: prefetching may save all
 * waits, and more samples a step at most what is not their own work. */
START_TEST(ranges_without_a_sure_gain)
{
	struct sp_what_if w;

	alone(20, 30, 1);
	set(SP_METRIC_workers, 2);
	set(SP_METRIC_step_mean_ns, 25 * MS);
	set(SP_METRIC_wait_mean_ns, 5 * MS);
	set(SP_METRIC_trainer_cpu_ns, 2 * MS);
	w = sp_what_if_make(&v.metrics, SP_WHAT_IF_prefetch, SP_WORKERS_UNASKED);
	ck_assert_double_eq_tol(w.low_ns, 20 * MS, 1);
	ck_assert_double_eq_tol(w.high_ns, 25 * MS, 1);
	/* The workers take the same cores from the training thread. */
	set(SP_METRIC_contention_share, 0.2);
	set(SP_METRIC_coreless_share, 0.2);
	set(SP_METRIC_batch_cpu_ns, 30 * MS);
	w = sp_what_if_make(&v.metrics, SP_WHAT_IF_prefetch, SP_WORKERS_UNASKED);
	ck_assert_double_eq_tol(w.low_ns, 20 * MS, 1);
	set(SP_METRIC_contention_share, 0);
	set(SP_METRIC_batch_cpu_ns, 1 * MS);
	w = sp_what_if_make(&v.metrics, SP_WHAT_IF_batch_size, SP_WORKERS_UNASKED);
	ck_assert_double_eq_tol(w.low_ns, 15 * MS, 1);
	ck_assert_double_eq_tol(w.high_ns, 25 * MS, 1);
	/* Nobody prefetches for a training thread that makes its own batches. */
	alone(20, 8, 1);
	ck_assert(!sp_what_if_make(&v.metrics, SP_WHAT_IF_prefetch, SP_WORKERS_UNASKED).is_known);
	w = sp_what_if_make(&v.metrics, SP_WHAT_IF_batch_size, SP_WORKERS_UNASKED);
	ck_assert_double_eq_tol(w.low_ns, 18 * MS, 1);
}
END_TEST

/* A core that other programs share: a second worker gets what the first one waited for. */
START_TEST(no_worker_for_a_core_of_others)
{
	alone(2, 20, 10);
	set(SP_METRIC_cores, 1);
	set(SP_METRIC_workers, 1);
	set(SP_METRIC_step_mean_ns, 20 * MS);
	set(SP_METRIC_wait_mean_ns, 18 * MS);
	set(SP_METRIC_trainer_cpu_ns, 1 * MS);
	set(SP_METRIC_spare_workers, 1);
	ck_assert(advises("add_workers"));
	set(SP_METRIC_batch_ready_ns, 10 * MS);
	ck_assert_double_ge(with(2).high_ns, 20 * MS);
	ck_assert(!advises("add_workers"));
}
END_TEST

/* Workers get no more of the cores that other programs use than the training thread does. */
START_TEST(cores_of_others_want_no_workers)
{
	struct sp_metric_sums m = {.e = &v.metrics, .input.on_trainer = true};

	for (int i = 0; i < SP_METRICS; i++)
		m.state[i] = SP_METRIC_MADE;
	alone(5, 80, 40);
	ck_assert_uint_eq((unsigned)sp_input_wanted(&m), 4);
	set(SP_METRIC_batch_ready_ns, 40 * MS);
	ck_assert_uint_eq((unsigned)sp_input_wanted(&m), 2);
}
END_TEST

/* A model whose threads fill both cores leaves no core for a worker. */
START_TEST(threads_of_the_model_need_cores)
{
	alone(20, 5, 5);
	set(SP_METRIC_trainer_cpu_ns, 45 * MS);
	ck_assert_double_ge(with(1).high_ns, 22.5 * MS);
}
END_TEST

/* A worker makes a batch in 20 ms and the device computes for 45 ms: of the 25 ms for which the
 * training thread waits, the device is idle in one. */
static void device_bound(void)
{
	alone(20, 25, 1);
	set(SP_METRIC_workers, 1);
	set(SP_METRIC_batch_work_ns, 20 * MS);
	set(SP_METRIC_trainer_cpu_ns, 5 * MS);
	set(SP_METRIC_decode_share, 0.4);
	set(SP_METRIC_decode_work_share, 0.8);
	v.metrics.has_device = true;
}

/* No change of the input is faster than an input that costs nothing. */
START_TEST(hidden_waits_save_nothing)
{
	static const enum sp_what_if_id of_input[] = {SP_WHAT_IF_decode_half, SP_WHAT_IF_workers,
						      SP_WHAT_IF_prefetch};

	device_bound();
	set(SP_METRIC_lost_wait_share, 1.0 / 45);
	v.metrics.is_queue_known = true;
	ck_assert_double_eq_tol(
		sp_what_if_make(&v.metrics, SP_WHAT_IF_input_free, SP_WORKERS_UNASKED).low_ns,
		44 * MS, 1);
	for (size_t i = 0; i < sizeof(of_input) / sizeof(of_input[0]); i++) {
		struct sp_what_if w = sp_what_if_make(&v.metrics, of_input[i], SP_WORKERS_UNASKED);

		ck_assert(w.is_known);
		ck_assert_double_ge(w.low_ns, 44 * MS - 1);
		ck_assert_double_ge(w.high_ns, 44 * MS - 1);
	}
}
END_TEST

/* Where the queue is not known, any change of the input may gain nothing. */
START_TEST(waits_that_may_hide)
{
	device_bound();
	v.metrics.is_queue_known = false;
	ck_assert_double_ge(with(2).high_ns, 45 * MS);
	ck_assert_double_lt(with(2).low_ns, 45 * MS);
	ck_assert_double_ge(sp_what_if_make(&v.metrics, SP_WHAT_IF_decode_half, SP_WORKERS_UNASKED)
				    .high_ns,
			    45 * MS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("whatif");
	TCase *c = tcase_create("whatif");

	tcase_add_test(c, a_batch_counts_once);
	tcase_add_test(c, the_slowest_function_is_a_part_of_the_work);
	tcase_add_test(c, sleep_needs_no_core);
	tcase_add_test(c, tiny_batches_gain_nothing);
	tcase_add_test(c, a_batch_without_workers_is_not_shared);
	tcase_add_test(c, more_threads_than_cores_interrupt_each_other);
	tcase_add_test(c, large_batches_are_slower_from_workers);
	tcase_add_test(c, a_collate_of_the_programs_own_may_copy);
	tcase_add_test(c, no_worker_without_a_core);
	tcase_add_test(c, workers_have_to_start);
	tcase_add_test(c, ranges_without_a_sure_gain);
	tcase_add_test(c, no_worker_for_a_core_of_others);
	tcase_add_test(c, cores_of_others_want_no_workers);
	tcase_add_test(c, threads_of_the_model_need_cores);
	tcase_add_test(c, hidden_waits_save_nothing);
	tcase_add_test(c, waits_that_may_hide);
	tcase_add_test(c, a_sampler_stays);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
