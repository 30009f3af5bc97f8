/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of made traces: their values are known to the ns. Some runs have few metrics. One tick is
 * one ns.
 */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/verdict/judge.h"
#include "analyzer/verdict/saving.h"
#include "analyzer/verdict/verdict_text.h"
#include "analyzer/steps/lock_waits.h"
#include "analyzer/training/training_account.h"
#include "analyzer/verdict/whatif.h"
#include "tests/unit/analyzer/metrics/usual_step.h"
#include "tests/unit/common/suite.h"

enum { CONDITION = 7 };

/* Each thread of a server makes two steps, and then another one does: the time between them is in
 * no step, and one that is long hides what training waits for. */
START_TEST(threads_that_train_in_turns)
{
	enum { THREADS = 12, SPAN_NS = 2 * (1000 + 2 * WORK_NS + ADAM_NS), MANY = 3 };
	uint64_t apart_ns = _i == 0 ? 0 : _i == 1 ? SPAN_NS / MANY : MANY * SPAN_NS;
	uint64_t at = 1000;

	for (uint32_t thread = 0; thread < THREADS; thread++) {
		char file[16];

		sp_maker_finish(&m);
		thread_begin(10 + thread);
		names();
		m.now_ticks = at;
		step(1000);
		step(1000);
		at = m.now_ticks + apart_ns;
		snprintf(file, sizeof(file), "%u.zst", thread);
		sp_maker_put(&m, folder, file);
	}
	sp_load_one(&load, folder);
	ck_assert_int_eq(sp_verdict_make(&v, &load.report, &load.report.wait_thresholds), 0);
	ck_assert_uint_eq(load.report.training.count, THREADS);
	if (_i < 2)
		ck_assert_int_eq(v.id, SP_VERDICT_compute);
	else
		ck_assert_int_eq(v.id, SP_VERDICT_not_recorded);
	ck_assert_int_eq(v.doubts[SP_DOUBT_apart], _i == 1);
	ck_assert_int_eq(is_known(SP_METRIC_apart_share), _i > 0);
}
END_TEST

/* One rank alone does something now and then, and the others wait for it; or each step waits.
 * Beside other programs a third of the waits is far longer than the median. */
START_TEST(collectives_of_few_steps)
{
	enum { SHORT_NS = 10000, JITTER_NS = 200000, RARE = 10 };
	bool is_advised = false;

	names();
	for (int i = 0; i < STEPS; i++) {
		span(SP_EV_torch_range, LOADER, 1000, 0);
		m.now_ticks += WORK_NS;
		span(SP_EV_torch_backward, ADAM, WORK_NS, 0);
		span(SP_EV_ncclAllReduce, 0,
		     !_i || i % RARE == 0    ? LONG_NS
		     : _i == 2 && i % 3 == 1 ? JITTER_NS
					     : SHORT_NS,
		     4096);
		span(SP_EV_torch_range, ADAM, ADAM_NS, 0);
	}
	ck_assert_str_eq(judge(), "communication-bound");
	ck_assert_int_eq(v.id, _i ? SP_VERDICT_rare_communication : SP_VERDICT_communication);
	for (uint32_t i = 0; i < v.advice_count; i++)
		is_advised |= v.advice[i] == SP_ADVICE_rare_collectives;
	ck_assert_int_eq(is_advised, _i != 0);
	if (_i == 1)
		ck_assert_double_eq_tol(value(SP_METRIC_rare_communication_share), 0.99, 0.005);
}
END_TEST

/* Two loaders feed each step: the second one is late. */
START_TEST(a_slow_loader_of_two)
{
	enum { FAST_NS = 100000, FIRST = 0x1000, SECOND = 0x2000 };
	char text[SP_METRIC_TEXT_BYTES];
	bool is_advised = false;

	names();
	for (int i = 0; i < STEPS; i++) {
		span(SP_EV_loader_next, LOADER, FAST_NS, FIRST);
		if (_i == 0)
			span(SP_EV_loader_next, LOADER, WAIT_NS, SECOND);
		m.now_ticks += WORK_NS;
		span(SP_EV_torch_backward, ADAM, WORK_NS, 0);
		span(SP_EV_torch_range, ADAM, ADAM_NS, 0);
	}
	ck_assert_str_eq(judge(), "input-bound");
	ck_assert_int_eq(is_known(SP_METRIC_slow_loader), _i == 0);
	for (uint32_t i = 0; i < v.advice_count; i++)
		is_advised |= v.advice[i] == SP_ADVICE_slow_loader;
	ck_assert_int_eq(is_advised, _i == 0);
	if (_i)
		return;
	ck_assert_double_eq_tol(value(SP_METRIC_slow_loader_share),
				WAIT_NS / (double)(WAIT_NS + FAST_NS), 1e-6);
	sp_advice_text(&v, SP_ADVICE_slow_loader, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "loader 2 of the 2"));
}
END_TEST

START_TEST(waits_of_a_trainer_on_the_processor)
{
	const double step_ns = WAIT_NS + 2 * WORK_NS + ADAM_NS;
	const double total = STEPS * step_ns + FIRST_NS - WAIT_NS;

	names();
	for (int i = 0; i < STEPS; i++)
		step(i ? WAIT_NS : FIRST_NS);
	ck_assert_str_eq(judge(), "input-bound");
	ck_assert_double_eq(value(SP_METRIC_steps), STEPS);
	ck_assert_double_eq_tol(value(SP_METRIC_first_batch_share), (FIRST_NS - WAIT_NS) / total,
				1e-9);
	ck_assert_double_eq_tol(value(SP_METRIC_loader_wait_share), STEPS * WAIT_NS / total, 1e-9);
	/* no device but the processor: all of it is lost */
	ck_assert_double_eq_tol(value(SP_METRIC_lost_wait_share),
				value(SP_METRIC_loader_wait_share), 1e-12);
	ck_assert(!is_known(SP_METRIC_sync_share));
	ck_assert(!is_known(SP_METRIC_copy_share));
	ck_assert(!is_known(SP_METRIC_cores));
	ck_assert(v.doubts[SP_DOUBT_work_unseen]);
	ck_assert_double_eq_tol(value(SP_METRIC_step_mean_ns), step_ns, 1);
	ck_assert_double_eq_tol(value(SP_METRIC_wait_mean_ns), WAIT_NS, 1);
}
END_TEST

