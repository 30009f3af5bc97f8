/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verdicts of made traces whose steps are one call each: what the device did while the loop waited
 * for a batch is known, or it is not. One tick is one ns.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/verdict/verdict_text.h"
#include "tests/unit/common/judged_trace.h"
#include "tests/unit/common/suite.h"

enum { LOADER = 1, STEP, SAVE, ANSWER, COMPILE, AHEAD };

enum { STEPS = 40, ITERATOR = 0x1000, CALL_NS = 50000, WAIT_NS = 4000000, SYNC_NS = 950000 };

static void setup(void)
{
	judged_trace_begin();
	name(LOADER, "grain next");
	name(STEP, "step: jit(step)");
	name(SAVE, "orbax save");
	name(ANSWER, "device");
	name(COMPILE, "jax compile");
	name(AHEAD + 1, "matplotlib savefig");
}

static void phase(uint32_t label, uint64_t ns, int64_t value)
{
	span(SP_EV_python_call, label, ns, value);
}

/* answer: SP_PHASE_none: the device was not asked. */
static void step_of(uint64_t wait_ns, int64_t answer, uint64_t call_ns)
{
	uint64_t start = m.now_ticks;

	m.now_ticks += wait_ns;
	if (answer != SP_PHASE_none)
		sp_maker_around(&m, SP_EV_python_call, ANSWER, m.now_ticks, answer);
	sp_maker_around(&m, SP_EV_loader_next, LOADER, start, ITERATOR);
	phase(STEP, call_ns, SP_PHASE_update);
}

static void step(uint64_t wait_ns, int64_t answer)
{
	step_of(wait_ns, answer, CALL_NS);
}

static void cover(const char *line)
{
	sp_maker_define(&m, SP_DEFINE_COVERAGE, 0, line, strlen(line));
}

/* Words of one framework alone: they help nobody who trains in another. */
static const struct {
	const char *covers[3], *threads, *input;
	bool is_pytorch;
} settings[] = {
	{{"framework\tbound\ttorch 2.13.0"}, "torch.set_num_threads", "num_workers", true},
	{{NULL}, "torch.set_num_threads", "num_workers", true}, /* an old recorder */
	{{"framework\tbound\tjax 0.10.2", "framework\tbound\ttorch 2.13.0"},
	 "OMP_NUM_THREADS",
	 "worker_count",
	 false},
	{{"framework\tbound\ttensorflow 2.21.0", "framework\tbound\tkeras 3.15.1"},
	 "tf.config.threading",
	 "tf.data",
	 false},
	{{"framework\tbound\txgboost 3.2.0", "framework\tloaded\tsklearn 1.9.1"},
	 "nthread",
	 "multiprocessing",
	 false},
};

static void train_one(const char *first)
{
	if (first && strstr(first, "xgboost"))
		phase(STEP, CALL_NS, SP_PHASE_round);
	else if (first && !strstr(first, "torch"))
		step(WAIT_NS, SP_PHASE_device_idle);
	else
		phase(STEP, CALL_NS, SP_PHASE_optimizer);
}

static const char *words(enum sp_metric_id metric)
{
	ck_assert(v.metrics.of[metric].is_known);
	return v.metrics.of[metric].text;
}

START_TEST(advice_in_words_of_the_framework)
{
	bool is_pytorch = settings[_i].is_pytorch;
	const char *first = settings[_i].covers[0];

	for (int i = 0; i < 3 && settings[_i].covers[i]; i++)
		cover(settings[_i].covers[i]);
	for (int i = 0; i < STEPS; i++)
		train_one(first);
	judge();
	ck_assert_ptr_nonnull(strstr(words(SP_METRIC_thread_ways), settings[_i].threads));
	ck_assert_ptr_nonnull(strstr(words(SP_METRIC_input_ways), settings[_i].input));
	ck_assert_int_eq(strstr(words(SP_METRIC_evaluation_ways), "torch.") != NULL, is_pytorch);
	ck_assert_int_eq(strstr(words(SP_METRIC_optimizer_ways), "foreach") != NULL, is_pytorch);
	ck_assert_int_eq(strstr(words(SP_METRIC_model_ways), "torch.") != NULL, is_pytorch);
	ck_assert_int_eq(strstr(words(SP_METRIC_compile_ways), "INDUCTOR") != NULL, is_pytorch);
	if (first && strstr(first, "jax"))
		ck_assert_ptr_nonnull(strstr(words(SP_METRIC_validation_ways), "Grain"));
}
END_TEST

