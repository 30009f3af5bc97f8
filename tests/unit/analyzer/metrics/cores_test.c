/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two workers on few cores, or on few cores' time, as made traces. Each batch takes a worker 40 ms,
 * of which it has a core for a half, and the trainer waits for it 20 ms. One tick is one ns.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/verdict/judge.h"
#include "analyzer/verdict/verdict_text.h"
#include "analyzer/verdict/whatif.h"
#include "tests/unit/common/judged_trace.h"
#include "tests/unit/common/suite.h"

enum { LOADER = 1, ADAM, FETCH };
enum { STEPS = 40, WORKERS = 2, MS = 1000000, WAIT_NS = 20 * MS, WORK_NS = 300000, PERIODS = 8 };
enum { STEP_NS = WAIT_NS + 3 * WORK_NS, FETCH_NS = WORKERS * STEP_NS };

/* The machine has cores 0 to 3. Percents of the time; of a core's for cores. */
struct machine {
	uint64_t initial, trainer, workers; /* masks */
	unsigned idle, others; /* percents of a core; others: busy with other programs */
	unsigned throttled;    /* percents of the periods */
	unsigned ready;	       /* percents of the training thread's time */
	unsigned core;	       /* percents of a fetch: its time on a core */
	enum sp_verdict_id verdict;
	enum sp_advice_id advice; /* SP_ADVICES: not said */
};

static const struct machine *is;
static unsigned on_core = 5; /* percents of the training thread's time */
static bool is_silent;	     /* the kernel gives no pressure, and no throttled periods */

static uint32_t count_of(uint64_t mask)
{
	return (uint32_t)__builtin_popcountll(mask);
}

static void put_cpus(uint64_t mask)
{
	struct sp_cpu_metadata cpus = {
		.allowed = count_of(mask),
		.quota_millicores = is->throttled ? 1500 : 0,
		.usable_count = 4,
		.initial_count = count_of(is->initial),
		.mask = {mask},
		.usable = {15},
		.initial = {is->initial},
	};

	sp_maker_define(&m, SP_DEFINE_CPUS, 0, &cpus, sizeof(cpus));
}

/* The job keeps a core busy with its workers together. */
static void put_use(uint64_t elapsed_ns)
{
	uint64_t ms = elapsed_ns / MS, job = ms * is->core * WORKERS / 100;
	struct sp_cores_metadata cores = {
		.at = m.now_ticks,
		.busy_ms = 5000 + job + ms * is->others / 100,
		.idle_ms = 7000 + ms * is->idle / 100,
		.periods = 3 + ms / PERIODS,
		.throttled = 2 + ms / PERIODS * is->throttled / 100,
		.throttled_us = ms * is->throttled,
		.pressure_us = ms * 500,
	};
	struct sp_step_rusage_metadata usage = {
		.at = m.now_ticks,
		.usage = {.cpu_ns = elapsed_ns * on_core / 100,
			  .ready_ns = elapsed_ns * is->ready / 100,
			  .process_cpu_ns = elapsed_ns * on_core / 100,
			  .process_ready_ns = elapsed_ns * is->ready / 100,
			  .process_threads = 1},
	};

	if (is_silent)
		cores.throttled = cores.throttled_us = cores.pressure_us = UINT64_MAX;
	sp_maker_define(&m, SP_DEFINE_STEP_RUSAGE, 0, &usage, sizeof(usage));
	sp_maker_define(&m, SP_DEFINE_CORES, 0, &cores, sizeof(cores));
}