/* Every line is in the summary that people read. */
static void check_says(const char *const *lines)
{
	char *text = sp_load_print(&load, "summary", SP_FORMAT_TABLE);

	for (; *lines; lines++)
		ck_assert_msg(strstr(text, *lines) != NULL, "no \"%s\" in\n%s", *lines, text);
	free(text);
}

#define CHECK_SAYS(...) check_says((const char *const[]){__VA_ARGS__, NULL})

START_TEST(a_plain_program)
{
	sp_maker_file(&m, 1, SP_FILE_REGULAR, "/data/a");
	span(SP_EV_read, 1, 1000, 100);
	ck_assert_str_eq(judge(), "no-training");
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_LOW);
	ck_assert(v.doubts[SP_DOUBT_no_framework]);
	ck_assert_uint_eq(v.advice_count, 0);
	CHECK_SAYS("No training was seen", "steps      none: no optimizer step was seen",
		   "\nfile read ");
}
END_TEST

static void cover(const char *line)
{
	sp_maker_define(&m, SP_DEFINE_COVERAGE, 0, line, strlen(line));
}

START_TEST(a_framework_that_gives_steps_made_none)
{
	cover("framework\tbound\ttorch 2.13.0");
	span(SP_EV_read, 1, 1000, 100);
	ck_assert_str_eq(judge(), "no-training");
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_LOW);
	ck_assert(v.doubts[SP_DOUBT_idle_framework]);
	CHECK_SAYS("frameworks PyTorch 2.13.0: steps, input waits, phases");
}
END_TEST

START_TEST(a_model_was_called_and_no_optimizer)
{
	cover("framework\tbound\ttorch 2.13.0");
	span(SP_EV_python_call, 0, WORK_NS, SP_PHASE_forward_no_grad);
	ck_assert_str_eq(judge(), "no-training");
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_MEDIUM);
	ck_assert(v.doubts[SP_DOUBT_model_alone]);
}
END_TEST

/* Before its first step, or by its end. A person may have ended it by SIGTERM. */
static const struct {
	uint64_t ending;
	const char *code;
} failures[] = {
	{(uint64_t)SP_ENDING_EXITED << 8, "no-training"},
	{(uint64_t)SP_ENDING_EXITED << 8 | 1, "not-recorded"},
	{(uint64_t)SP_ENDING_SIGNALED << 8 | SIGABRT, "not-recorded"},
	{(uint64_t)SP_ENDING_SIGNALED << 8 | SIGTERM, "no-training"},
};

START_TEST(a_program_that_fails_made_no_step)
{
	m.header.ending = sp_checked_make(failures[_i].ending);
	m.size = 0;
	sp_maker_header(&m);
	cover("framework\tbound\ttorch 2.13.0");
	sp_maker_span(&m, SP_EV_read, 0, 0, 1000, 1000);
	ck_assert_str_eq(judge(), failures[_i].code);
	if (v.id == SP_VERDICT_not_recorded)
		CHECK_SAYS("the program failed");
}
END_TEST

START_TEST(a_framework_without_steps)
{
	cover("framework\tbound\ttorch 2.13.0");
	cover("framework\tloaded\tjax 0.10.2\x1b[31m");
	cover("framework\tloaded\tmpi");
	cover("framework\tloaded\tof the future 1");
	cover("framework\tloaded\t");
	sp_maker_file(&m, 1, SP_FILE_REGULAR, "/data/a");
	span(SP_EV_read, 1, 1000000, 100);
	ck_assert_str_eq(judge(), "not-recorded");
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_LOW);
	ck_assert(v.metrics.of[SP_METRIC_read_rate].is_known);
	ck_assert(!v.metrics.of[SP_METRIC_decode_ns].is_known);
	CHECK_SAYS("steps of JAX 0.10.2", "STAGEPROF_FUNCTIONS", "reading and opening files",
		   "           JAX 0.10.2\\x1B[31m: loaded", "           MPI: loaded");
}
END_TEST

START_TEST(a_framework_of_the_system_trains_nothing)
{
	cover("framework\tloaded\tmpi");
	span(SP_EV_read, 1, 1000, 100);
	ck_assert_str_eq(judge(), "no-training");
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_LOW);
}
END_TEST

static void take_batches(void)
{
	names();
	for (int i = 0; i < STEPS; i++) {
		span(SP_EV_torch_range, LOADER, WAIT_NS, 0);
		m.now_ticks += WORK_NS;
	}
}

START_TEST(batches_that_nothing_took)
{
	take_batches();
	ck_assert_str_eq(judge(), "not-recorded");
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_LOW);
	CHECK_SAYS("a DataLoader gave batches");
}
END_TEST

START_TEST(batches_for_another_framework)
{
	cover("framework\tloaded\tjax 0.10.2");
	take_batches();
	ck_assert_str_eq(judge(), "not-recorded");
	CHECK_SAYS("steps of JAX 0.10.2");
}
END_TEST

START_TEST(batches_and_no_step)
{
	take_batches();
	span(SP_EV_python_call, 0, WORK_NS, SP_PHASE_forward_no_grad);
	ck_assert_str_eq(judge(), "no-steps");
	CHECK_SAYS("no optimizer stepped: this is evaluation, inference, or training", "steps      "
										       "none");
}
END_TEST

START_TEST(one_step)
{
	names();
	step(WAIT_NS);
	ck_assert_str_eq(judge(), "too-few-steps");
	ck_assert_ptr_nonnull(strstr(v.text, "Steps seen: 1,"));
	CHECK_SAYS("too few to tell", "steps      1:", "\ninput wait ", "\nbackward ");
}
END_TEST