/* Each step ends in a read of the loss. */
START_TEST(a_device_that_is_idle_waits_for_the_loader)
{
	for (int i = 0; i < STEPS; i++) {
		step(WAIT_NS, SP_PHASE_device_idle);
		phase(STEP, SYNC_NS, SP_PHASE_device_wait);
	}
	ck_assert_str_eq(judge(), "input-bound");
	ck_assert_double_eq_tol(value(SP_METRIC_lost_wait_share),
				value(SP_METRIC_loader_wait_share), 1e-9);
	ck_assert(!v.doubts[SP_DOUBT_queue]);
	ck_assert(!v.doubts[SP_DOUBT_whole_calls]);
	ck_assert_int_eq(v.advice[0], SP_ADVICE_other_loader);
}
END_TEST

/* A generator and its critic: the second call of an iteration asks no loader. */
START_TEST(two_calls_share_a_batch)
{
	for (int i = 0; i < STEPS; i++) {
		step(WAIT_NS, SP_PHASE_device_idle);
		phase(STEP, CALL_NS, SP_PHASE_update);
	}
	ck_assert_str_eq(judge(), "input-bound");
}
END_TEST

/* Passes of the loader whose batches no recorded step took: they may train, too. */
static void pass_without_steps(uint32_t call)
{
	for (int i = 0; i < 3 * STEPS; i++) {
		uint64_t start = m.now_ticks;

		m.now_ticks += CALL_NS;
		sp_maker_around(&m, SP_EV_loader_next, LOADER, start, 2 * ITERATOR);
		phase(call, WAIT_NS, SP_PHASE_none);
	}
}

START_TEST(gradients_of_jax_outside_of_compiled_calls)
{
	if (_i)
		cover("jax-gradients\tbound\toutside of compiled calls");
	for (int i = 0; i < STEPS; i++)
		step(CALL_NS, SP_PHASE_device_idle);
	pass_without_steps(ANSWER);
	ck_assert_str_eq(judge(), _i ? "not-recorded" : "validation-bound");
}
END_TEST

/* Pictures are drawn in no call that is recorded, and then saved in one that is. */
START_TEST(a_moderate_cost_beside_more_that_is_unknown)
{
	for (int i = 0; i < STEPS; i++) {
		step(CALL_NS, SP_PHASE_device_idle);
		phase(STEP, SYNC_NS, SP_PHASE_device_wait);
		phase(AHEAD + 1, CALL_NS * 5, SP_PHASE_bookkeeping);
		m.now_ticks += CALL_NS * (_i ? 20 : 3);
	}
	ck_assert_str_eq(judge(), _i ? "unexplained" : "loop-bound");
}
END_TEST

START_TEST(functions_of_jax_that_were_compiled_ahead)
{
	name(AHEAD, "jax compiled call");
	for (int i = 0; i < STEPS; i++)
		step(CALL_NS, SP_PHASE_device_idle);
	pass_without_steps(AHEAD);
	ck_assert_str_eq(judge(), "not-recorded");
}
END_TEST

START_TEST(a_device_that_works_hides_the_wait)
{
	for (int i = 0; i < STEPS; i++) {
		step(WAIT_NS, SP_PHASE_device_busy);
		phase(STEP, 2 * WAIT_NS, SP_PHASE_device_wait);
	}
	ck_assert_str_eq(judge(), "compute-bound");
	ck_assert_double_eq_tol(value(SP_METRIC_lost_wait_share), 0, 1e-9);
	ck_assert(v.doubts[SP_DOUBT_whole_calls]);
	ck_assert_int_ne(v.confidence, SP_CONFIDENCE_HIGH);
}
END_TEST

START_TEST(a_device_that_nobody_asked_says_nothing)
{
	for (int i = 0; i < STEPS; i++)
		step(WAIT_NS, SP_PHASE_none);
	ck_assert_str_eq(judge(), "not-recorded");
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_LOW);
}
END_TEST

/* No step shows how long its work took. */
START_TEST(a_device_that_finishes_at_an_unknown_instant)
{
	for (int i = 0; i < STEPS; i++)
		step(WAIT_NS, SP_PHASE_device_drained);
	ck_assert_str_eq(judge(), "not-recorded");
}
END_TEST