static void put_trainer(void)
{
	uint64_t begun = m.now_ticks;

	name(LOADER, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
	name(ADAM, "Optimizer.step#Adam.step");
	put_cpus(is->trainer);
	for (int i = 0; i < STEPS; i++) {
		span(SP_EV_torch_range, LOADER, WAIT_NS, 0);
		m.now_ticks += WORK_NS;
		span(SP_EV_torch_backward, ADAM, WORK_NS, 0);
		span(SP_EV_torch_range, ADAM, WORK_NS, 0);
		put_use(m.now_ticks - begun);
	}
}

static int memory_is = -1; /* of `memories`; -1: not reported */
static bool is_apart;	   /* the second worker is on another host */
static void put_memory_of(int number);

static void put_worker(uint32_t pid, uint64_t begun)
{
	struct sp_rusage_metadata usage = {.process_threads = 1};
	const uint64_t cpu_ns = (uint64_t)FETCH_NS * is->core / 100;
	uint64_t parent = m.header.image_start_ns;
	char file[16];

	sp_maker_init(&m, pid, pid, 0);
	m.header.image_start_ns = 0;
	m.header.ppid = 10;
	m.header.parent_start_ns = parent;
	m.header.flags |= SP_HEADER_FORKED;
	if (is_apart && pid > 11)
		snprintf(m.header.host, sizeof(m.header.host), "host-%u", pid);
	m.now_ticks = begun;
	sp_maker_header(&m);
	name(FETCH, "DataLoader fetch");
	put_cpus(is->workers);
	put_memory_of(memory_is);
	for (int i = 0; i < STEPS / WORKERS; i++) {
		span(SP_EV_python_call, FETCH, FETCH_NS, SP_PHASE_loader_fetch);
		sp_maker_extra(&m, cpu_ns, 0, 9); /* it never gave its core away */
		usage.cpu_ns += cpu_ns;
		usage.ready_ns += FETCH_NS - cpu_ns;
	}
	usage.process_cpu_ns = usage.cpu_ns;
	usage.process_ready_ns = usage.ready_ns;
	sp_maker_define(&m, SP_DEFINE_RUSAGE, 0, &usage, sizeof(usage));
	snprintf(file, sizeof(file), "%u.zst", pid);
	sp_maker_put(&m, folder, file);
	m.header.image_start_ns = parent;
}

static void put_job(void)
{
	struct sp_maker trainer;
	uint64_t begun = m.now_ticks;

	put_trainer();
	trainer = m;
	for (uint32_t pid = 11; pid < 11 + WORKERS; pid++)
		put_worker(pid, begun);
	m = trainer;
}

static bool is_advised(enum sp_advice_id id)
{
	for (uint32_t i = 0; i < v.advice_count; i++)
		if (v.advice[i] == id)
			return true;
	return false;
}

static const struct machine machines[] = {
	/* somebody gave the workers core 0 alone */
	{15, 15, 1, 300, 0, 0, 1, 50, SP_VERDICT_core, SP_ADVICE_wider_workers},
	/* the other cores are busy with other programs: no mask helps */
	{15, 15, 1, 0, 300, 0, 1, 50, SP_VERDICT_input, SP_ADVICES},
	/* the program was given two cores, and its workers use both */
	{3, 3, 3, 200, 0, 0, 1, 100, SP_VERDICT_input, SP_ADVICE_transform},
	/* all may use all cores, and a quota stops them */
	{15, 15, 15, 300, 0, 60, 1, 50, SP_VERDICT_throttled_input, SP_ADVICE_larger_input_quota},
	/* a mask beside a quota that is used up: idle cores are no use */
	{15, 15, 1, 300, 0, 60, 1, 50, SP_VERDICT_throttled_input, SP_ADVICE_larger_input_quota},
	{15, 15, 15, 200, 0, 5, 1, 100, SP_VERDICT_input, SP_ADVICE_transform},
};
#define MACHINES (int)(sizeof(machines) / sizeof(machines[0]))

START_TEST(time_without_a_core_is_no_transform)
{
	is = &machines[_i];
	put_job();
	judge();
	ck_assert_int_eq(v.id, is->verdict);
	ck_assert_int_eq(is_advised(SP_ADVICE_transform), is->verdict != SP_VERDICT_core);
	if (is->advice != SP_ADVICES)
		ck_assert(is_advised(is->advice));
	ck_assert_double_eq_tol(value(SP_METRIC_core_work_share), 1 - is->core / 100.0, 0.02);
	ck_assert_double_eq_tol(value(SP_METRIC_transform_work_share), is->core / 100.0, 0.02);
	ck_assert_double_eq_tol(value(SP_METRIC_idle_cores), is->idle / 100.0, 0.02);
	ck_assert_double_eq_tol(value(SP_METRIC_others_cores), is->others / 100.0, 0.1);
	ck_assert_double_eq_tol(value(SP_METRIC_pressure_share), 0.5, 0.02);
	ck_assert_int_eq(v.doubts[SP_DOUBT_outsiders], is->others > 0);
}
END_TEST

START_TEST(the_mask_is_named)
{
	is = &machines[0];
	put_job();
	ck_assert_str_eq(judge(), "core-bound");
	ck_assert_ptr_nonnull(strstr(v.text, "the workers may use core 0 alone"));
	ck_assert_ptr_nonnull(strstr(v.text, "3.0 of 4 cores are idle"));
	ck_assert_int_eq(v.confidence, SP_CONFIDENCE_HIGH);
}
END_TEST

/* The training thread makes its batches, and has a core half of the time. */
static void put_own_batches(void)
{
	uint64_t begun = m.now_ticks;

	name(LOADER, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
	name(ADAM, "Optimizer.step#Adam.step");
	name(FETCH, "DataLoader fetch");
	put_cpus(is->trainer);
	for (int i = 0; i < STEPS; i++) {
		uint64_t at = m.now_ticks;

		span(SP_EV_python_call, FETCH, WAIT_NS, SP_PHASE_loader_fetch);
		sp_maker_extra(&m, WAIT_NS / 2, 0, 9);
		m.now_ticks = at;
		span(SP_EV_torch_range, LOADER, WAIT_NS, 0);
		m.now_ticks += WORK_NS;
		span(SP_EV_torch_backward, ADAM, WORK_NS, 0);
		span(SP_EV_torch_range, ADAM, WORK_NS, 0);
		put_use(m.now_ticks - begun);
	}
}

START_TEST(the_mask_of_a_thread_that_makes_its_batches)
{
	static const struct machine masked =
		{15, 1, 1, 300, 0, 0, 50, 50, SP_VERDICT_core, SP_ADVICE_wider_trainer};

	is = &masked;
	put_own_batches();
	ck_assert_str_eq(judge(), "core-bound");
	ck_assert_int_eq(v.id, SP_VERDICT_core);
	ck_assert_ptr_nonnull(strstr(v.text, "the training thread may use core 0 alone"));
	ck_assert(is_advised(SP_ADVICE_wider_trainer));
	ck_assert(!is_advised(SP_ADVICE_wider_workers));
	ck_assert(!is_advised(SP_ADVICE_transform));
}
END_TEST

/* More workers on the one core would not help, but not because there are no others. */
START_TEST(a_mask_is_no_lack_of_cores)
{
	is = &machines[1];
	put_job();
	judge();
	ck_assert(!is_advised(SP_ADVICE_cheaper_batches));
}
END_TEST

START_TEST(what_the_kernel_does_not_give_is_not_known)
{
	is = &machines[3];
	is_silent = true;
	put_job();
	judge();
	ck_assert(!v.metrics.of[SP_METRIC_pressure_share].is_known);
	ck_assert(!v.metrics.of[SP_METRIC_throttled_share].is_known);
	ck_assert(!v.holds[SP_VERDICT_throttled_input]);
}
END_TEST

/* The training thread itself waits for a core half of the time. */
static const struct machine trainers[] = {
	/* a full machine takes nothing from a job that has all of its quota */
	{15, 15, 15, 0, 390, 100, 50, 1, SP_VERDICT_throttled, SP_ADVICE_larger_quota},
	{15, 2, 15, 300, 0, 0, 50, 1, SP_VERDICT_own_core, SP_ADVICE_wider_trainer},
	{15, 15, 15, 300, 0, 60, 50, 1, SP_VERDICT_throttled, SP_ADVICE_larger_quota},
};

START_TEST(a_training_thread_without_a_core)
{
	is = &trainers[_i];
	put_trainer();
	judge();
	ck_assert(v.holds[is->verdict]);
	ck_assert(is_advised(is->advice));
	ck_assert_double_eq_tol(value(SP_METRIC_outside_share), 0, 0.02);
	ck_assert(!v.doubts[SP_DOUBT_outsiders]);
}
END_TEST

/* Two ranks of one host, each of which makes its batches, want the same two cores. */
START_TEST(trainers_of_a_host_share_its_cores)
{
	static const struct machine two = {.initial = 3, .trainer = 3, .workers = 3, .core = 50};
	uint64_t begun = m.now_ticks;
	struct sp_what_if w;

	is = &two;
	put_job();
	if (_i) {
		sp_maker_put(&m, folder, "first.zst");
		sp_maker_init(&m, 20, 20, 0);
		m.now_ticks = begun;
		sp_maker_header(&m);
		put_trainer();
	}
	judge();
	ck_assert_double_eq(value(SP_METRIC_host_trainers), 1 + _i);
	w = sp_what_if_make(&v.metrics, SP_WHAT_IF_workers, 4);
	ck_assert(w.is_known);
	/* two cores would make a batch in half the time; two trainers have one core each */
	ck_assert_double_eq_tol((double)w.low_ns, (1 + _i) * FETCH_NS / 4.0, FETCH_NS / 40.0);
}
END_TEST

static void put_model(unsigned slow_every)
{
	uint64_t begun = m.now_ticks;

	name(LOADER, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__");
	name(ADAM, "Optimizer.step#Adam.step");
	name(FETCH, "Net.forward");
	put_cpus(is->trainer);
	for (unsigned i = 0; i < STEPS; i++) {
		span(SP_EV_torch_range, LOADER, 1000, 0);
		span(SP_EV_python_call, FETCH, 10 * WORK_NS, SP_PHASE_forward);
		span(SP_EV_torch_backward, ADAM,
		     slow_every && i % slow_every == 0 ? 40 * WORK_NS : 12 * WORK_NS, 0);
		span(SP_EV_torch_range, ADAM, WORK_NS, 0);
		put_use(m.now_ticks - begun);
	}
}

static void say(const char *line)
{
	sp_maker_define(&m, SP_DEFINE_COVERAGE, 0, line, strlen(line));
}

/* A model that takes all of the time, and what is known of it. */
static const struct {
	const char *fact;
	unsigned idle, slow_every;
	int doubt; /* SP_DOUBTS: none */
	enum sp_advice_id advice;
} models[] = {
	{"torch-threads\tbound\t4", 300, 0, SP_DOUBTS, SP_ADVICE_faster_model},
	{"torch-threads\tbound\t1", 300, 0, SP_DOUBT_spare_cores, SP_ADVICE_more_threads},
	{"torch-threads\tbound\t1", 20, 0, SP_DOUBT_taken_cores, SP_ADVICE_quiet_machine},
	{"switch\tbound\ttorch.autograd.set_detect_anomaly(True)", 20, 0, SP_DOUBT_switches,
	 SP_ADVICE_switches_off},
	{"torch-threads\tbound\t4", 20, 4, SP_DOUBT_uneven, SP_ADVICE_faster_model},
};
#define MODELS (int)(sizeof(models) / sizeof(models[0]))

START_TEST(a_model_that_something_slows)
{
	struct machine machine = {.initial = 15, .trainer = 15, .idle = models[_i].idle};

	on_core = 98;
	machine.others = 300 - machine.idle;
	is = &machine;
	put_model(models[_i].slow_every);
	say(models[_i].fact);
	ck_assert_str_eq(judge(), "compute-bound");
	ck_assert(is_advised(models[_i].advice));
	ck_assert_int_eq(is_advised(SP_ADVICE_faster_model),
			 models[_i].advice == SP_ADVICE_faster_model);
	ck_assert_int_eq(v.doubts[SP_DOUBT_switches], models[_i].doubt == SP_DOUBT_switches);
	ck_assert_int_eq(v.doubts[SP_DOUBT_uneven], models[_i].doubt == SP_DOUBT_uneven);
	ck_assert_int_eq(v.doubts[SP_DOUBT_spare_cores], models[_i].doubt == SP_DOUBT_spare_cores);
	ck_assert_int_eq(v.doubts[SP_DOUBT_taken_cores], models[_i].doubt == SP_DOUBT_taken_cores);
}
END_TEST

enum { MIB = 1 << 20, REPORTS = 8 };

static uint64_t reports = REPORTS;

/* Reports of a worker that grows by some MiB from one to the next, a second apart. */
static void put_memory(uint64_t private_mib, uint64_t resident_mib, uint64_t left_mib)
{
	for (uint64_t i = 0; i < reports; i++) {
		struct sp_memory_metadata memory = {
			.at = 1 + i * 1000 * MS,
			.batches = 2 + 10 * i,
			.private_dirty_bytes = (100 + i * private_mib) * MIB,
			.resident_bytes = (4000 + i * resident_mib) * MIB,
			.limit_bytes = 8000ULL * MIB,
			.left_bytes = left_mib * MIB,
		};

		sp_maker_define(&m, SP_DEFINE_MEMORY, 0, &memory, sizeof(memory));
	}
}

static const struct {
	uint64_t private_mib, resident_mib, left_mib;
	enum sp_verdict_id verdict;
} memories[] = {
	{100, 0, 1000, SP_VERDICT_memory_copied}, /* 10 s are left */
	{100, 100, 1000, SP_VERDICT_memory_leaked},
	{1, 1, 1000, SP_VERDICT_core},		/* a cache that is filled */
	{100, 0, 7000, SP_VERDICT_core},	/* there is not so much to copy */
	{100, 100, 100000000, SP_VERDICT_core}, /* no run is so long */
};
#define MEMORIES (int)(sizeof(memories) / sizeof(memories[0]))

static void put_memory_of(int number)
{
	if (number >= 0)
		put_memory(memories[number].private_mib, memories[number].resident_mib,
			   memories[number].left_mib);
}

START_TEST(memory_of_a_worker)
{
	is = &machines[0];
	memory_is = _i;
	put_job();
	judge();
	ck_assert_int_eq(v.id, memories[_i].verdict);
	if (_i > 1)
		return;
	ck_assert_double_eq_tol(value(_i ? SP_METRIC_leaked_bytes : SP_METRIC_copied_bytes),
				10.0 * MIB, 0.1 * MIB);
	ck_assert_double_eq_tol(value(_i ? SP_METRIC_leaked_left_ns : SP_METRIC_copied_left_ns),
				5e9, 1e8); /* of two workers */
}
END_TEST

static enum sp_memory_kind kind_of_a_worker(int number)
{
	is = &machines[0];
	memory_is = number;
	put_job();
	judge();
	for (uint32_t i = 0; i < load.report.run.index.image_count; i++)
		if (load.report.run.metadata.images[i].memory.reports)
			return sp_memory_growth_kind(&load.report.run.metadata.images[i].memory);
	return SP_MEMORY_UNKNOWN;
}

START_TEST(few_reports_do_not_say_steady)
{
	reports = 3;
	ck_assert_int_eq(kind_of_a_worker(_i), SP_MEMORY_UNKNOWN);
	ck_assert_int_eq(v.id, SP_VERDICT_core);
}
END_TEST

START_TEST(memory_that_does_not_grow_is_steady)
{
	ck_assert_int_eq(kind_of_a_worker(2), SP_MEMORY_STEADY);
}
END_TEST

START_TEST(hosts_have_memory_of_their_own)
{
	is = &machines[0];
	memory_is = 1;
	is_apart = true;
	put_job();
	judge();
	ck_assert_double_eq_tol(value(SP_METRIC_leaked_left_ns), 10e9, 1e8);
	ck_assert_double_eq(value(SP_METRIC_memory_limit), 8000.0 * MIB);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cores");
	TCase *c = tcase_create("traces");

	tcase_add_checked_fixture(c, judged_trace_begin, judged_trace_end);
	tcase_add_loop_test(c, time_without_a_core_is_no_transform, 0, MACHINES);
	tcase_add_test(c, the_mask_is_named);
	tcase_add_test(c, the_mask_of_a_thread_that_makes_its_batches);
	tcase_add_test(c, a_mask_is_no_lack_of_cores);
	tcase_add_test(c, what_the_kernel_does_not_give_is_not_known);
	tcase_add_loop_test(c, a_training_thread_without_a_core, 0, 3);
	tcase_add_loop_test(c, a_model_that_something_slows, 0, MODELS);
	tcase_add_loop_test(c, memory_of_a_worker, 0, MEMORIES);
	tcase_add_loop_test(c, few_reports_do_not_say_steady, 0, 3);
	tcase_add_test(c, memory_that_does_not_grow_is_steady);
	tcase_add_test(c, hosts_have_memory_of_their_own);
	tcase_add_loop_test(c, trainers_of_a_host_share_its_cores, 0, 2);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