START_TEST(lost_events_and_newer_ones_are_doubts)
{
	names();
	for (int i = 0; i < STEPS; i++)
		step(WAIT_NS);
	span(1000, 0, 5, 0);
	m.lost = 3;
	ck_assert_str_eq(judge(), "input-bound");
	ck_assert(v.doubts[SP_DOUBT_lost]);
	ck_assert(v.doubts[SP_DOUBT_unknown_events]);
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_LOW);
	CHECK_SAYS("events of the trace are lost", "lost       3 events",
		   "1 events of kinds that this version does not");
}
END_TEST

START_TEST(what_the_kernel_counted)
{
	struct sp_cpu_metadata cpus = {.allowed = 8, .quota_millicores = 1500};
	struct sp_rusage_metadata usage = {.process_threads = 4};

	names();
	sp_maker_define(&m, SP_DEFINE_CPUS, 0, &cpus, sizeof(cpus));
	for (int i = 0; i < STEPS; i++)
		step(1000);
	usage.cpu_ns = m.now_ticks / 4;
	usage.ready_ns = 3 * usage.cpu_ns;
	usage.process_cpu_ns = 2 * m.now_ticks;
	usage.process_ready_ns = 6 * m.now_ticks;
	sp_maker_define(&m, SP_DEFINE_RUSAGE, 0, &usage, sizeof(usage));
	m.header.image_start_ns = 0;
	judge();
	/* a quota of one core and a half keeps two busy */
	ck_assert_double_eq(value(SP_METRIC_cores), 2);
	ck_assert(is_known(SP_METRIC_contention_share));
	ck_assert(is_known(SP_METRIC_wanted_per_core));
	ck_assert_double_eq(value(SP_METRIC_trainer_threads), 4);
}
END_TEST

/* Training in which eight threads want a core at each time, after a start of a hundred seconds. */
/* Steps on two cores, with usage that grows by these percents of the time. Returns the usage. */
static struct sp_rusage_metadata put_used_steps(uint32_t threads, const uint64_t (*percent)[4])
{
	struct sp_cpu_metadata cpus = {.allowed = 2};
	struct sp_step_rusage_metadata usage = {.usage.process_threads = threads};

	names();
	sp_maker_define(&m, SP_DEFINE_CPUS, 0, &cpus, sizeof(cpus));
	for (int i = 0; i < STEPS; i++) {
		uint64_t begin = m.now_ticks, ns;

		step(1000);
		usage.at = m.now_ticks;
		sp_maker_define(&m, SP_DEFINE_STEP_RUSAGE, 0, &usage, sizeof(usage));
		ns = m.now_ticks - begin;
		usage.usage.cpu_ns += ns * (*percent)[0] / 100;
		usage.usage.ready_ns += ns * (*percent)[1] / 100;
		usage.usage.process_cpu_ns += ns * (*percent)[2] / 100;
		usage.usage.process_ready_ns += ns * (*percent)[3] / 100;
	}
	return usage.usage;
}

static void put_crowded_training(void)
{
	struct sp_rusage_metadata at_end = {.process_threads = 16};

	at_end.process_ready_ns =
		put_used_steps(16, &(const uint64_t[4]){25, 50, 200, 600}).process_ready_ns;
	sp_maker_define(&m, SP_DEFINE_RUSAGE, 0, &at_end, sizeof(at_end));
}

/* The quiet start hides nothing. */
START_TEST(what_the_kernel_counted_of_training_alone)
{
	put_crowded_training();
	m.header.image_start_ns = 0;
	ck_assert_str_eq(judge(), "cpu-oversubscribed");
	ck_assert_double_eq_tol(value(SP_METRIC_wanted_per_core), 4, 0.2);
	ck_assert_double_eq_tol(value(SP_METRIC_contention_share), 0.5, 0.02);
	ck_assert_double_eq(value(SP_METRIC_trainer_threads), 16);
}
END_TEST

/* A thread that has half a core waits for other programs, less what the job's others took. */
START_TEST(what_other_programs_took)
{
	put_used_steps(2, &(const uint64_t[4]){50, 50, 70, 50});
	judge();
	ck_assert_double_eq_tol(value(SP_METRIC_contention_share), 0.5, 0.02);
	ck_assert_double_eq_tol(value(SP_METRIC_outside_share), 0.4, 0.02);
	ck_assert(!is_known(SP_METRIC_worker_outside_share));
}
END_TEST

/* Another process of the job, whose threads are on the cores for `cores` of its time. It begins at
 * `begin_ticks` and lives for `ns`. */
static void put_bystander(uint64_t begin_ticks, uint64_t ns, double cores)
{
	const struct sp_rusage_metadata usage = {.process_threads = 2,
						 .process_cpu_ns = (uint64_t)((double)ns * cores)};

	sp_maker_put(&m, folder, "trainer.zst");
	sp_maker_init(&m, 11, 11, 0);
	m.header.opened.ticks = m.now_ticks = begin_ticks;
	m.header.image_start_ns = 0;
	sp_maker_header(&m);
	span(SP_EV_read, 0, ns, 0);
	sp_maker_define(&m, SP_DEFINE_RUSAGE, 0, &usage, sizeof(usage));
}

/* The same beside an evaluator of the job, which takes the cores for as long. */
START_TEST(what_another_process_of_the_job_took)
{
	uint64_t begin = m.now_ticks;

	put_used_steps(2, &(const uint64_t[4]){50, 50, 70, 50});
	put_bystander(begin, m.now_ticks - begin, 1.3);
	judge();
	ck_assert_double_eq_tol(value(SP_METRIC_outside_share), 0, 0.02);
	ck_assert_double_eq_tol(value(SP_METRIC_bystander_cores), 1.3, 0.1);
}
END_TEST