/* Each eighth step reads the loss: from its call to the next wait its work was done. */
START_TEST(a_read_loss_bounds_the_work_of_a_step)
{
	for (int i = 0; i < STEPS; i++) {
		step(WAIT_NS, i && i % 8 == 0 ? SP_PHASE_device_idle : SP_PHASE_device_drained);
		if (i % 8 == 7)
			phase(STEP, SYNC_NS, SP_PHASE_device_wait);
	}
	ck_assert_str_eq(judge(), "input-bound");
	/* CALL_NS + SYNC_NS of work, of which CALL_NS lie in the call */
	ck_assert_double_gt(value(SP_METRIC_hidden_wait_share),
			    0.7 * value(SP_METRIC_loader_wait_share) * SYNC_NS / WAIT_NS);
	ck_assert_double_lt(value(SP_METRIC_hidden_wait_share),
			    1.1 * value(SP_METRIC_loader_wait_share) * (SYNC_NS + CALL_NS) /
				    WAIT_NS);
	ck_assert(v.doubts[SP_DOUBT_queue]);
}
END_TEST

/* A step's work takes nearly as long as a wait: the device may work in all of it. */
START_TEST(a_bound_that_leaves_nothing_is_none)
{
	for (int i = 0; i < STEPS; i++) {
		step(WAIT_NS, i && i % 8 == 0 ? SP_PHASE_device_idle : SP_PHASE_device_drained);
		if (i % 8 == 7)
			phase(STEP, WAIT_NS, SP_PHASE_device_wait);
	}
	ck_assert_str_eq(judge(), "not-recorded");
}
END_TEST

/* Batches come in bursts: the device has the work of several steps when the loop waits. */
START_TEST(a_backlog_counts_with_all_of_its_steps)
{
	for (int i = 0; i < STEPS; i++) {
		if (i % 4 == 0 && i % 8)
			step(4 * WAIT_NS, SP_PHASE_device_drained);
		else if (i && i % 8 == 0)
			step(4 * WAIT_NS, SP_PHASE_device_idle);
		else
			step(CALL_NS, SP_PHASE_device_busy);
		if (i % 8 == 7)
			phase(STEP, SYNC_NS, SP_PHASE_device_wait);
	}
	ck_assert_str_eq(judge(), "input-bound");
	/* half of the long waits begin with three or four steps' work */
	ck_assert_double_gt(value(SP_METRIC_hidden_wait_share),
			    0.3 * value(SP_METRIC_loader_wait_share) * SYNC_NS / WAIT_NS);
}
END_TEST

START_TEST(short_waits_need_no_answer)
{
	for (int i = 0; i < STEPS; i++) {
		step(CALL_NS / 10, SP_PHASE_device_drained);
		phase(STEP, WAIT_NS, SP_PHASE_device_wait);
	}
	ck_assert_str_eq(judge(), "compute-bound");
}
END_TEST

/* PyTorch's steps, and a function of JAX that makes their batches. */
START_TEST(a_device_that_works_for_another_framework)
{
	for (int i = 0; i < STEPS; i++) {
		uint64_t start = m.now_ticks;

		m.now_ticks += WAIT_NS;
		sp_maker_around(&m, SP_EV_python_call, ANSWER, m.now_ticks, SP_PHASE_device_busy);
		sp_maker_around(&m, SP_EV_loader_next, LOADER, start, ITERATOR);
		phase(STEP, CALL_NS, SP_PHASE_backward);
		phase(STEP, CALL_NS, SP_PHASE_optimizer);
	}
	ck_assert_str_eq(judge(), "input-bound");
	ck_assert(!v.metrics.has_device);
}
END_TEST

/* The loop reads no loss: the device still works on its steps when the last call has returned. */
START_TEST(a_wait_after_the_last_step_is_training)
{
	double steps_ns = STEPS * (WAIT_NS + CALL_NS), total_ns = 2 * steps_ns;

	for (int i = 0; i < STEPS; i++)
		step(WAIT_NS, SP_PHASE_device_busy);
	sp_maker_around(&m, SP_EV_loader_next, LOADER, m.now_ticks, ITERATOR | 1);
	phase(STEP, (uint64_t)steps_ns, SP_PHASE_device_wait);
	ck_assert_str_eq(judge(), "compute-bound");
	ck_assert_double_eq_tol(value(SP_METRIC_compute_share),
				(steps_ns + STEPS * CALL_NS) / total_ns, 0.01);
}
END_TEST

/* A result that is read much later is another one. */
START_TEST(a_wait_long_after_the_last_step)
{
	for (int i = 0; i < STEPS; i++)
		step(WAIT_NS, SP_PHASE_device_busy);
	sp_maker_around(&m, SP_EV_loader_next, LOADER, m.now_ticks, ITERATOR | 1);
	m.now_ticks += 2 * WAIT_NS;
	phase(STEP, WAIT_NS, SP_PHASE_device_wait);
	judge();
	ck_assert_double_eq_tol(value(SP_METRIC_compute_share),
				(double)CALL_NS / (WAIT_NS + CALL_NS), 0.01);
}
END_TEST

START_TEST(a_checkpoint_that_takes_most_of_the_time)
{
	for (int i = 0; i < STEPS; i++) {
		phase(STEP, WAIT_NS / 4, SP_PHASE_update);
		phase(SAVE, WAIT_NS, SP_PHASE_checkpoint_save);
	}
	ck_assert_str_eq(judge(), "checkpoint-bound");
	ck_assert(v.doubts[SP_DOUBT_whole_calls]);
}
END_TEST

START_TEST(a_checkpoint_that_takes_less)
{
	for (int i = 0; i < STEPS; i++) {
		phase(STEP, WAIT_NS, SP_PHASE_update);
		phase(SAVE, WAIT_NS / 2, SP_PHASE_checkpoint_save);
	}
	ck_assert_str_eq(judge(), "not-recorded");
}
END_TEST

START_TEST(compiling_that_takes_most_of_the_time)
{
	for (int i = 0; i < STEPS; i++) {
		uint64_t start = m.now_ticks;

		phase(COMPILE, i < STEPS / 2 ? WAIT_NS : 0, SP_PHASE_compile);
		m.now_ticks += CALL_NS;
		sp_maker_around(&m, SP_EV_python_call, STEP, start, SP_PHASE_update);
	}
	ck_assert_str_eq(judge(), "compile-bound");
	ck_assert_int_eq(v.id, SP_VERDICT_compile);
	ck_assert(v.doubts[SP_DOUBT_whole_calls]);
}
END_TEST

START_TEST(compiling_that_goes_on)
{
	for (int i = 0; i < STEPS; i++) {
		uint64_t start = m.now_ticks;

		phase(COMPILE, WAIT_NS, SP_PHASE_compile);
		m.now_ticks += CALL_NS;
		sp_maker_around(&m, SP_EV_python_call, STEP, start, SP_PHASE_update);
	}
	ck_assert_str_eq(judge(), "compile-bound");
	ck_assert_int_eq(v.id, SP_VERDICT_recompile);
	ck_assert_double_eq_tol(value(SP_METRIC_late_compiles), STEPS / 2, 0.1);
}
END_TEST

/* Once more near the end: that may come again. */
START_TEST(compiling_that_comes_late)
{
	for (int i = 0; i < STEPS; i++) {
		uint64_t start = m.now_ticks;

		if (i == 0 || i == STEPS - 2)
			phase(COMPILE, STEPS * WAIT_NS, SP_PHASE_compile);
		m.now_ticks += CALL_NS;
		sp_maker_around(&m, SP_EV_python_call, STEP, start, SP_PHASE_update);
	}
	ck_assert_str_eq(judge(), "compile-bound");
	ck_assert_int_eq(v.id, SP_VERDICT_late_compile);
	ck_assert_int_ne(v.confidence, SP_CONFIDENCE_HIGH);
}
END_TEST

START_TEST(time_in_no_call_that_is_most_of_the_time)
{
	for (int i = 0; i < STEPS; i++) {
		phase(STEP, WAIT_NS / 4, SP_PHASE_update);
		m.now_ticks += WAIT_NS;
	}
	ck_assert_str_eq(judge(), "unexplained");
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_LOW);
}
END_TEST

/* A round has its data: nothing is hidden in it, and no optimizer to change. */
START_TEST(rounds_of_boosting)
{
	name(STEP, "step: xgboost round");
	for (int i = 0; i < STEPS; i++)
		phase(STEP, WAIT_NS, SP_PHASE_round);
	ck_assert_str_eq(judge(), "compute-bound");
	ck_assert_double_eq_tol(value(SP_METRIC_update_share), 1, 0.01);
	ck_assert(!v.doubts[SP_DOUBT_whole_calls]);
	for (uint32_t i = 0; i < v.advice_count; i++)
		ck_assert_int_ne(v.advice[i], SP_ADVICE_cheaper_optimizer);
}
END_TEST