/* Another thread holds the interpreter's lock, a file is waited for in the model, or threads that
 * compute for it are. */
START_TEST(a_model_that_waits_for_a_lock)
{
	const double step_ns = 1000 + 2 * WORK_NS + ADAM_NS;

	names();
	for (int i = 0; i < STEPS; i++) {
		uint64_t start;

		span(SP_EV_torch_range, LOADER, 1000, 0);
		start = m.now_ticks;
		span(_i == 1 ? SP_EV_sem_wait : SP_EV_cond_wait, CONDITION, WORK_NS / 2,
		     _i == 0 && i % 2 == 0 ? -ETIMEDOUT : 0);
		m.now_ticks += WORK_NS / 2;
		sp_maker_around(&m, SP_EV_python_call, 0, start, SP_PHASE_forward);
		span(SP_EV_torch_backward, ADAM, WORK_NS, 0);
		span(SP_EV_torch_range, ADAM, ADAM_NS, 0);
	}
	ck_assert_str_eq(judge(), _i ? "compute-bound" : "lock-bound");
	ck_assert_int_eq(v.doubts[SP_DOUBT_timed_waits], _i == 0);
	ck_assert_double_eq_tol(value(SP_METRIC_model_lock_share), _i ? 0 : WORK_NS / 2 / step_ns,
				0.01);
}
END_TEST

/* The loss asks for the lock, too, and other threads give it up there as well. A wait that times
 * out (0) goes on for a time that is too short to be seen, or (1) is followed by a longer one. */
START_TEST(a_lock_is_asked_for_everywhere)
{
	const double step_ns = 3 * WORK_NS + ADAM_NS, unseen_ns = _i ? 0 : SP_LOCK_WAIT_LEAST_NS;

	names();
	for (int i = 0; i < STEPS; i++) {
		uint64_t start = m.now_ticks;

		if (_i)
			span(SP_EV_cond_wait, CONDITION, WORK_NS / 4, -ETIMEDOUT);
		span(SP_EV_cond_wait, CONDITION, _i ? WORK_NS / 4 : WORK_NS / 2,
		     _i ? 0 : -ETIMEDOUT);
		m.now_ticks += WORK_NS / 2;
		sp_maker_around(&m, SP_EV_python_call, 0, start, SP_PHASE_forward);
		span(SP_EV_cond_wait, CONDITION, WORK_NS, 0);
		span(SP_EV_torch_backward, ADAM, WORK_NS, 0);
		span(SP_EV_torch_range, ADAM, ADAM_NS, 0);
	}
	judge();
	ck_assert_double_eq_tol(value(SP_METRIC_model_lock_share), WORK_NS / 2 / step_ns, 0.02);
	ck_assert_double_eq_tol(value(SP_METRIC_lock_share),
				(3 * WORK_NS / 2 + unseen_ns) / step_ns, 0.01);
	ck_assert_double_eq(sp_advice_saving(&v.metrics, SP_ADVICE_other_threads).most,
			    value(SP_METRIC_lock_share));
}
END_TEST

/* A process that imported as long as nothing trained, and then waited. */
START_TEST(what_a_launcher_took_before_the_training)
{
	uint64_t begin = m.now_ticks, ns;

	put_used_steps(2, &(const uint64_t[4]){50, 50, 70, 50});
	ns = m.now_ticks - begin;
	put_bystander(begin - ns, 2 * ns, 0.5);
	judge();
	ck_assert_double_eq_tol(value(SP_METRIC_bystander_cores), 0, 0.05);
}
END_TEST

/* A cache that fills, in a loader that starts soon or late, or a first epoch like the others.
 * The first batch is made like the others, and the start of its loader is no part of that. */
START_TEST(a_first_epoch_that_waits)
{
	enum { SOON, LATE, EVEN };
	const uint64_t first_ns = _i == EVEN ? 1000 : 5 * WORK_NS;
	const double batches = STEPS / 4.0;

	names();
	for (int epoch = 0; epoch < 4; epoch++) {
		for (int i = 0; i < STEPS / 4; i++)
			step(epoch ? 1000 : _i == LATE && !i ? 10 * first_ns : first_ns);
		span(SP_EV_torch_range, LOADER, 1000, 0); /* there is no more batch */
	}
	judge();
	ck_assert_double_eq(value(SP_METRIC_epochs), 4);
	ck_assert_int_eq(is_known(SP_METRIC_first_epoch_wait_share), _i != EVEN);
	ck_assert_int_eq(v.doubts[SP_DOUBT_first_epoch], _i == SOON);
	if (_i == EVEN)
		return;
	ck_assert_double_eq_tol(value(SP_METRIC_first_epoch_wait_share),
				value(SP_METRIC_lost_wait_share) * batches / (batches - 1), 0.01);
	ck_assert_double_eq(sp_advice_saving(&v.metrics, SP_ADVICE_first_epoch).most,
			    value(SP_METRIC_first_epoch_wait_share));
}
END_TEST

/* A run of two trainings: one after the other they want no more cores than one alone does. */
START_TEST(trainings_that_follow_each_other_do_not_add_up)
{
	uint64_t end;

	put_crowded_training();
	end = m.now_ticks;
	sp_maker_put(&m, folder, "first.zst");
	sp_maker_init(&m, 11, 11, 0);
	sp_maker_header(&m);
	if (_i)
		m.now_ticks = end;
	put_crowded_training();
	judge();
	ck_assert_uint_eq(load.report.training.count, 2);
	ck_assert_double_eq_tol(value(SP_METRIC_wanted_per_core), _i ? 4 : 8, 0.2);
}
END_TEST

START_TEST(usage_cut_short_is_passed_over)
{
	uint64_t few[2] = {1, 2};

	names();
	sp_maker_define(&m, SP_DEFINE_CPUS, 0, few, 3);
	sp_maker_define(&m, SP_DEFINE_RUSAGE, 0, few, sizeof(few));
	sp_maker_define(&m, SP_DEFINE_STEP_RUSAGE, 0, few, sizeof(few));
	for (int i = 0; i < STEPS; i++)
		step(1000);
	ck_assert_str_eq(judge(), "compute-bound");
	ck_assert(!is_known(SP_METRIC_cores));
	ck_assert(!is_known(SP_METRIC_contention_share));
}
END_TEST

/* On a sleeping device nothing shares a core with the loader: the bounds are known. */
START_TEST(free_input_takes_the_wait_away)
{
	struct sp_what_if w;

	names();
	for (int i = 0; i < STEPS; i++)
		step(WAIT_NS);
	judge();
	w = sp_what_if_make(&v.metrics, SP_WHAT_IF_input_free, SP_WORKERS_UNASKED);
	ck_assert(w.is_known);
	ck_assert_double_eq_tol(w.now_ns, WAIT_NS + 2 * WORK_NS + ADAM_NS, 1);
	ck_assert_double_eq_tol(w.low_ns, 2 * WORK_NS + ADAM_NS, 1);
	ck_assert_double_eq_tol(w.high_ns, 2 * WORK_NS + ADAM_NS, 1);
	w = sp_what_if_make(&v.metrics, SP_WHAT_IF_no_syncs, SP_WORKERS_UNASKED);
	ck_assert(!w.is_known);
}
END_TEST

static void what_if_setup(double batch_ns, double workers)
{
	memset(&v, 0, sizeof(v));
	sp_metrics_set(&v.metrics, SP_METRIC_step_mean_ns, 100e6);
	sp_metrics_set(&v.metrics, SP_METRIC_wait_mean_ns, 80e6);
	sp_metrics_set(&v.metrics, SP_METRIC_batch_work_ns, batch_ns);
	sp_metrics_set(&v.metrics, SP_METRIC_workers, workers);
	sp_metrics_set(&v.metrics, SP_METRIC_workers_wanted, 5);
	sp_metrics_set(&v.metrics, SP_METRIC_cores, 16);
	sp_metrics_set(&v.metrics, SP_METRIC_batch_cpu_ns, batch_ns);
	sp_metrics_set(&v.metrics, SP_METRIC_batch_ready_ns, 0);
	sp_metrics_set(&v.metrics, SP_METRIC_trainer_cpu_ns, 20e6);
}

/* high_ns: of even steps and batches; those that differ wait for each other. */
static void check_workers(uint32_t workers, double low_ns, double high_ns)
{
	struct sp_what_if w = sp_what_if_make(&v.metrics, SP_WHAT_IF_workers, workers);

	ck_assert(w.is_known);
	ck_assert_uint_eq(w.workers, workers);
	ck_assert_double_eq_tol(w.low_ns, low_ns, 1);
	ck_assert_double_ge(w.high_ns, high_ns - 1);
	ck_assert_double_le(w.high_ns, 1.4 * high_ns);
}

START_TEST(more_workers_until_something_else_is_slowest)
{
	what_if_setup(100e6, 1);
	check_workers(1, 100e6, 100e6);
	check_workers(2, 50e6, 50e6);
	check_workers(4, 25e6, 25e6);
	check_workers(8, 20e6, 20e6); /* the training thread */
	check_workers(0, 120e6, 120e6);
	/* two cores for 120 ms of work a step */
	what_if_setup(100e6, 1);
	sp_metrics_set(&v.metrics, SP_METRIC_cores, 2);
	check_workers(8, 60e6, 60e6);
	/* workers that sleep need no core */
	what_if_setup(100e6, 1);
	sp_metrics_set(&v.metrics, SP_METRIC_cores, 2);
	sp_metrics_set(&v.metrics, SP_METRIC_batch_cpu_ns, 1e6);
	check_workers(8, 20e6, 20e6);
	/* each batch has to be received, which the wait for one worker hides */
	what_if_setup(100e6, 1);
	sp_metrics_set(&v.metrics, SP_METRIC_handover_ns, 6e6);
	check_workers(2, 50e6, 50e6);
	check_workers(8, 26e6, 26e6);
	/* two batches a step, of half that size */
	what_if_setup(50e6, 1);
	sp_metrics_set(&v.metrics, SP_METRIC_handover_ns, 3e6);
	sp_metrics_set(&v.metrics, SP_METRIC_batches_per_step, 2);
	check_workers(2, 50e6, 50e6);
	check_workers(8, 26e6, 26e6);
	check_workers(0, 120e6, 120e6);
	/* workers that wait for each other */
	what_if_setup(100e6, 1);
	sp_metrics_set(&v.metrics, SP_METRIC_fetch_locked_share, SP_FETCHES_LOCKED);
	check_workers(2, 50e6, 100e6);
}
END_TEST

/* The process lived for ten times the training, or hardly longer than it. */
START_TEST(a_window_much_shorter_than_its_process)
{
	names();
	span(1, 0, 1000, 0);
	m.now_ticks += _i ? 20 * STEPS * (WAIT_NS + 2 * WORK_NS + ADAM_NS) : 0;
	for (int i = 0; i < STEPS; i++)
		step(WAIT_NS);
	judge();
	ck_assert_int_eq(v.doubts[SP_DOUBT_short_window], _i);
}
END_TEST

/* A metric over all predictions so far: the loop's code takes longer from step to step. */
START_TEST(steps_that_grow)
{
	bool is_advised = false;

	names();
	for (uint64_t i = 0; i < 100; i++) {
		step(1000);
		m.now_ticks += WORK_NS + (_i ? i * WORK_NS / 10 : 0);
	}
	judge();
	ck_assert_int_eq(v.doubts[SP_DOUBT_drift], _i);
	ck_assert(!_i || !strcmp(v.metrics.of[SP_METRIC_grown_row].text, "other"));
	for (uint32_t i = 0; i < v.advice_count; i++)
		is_advised |= v.advice[i] == SP_ADVICE_growth;
	ck_assert_int_eq(is_advised, _i);
	ck_assert(!_i || !strcmp(v.metrics.of[SP_METRIC_growth_begin].text, "little by little"));
	ck_assert(!_i ||
		  value(SP_METRIC_late_step_ns) > value(SP_METRIC_early_step_ns) + 5 * WORK_NS);
}
END_TEST