START_TEST(rounds_that_explain_little)
{
	char text[1024];

	name(STEP, "step: xgboost round");
	for (int i = 0; i < STEPS; i++) {
		phase(STEP, WAIT_NS, SP_PHASE_round);
		m.now_ticks += WAIT_NS;
	}
	judge();
	sp_advice_text(&v, SP_ADVICE_unknown_names, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "(STAGEPROF_FUNCTIONS=__main__:FUNCTION)"));
}
END_TEST

/* Each call takes as long as a hundred short ones; the process's threads use so much of it. */
/* The use of the whole life, of which the most went by before the first step, is not the use of
 * the steps. */
START_TEST(steps_too_short_for_two_readings)
{
	struct sp_rusage_metadata life = {.process_threads = 4, .process_cpu_ns = CALL_NS};

	m.now_ticks += 1000 * (uint64_t)CALL_NS;
	for (int i = 0; i < STEPS; i++)
		step_of(1000, SP_PHASE_device_idle, 100 * CALL_NS);
	sp_maker_define(&m, SP_DEFINE_RUSAGE, 0, &life, sizeof(life));
	ck_assert_str_eq(judge(), "compute-bound");
	ck_assert(!v.metrics.of[SP_METRIC_idle_call_share].is_known);
	ck_assert(!v.metrics.of[SP_METRIC_blocked_share].is_known);
}
END_TEST

static const char *judge_calls(uint64_t percent)
{
	struct sp_step_rusage_metadata used = {.usage.process_threads = 4};

	for (int i = 0; i < STEPS; i++) {
		step_of(1000, SP_PHASE_device_idle, 100 * CALL_NS);
		used.at = m.now_ticks;
		sp_maker_define(&m, SP_DEFINE_STEP_RUSAGE, 0, &used, sizeof(used));
		used.usage.process_cpu_ns += CALL_NS * percent;
	}
	return judge();
}

/* Nothing says whether a call in which nothing computes sleeps or makes a batch. */
START_TEST(calls_in_which_nothing_computes)
{
	static const uint64_t percents[] = {100, 20, 60};

	ck_assert_str_eq(judge_calls(percents[_i]), _i == 1 ? "unexplained" : "compute-bound");
	ck_assert_double_eq_tol(value(SP_METRIC_idle_call_share), 1 - (double)percents[_i] / 100,
				0.03);
	ck_assert_int_eq(v.doubts[SP_DOUBT_unexplained], _i == 2);
	ck_assert_int_eq(strstr(v.text, " to ") != NULL, _i == 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("whole_steps");
	TCase *c = tcase_create("whole_steps");

	tcase_add_checked_fixture(c, setup, judged_trace_end);
	tcase_add_test(c, a_device_that_is_idle_waits_for_the_loader);
	tcase_add_test(c, a_device_that_works_hides_the_wait);
	tcase_add_test(c, a_device_that_nobody_asked_says_nothing);
	tcase_add_test(c, a_device_that_finishes_at_an_unknown_instant);
	tcase_add_test(c, a_read_loss_bounds_the_work_of_a_step);
	tcase_add_test(c, a_bound_that_leaves_nothing_is_none);
	tcase_add_test(c, a_backlog_counts_with_all_of_its_steps);
	tcase_add_test(c, short_waits_need_no_answer);
	tcase_add_test(c, a_device_that_works_for_another_framework);
	tcase_add_test(c, a_wait_after_the_last_step_is_training);
	tcase_add_test(c, a_wait_long_after_the_last_step);
	tcase_add_test(c, a_checkpoint_that_takes_most_of_the_time);
	tcase_add_test(c, a_checkpoint_that_takes_less);
	tcase_add_test(c, compiling_that_takes_most_of_the_time);
	tcase_add_test(c, compiling_that_goes_on);
	tcase_add_test(c, compiling_that_comes_late);
	tcase_add_test(c, time_in_no_call_that_is_most_of_the_time);
	tcase_add_loop_test(c, calls_in_which_nothing_computes, 0, 3);
	tcase_add_test(c, rounds_of_boosting);
	tcase_add_test(c, rounds_that_explain_little);
	tcase_add_test(c, two_calls_share_a_batch);
	tcase_add_test(c, steps_too_short_for_two_readings);
	tcase_add_loop_test(c, gradients_of_jax_outside_of_compiled_calls, 0, 2);
	tcase_add_loop_test(c, a_moderate_cost_beside_more_that_is_unknown, 0, 2);
	tcase_add_test(c, functions_of_jax_that_were_compiled_ahead);
	tcase_add_loop_test(c, advice_in_words_of_the_framework, 0,
			    sizeof(settings) / sizeof(settings[0]));
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