/* In place of growth: some longer steps near the end, and a period that the end cuts; a jump. */
START_TEST(steps_that_spread)
{
	static const uint64_t period = 30;

	names();
	for (uint64_t i = 0; i < 100; i++) {
		bool is_longer[] = {i >= 80 && i % 10 < 4, i % period < period / 2, i >= 60};

		step(1000);
		m.now_ticks += WORK_NS + (is_longer[_i] ? 3 * WORK_NS : 0);
	}
	judge();
	ck_assert_int_eq(v.doubts[SP_DOUBT_drift], _i == 2);
	if (_i == 2)
		ck_assert_str_eq(v.metrics.of[SP_METRIC_growth_begin].text, "from about step 61 "
									    "on");
}
END_TEST

/* A forward that does something once, or a first batch that takes as long. */
START_TEST(a_first_step_that_takes_long)
{
	const double once_ns = 10.0 * STEPS * WORK_NS;
	const double total_ns = STEPS * (1000 + 2 * WORK_NS + ADAM_NS) + once_ns;

	names();
	for (int i = 0; i < STEPS; i++) {
		span(SP_EV_torch_range, LOADER, _i && !i ? 1000 + (uint64_t)once_ns : 1000, 0);
		m.now_ticks += WORK_NS + (_i || i ? 0 : (uint64_t)once_ns);
		span(SP_EV_torch_backward, ADAM, WORK_NS, 0);
		span(SP_EV_torch_range, ADAM, ADAM_NS, 0);
	}
	ck_assert_str_eq(judge(), _i ? "first-batch-bound" : "compute-bound");
	ck_assert_int_eq(v.doubts[SP_DOUBT_warm_up], !_i);
	if (!_i)
		ck_assert_double_eq_tol(value(SP_METRIC_warm_up_share), once_ns / total_ns, 1e-6);
}
END_TEST

/* The loop's own code each tenth step, as a log, or the same time in each step. */
START_TEST(own_code_in_few_steps)
{
	const double total_ns = STEPS * (2 * WORK_NS + ADAM_NS + 1000) + 3 * LONG_NS;

	names();
	for (int i = 0; i < STEPS; i++) {
		step(1000);
		if (i + 1 < STEPS)
			m.now_ticks += _i ? 3 * LONG_NS / STEPS : i % 10 == 9 ? LONG_NS : 0;
	}
	/* no call of a model was seen: it may be an evaluation */
	ck_assert_str_eq(judge(), _i ? "loop-bound" : "unexplained");
	ck_assert_int_eq(is_known(SP_METRIC_rare_loop_share), !_i);
	ck_assert_int_eq(is_known(SP_METRIC_hidden_loop_share), !_i);
	if (!_i)
		ck_assert_double_eq_tol(value(SP_METRIC_rare_loop_share), 3 * LONG_NS / total_ns,
					0.01);
}
END_TEST

/* From backward to the optimizer nothing is known. */
static void step_with_loop(bool has_backward)
{
	span(SP_EV_torch_range, LOADER, 1000, 0);
	m.now_ticks += WORK_NS;
	if (has_backward)
		span(SP_EV_torch_backward, ADAM, WORK_NS, 0);
	m.now_ticks += WORK_NS;
	span(SP_EV_fsync, 1, WORK_NS, 0);
	span(SP_EV_torch_range, ADAM, ADAM_NS, 0);
}

/* Between backward and optimizer: gradients are clipped, or no call says what is done. */
START_TEST(clipping_is_no_code_of_the_loop)
{
	const double total_ns = STEPS * (1000 + 3 * WORK_NS + ADAM_NS);

	names();
	for (int i = 0; i < STEPS; i++) {
		span(SP_EV_torch_range, LOADER, 1000, 0);
		m.now_ticks += WORK_NS;
		span(SP_EV_torch_backward, ADAM, WORK_NS, 0);
		if (_i)
			m.now_ticks += WORK_NS;
		else
			span(SP_EV_python_call, ADAM, WORK_NS, SP_PHASE_grad_clip);
		span(SP_EV_torch_range, ADAM, ADAM_NS, 0);
	}
	ck_assert_str_eq(judge(), _i ? "loop-bound" : "compute-bound");
	ck_assert_double_eq_tol(value(SP_METRIC_loop_share), _i ? STEPS * WORK_NS / total_ns : 0,
				1e-6);
	ck_assert_double_eq_tol(value(SP_METRIC_compute_share) + value(SP_METRIC_loop_share),
				1 - STEPS * 1000 / total_ns, 1e-6);
}
END_TEST

/* 0: gradients are cleared between two backwards of a step; 1: they accumulate; 2: a batch is taken
 * between the two, so the code there is the loop's. */
static void two_rounds(int kind)
{
	for (int round = 0; round < 2; round++) {
		if (!round || kind == 2)
			span(SP_EV_torch_range, LOADER, 1000, 0);
		span(SP_EV_python_call, ADAM, WORK_NS, SP_PHASE_forward);
		span(SP_EV_torch_backward, ADAM, WORK_NS, 0);
		if (round)
			break;
		m.now_ticks += WORK_NS;
		if (!kind)
			span(SP_EV_python_call, ADAM, 1000, SP_PHASE_zero_grad);
	}
	span(SP_EV_torch_range, ADAM, ADAM_NS, 0);
}

START_TEST(between_two_backwards)
{
	const double step_ns = 5 * WORK_NS + ADAM_NS + (_i == 1 ? 1000 : 2000);

	names();
	for (int i = 0; i < STEPS; i++)
		two_rounds(_i);
	ck_assert_str_eq(judge(), _i ? "loop-bound" : "compute-bound");
	ck_assert_double_eq_tol(value(SP_METRIC_loop_share), _i ? WORK_NS / step_ns : 0, 1e-6);
	ck_assert_double_eq_tol(value(SP_METRIC_own_update_share), _i ? 0 : WORK_NS / step_ns,
				1e-6);
	ck_assert_double_eq_tol(value(SP_METRIC_between_share), _i == 1 ? WORK_NS / step_ns : 0,
				1e-6);
	ck_assert_int_eq(v.doubts[SP_DOUBT_between], _i != 2);
}
END_TEST

/* No optimizer is seen, so the code after backward may change the weights. */
START_TEST(an_update_by_hand)
{
	names();
	for (int i = 0; i < STEPS; i++) {
		span(SP_EV_torch_range, LOADER, 1000, 0);
		span(SP_EV_python_call, ADAM, WORK_NS, SP_PHASE_forward);
		span(SP_EV_torch_backward, ADAM, WORK_NS, 0);
		m.now_ticks += WORK_NS;
	}
	ck_assert_str_eq(judge(), "loop-bound");
	ck_assert(v.doubts[SP_DOUBT_between]);
	ck_assert_int_ne(v.confidence, SP_CONFIDENCE_HIGH);
}
END_TEST

START_TEST(the_loop_of_the_trainer)
{
	names();
	sp_maker_file(&m, 1, SP_FILE_REGULAR, "/log");
	for (int i = 0; i < STEPS; i++)
		step_with_loop(_i != 0);
	if (_i == 0) {
		ck_assert_str_eq(judge(), "unexplained");
		ck_assert(!is_known(SP_METRIC_loop_share));
		return;
	}
	ck_assert_str_eq(judge(), "loop-bound");
	ck_assert_double_eq_tol(value(SP_METRIC_loop_ns), 2 * WORK_NS, 1);
	ck_assert_double_eq_tol(value(SP_METRIC_loop_share),
				2.0 * WORK_NS / (1000 + 4 * WORK_NS + ADAM_NS), 1e-3);
	ck_assert_double_eq_tol(value(SP_METRIC_forward_ratio), 1, 1e-6);
	ck_assert_double_eq_tol(value(SP_METRIC_fsync_share),
				1.0 * WORK_NS / (1000 + 4 * WORK_NS + ADAM_NS), 1e-3);
}
END_TEST

/* Batches of workers are in shared memory, and the loop releases them. */
START_TEST(releasing_batches_is_no_code_of_the_loop)
{
	names();
	for (int i = 0; i < STEPS; i++) {
		span(SP_EV_torch_range, LOADER, 1000, 0);
		span(SP_EV_munmap, 0, WORK_NS, 0);
		span(SP_EV_python_call, ADAM, WORK_NS, SP_PHASE_forward);
		span(SP_EV_torch_backward, ADAM, WORK_NS, 0);
		span(SP_EV_torch_range, ADAM, ADAM_NS, 0);
	}
	ck_assert_str_ne(judge(), "loop-bound");
	ck_assert_double_eq_tol(value(SP_METRIC_loop_share), 0, 1e-6);
}
END_TEST

/* A log that a slow reader takes from a pipe: the wait is of a call that is known. */
START_TEST(the_loop_writes_to_a_pipe)
{
	bool is_advised = false;

	names();
	sp_maker_file(&m, 1, SP_FILE_PIPE, "pipe:[1]");
	for (int i = 0; i < STEPS; i++) {
		span(SP_EV_torch_range, LOADER, 1000, 0);
		m.now_ticks += WORK_NS;
		span(SP_EV_torch_backward, ADAM, WORK_NS, 0);
		span(SP_EV_write, 1, WORK_NS, 100);
		span(SP_EV_torch_range, ADAM, ADAM_NS, 0);
	}
	ck_assert_str_eq(judge(), "loop-bound");
	ck_assert_double_eq_tol(value(SP_METRIC_loop_others_share),
				1.0 * WORK_NS / (1000 + 3 * WORK_NS + ADAM_NS), 1e-3);
	ck_assert_double_eq_tol(value(SP_METRIC_write_share), 0, 1e-6);
	for (uint32_t i = 0; i < v.advice_count; i++)
		is_advised |= v.advice[i] == SP_ADVICE_loop_waits;
	ck_assert(is_advised);
}
END_TEST

/* A line of a log is made before it is written. Other code of the loop is not counted, and this
 * code (1) for no longer than the calls take. */
START_TEST(a_line_of_a_log_is_made_first)
{
	const uint64_t made_ns = _i ? 3 * WORK_NS : WORK_NS / 2;

	names();
	sp_maker_file(&m, 1, SP_FILE_REGULAR, "/log");
	for (int i = 0; i < STEPS; i++) {
		span(SP_EV_torch_range, LOADER, 1000, 0);
		span(SP_EV_python_call, ADAM, WORK_NS, SP_PHASE_forward);
		span(SP_EV_torch_backward, ADAM, WORK_NS, 0);
		m.now_ticks += made_ns;
		span(SP_EV_write, 1, WORK_NS / 4, 100);
		span(SP_EV_fsync, 1, WORK_NS, 0);
		span(SP_EV_torch_range, ADAM, ADAM_NS, 0);
		m.now_ticks += WORK_NS;
	}
	ck_assert_str_eq(judge(), "loop-bound");
	ck_assert_double_eq_tol(value(SP_METRIC_log_code_share) / value(SP_METRIC_fsync_share),
				_i ? 1.25 : 0.5, 1e-6);
}
END_TEST

/* A loader's batch, a call of the model if it is observed, and other_ns before the backward. */
static void step_with_other(bool is_observed, uint64_t other_ns)
{
	span(SP_EV_torch_range, LOADER, 1000, 0);
	if (is_observed)
		span(SP_EV_python_call, ADAM, WORK_NS, SP_PHASE_forward);
	m.now_ticks += other_ns;
	span(SP_EV_torch_backward, ADAM, WORK_NS, 0);
	span(SP_EV_torch_range, ADAM, ADAM_NS, 0);
}

static void train_with_other(bool is_observed, uint64_t other_ns)
{
	names();
	for (int i = 0; i < STEPS; i++)
		step_with_other(is_observed, other_ns);
}

/* The loss may be the loop's own code: a share with it is what the model takes at most. */
START_TEST(a_model_and_what_follows_its_call)
{
	const double model_ns = 2 * WORK_NS + ADAM_NS, all_ns = model_ns + WORK_NS + 1000;

	train_with_other(true, WORK_NS);
	ck_assert_str_eq(judge(), "compute-bound");
	ck_assert_double_eq_tol(value(SP_METRIC_model_share), model_ns / all_ns, 1e-6);
	ck_assert_double_eq_tol(value(SP_METRIC_unmarked_share), WORK_NS / all_ns, 1e-6);
	ck_assert_ptr_nonnull(strstr(v.text, "the model takes 68.4% to 99.9% of"));
	ck_assert(v.doubts[SP_DOUBT_unexplained]);
	ck_assert(!is_known(SP_METRIC_eager_share));
}
END_TEST

START_TEST(a_model_alone)
{
	train_with_other(true, WORK_NS / 100);
	ck_assert_str_eq(judge(), "compute-bound");
	ck_assert_ptr_nonnull(strstr(v.text, "the model takes 99.5% of"));
	ck_assert(!v.doubts[SP_DOUBT_unexplained]);
	ck_assert(is_known(SP_METRIC_eager_share));
}
END_TEST

/* More time follows the model's call than the model takes, though less than half of all. */
START_TEST(a_model_that_takes_less_than_what_follows)
{
	train_with_other(true, 3 * WORK_NS);
	ck_assert_str_eq(judge(), "unexplained");
	ck_assert_ptr_nonnull(strstr(v.text, "takes at least 41.9%"));
}
END_TEST

/* A model of functions has no call: what lies before its backward is no more than a bound. */
START_TEST(a_model_without_a_call)
{
	train_with_other(false, WORK_NS);
	ck_assert_str_eq(judge(), "compute-bound");
	ck_assert_ptr_nonnull(strstr(v.text, "the model takes 53.8% to 99.9% of"));
	ck_assert(v.doubts[SP_DOUBT_unexplained]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("evidence");
	TCase *c = tcase_create("traces"), *made = tcase_create("made up");

	tcase_add_checked_fixture(c, judged_trace_begin, judged_trace_end);
	tcase_add_test(c, waits_of_a_trainer_on_the_processor);
	tcase_add_test(c, a_plain_program);
	tcase_add_test(c, a_framework_that_gives_steps_made_none);
	tcase_add_test(c, a_model_was_called_and_no_optimizer);
	tcase_add_loop_test(c, a_program_that_fails_made_no_step, 0,
			    sizeof(failures) / sizeof(*failures));
	tcase_add_test(c, a_framework_without_steps);
	tcase_add_test(c, a_framework_of_the_system_trains_nothing);
	tcase_add_test(c, batches_that_nothing_took);
	tcase_add_test(c, batches_for_another_framework);
	tcase_add_test(c, batches_and_no_step);
	tcase_add_test(c, one_step);
	tcase_add_test(c, lost_events_and_newer_ones_are_doubts);
	tcase_add_test(c, what_the_kernel_counted);
	tcase_add_test(c, what_the_kernel_counted_of_training_alone);
	tcase_add_test(c, what_other_programs_took);
	tcase_add_test(c, what_another_process_of_the_job_took);
	tcase_add_test(c, what_a_launcher_took_before_the_training);
	tcase_add_loop_test(c, a_first_epoch_that_waits, 0, 3);
	tcase_add_loop_test(c, a_first_step_that_takes_long, 0, 2);
	tcase_add_loop_test(c, steps_that_grow, 0, 2);
	tcase_add_loop_test(c, steps_that_spread, 0, 3);
	tcase_add_loop_test(c, a_window_much_shorter_than_its_process, 0, 2);
	tcase_add_loop_test(c, a_model_that_waits_for_a_lock, 0, 3);
	tcase_add_loop_test(c, a_lock_is_asked_for_everywhere, 0, 2);
	tcase_add_loop_test(c, trainings_that_follow_each_other_do_not_add_up, 0, 2);
	tcase_add_test(c, usage_cut_short_is_passed_over);
	tcase_add_test(c, free_input_takes_the_wait_away);
	tcase_add_loop_test(c, clipping_is_no_code_of_the_loop, 0, 2);
	tcase_add_loop_test(c, between_two_backwards, 0, 3);
	tcase_add_loop_test(c, threads_that_train_in_turns, 0, 3);
	tcase_add_loop_test(c, collectives_of_few_steps, 0, 3);
	tcase_add_loop_test(c, a_slow_loader_of_two, 0, 2);
	tcase_add_test(c, an_update_by_hand);
	tcase_add_loop_test(c, the_loop_of_the_trainer, 0, 2);
	tcase_add_test(c, the_loop_writes_to_a_pipe);
	tcase_add_loop_test(c, a_line_of_a_log_is_made_first, 0, 2);
	tcase_add_test(c, releasing_batches_is_no_code_of_the_loop);
	tcase_add_test(c, a_model_and_what_follows_its_call);
	tcase_add_test(c, a_model_alone);
	tcase_add_test(c, a_model_that_takes_less_than_what_follows);
	tcase_add_test(c, a_model_without_a_call);
	tcase_add_loop_test(c, own_code_in_few_steps, 0, 2);
	tcase_add_test(made, more_workers_until_something_else_is_slowest);
	suite_add_tcase(suite, c);
	suite_add_tcase(suite, made);
	return sp_suite_run(suite);
}
