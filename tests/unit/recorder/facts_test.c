/* SPDX-License-Identifier: Apache-2.0 */
/* Facts that the recorder adds to events: cores and their use, its own cost, ranks, definitions. */
#include <check.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "preload/blocks/publish.h"
#include "preload/frameworks/call_rusage.h"
#include "preload/recorder/own_work.h"
#include "preload/recorder/recorder.h"
#include "preload/recorder/thread.h"
#include "preload/waits/step_rusage.h"
#include "preload/settings/run_identity.h"
#include "tests/unit/common/suite.h"
#include "tests/unit/recorder/own_run.h"

static void extra_and_definitions_check(void *argument, uint32_t which, uint32_t id,
					const uint8_t *blob, uint32_t bytes)
{
	unsigned *seen = argument;

	if (which == SP_DEFINE_CPUS || which == SP_DEFINE_RUSAGE)
		return;
	if (which != SP_DEFINE_NAME || id != bytes)
		abort();
	for (uint32_t i = 0; i < bytes; i++)
		if (blob[i] != (uint8_t)(bytes + i))
			abort();
	(*seen)++;
}

START_TEST(definitions_of_every_length_come_back)
{
	static char text[SP_NAME_BYTES_MAX + 100];
	struct slots_count count;
	unsigned seen = 0;

	run_begin("map");
	for (unsigned length = 0; length <= SP_NAME_BYTES_MAX; length++) {
		for (unsigned i = 0; i < length; i++)
			text[i] = (char)(length + i);
		sp_define(sp_enter(), SP_DEFINE_NAME, length, NULL, 0, text, length);
	}
	if (_i)
		sp_thread_finish();
	count = run_read(extra_and_definitions_check, &seen);
	ck_assert_uint_eq(seen, SP_NAME_BYTES_MAX + 1);
	ck_assert_uint_eq(count.events, 0);
	run_remove();
}
END_TEST

struct fact_list {
	struct sp_cpu_metadata cpus;
	struct sp_rusage_metadata usage;
	unsigned cpus_times, usage_times;
	struct sp_step_rusage_metadata first, last;
	unsigned step_times;
	uint64_t lacking_ns; /* of the process's time, what the thread's lacks; at most, in steps */
};

static void facts_take(void *argument, uint32_t which, uint32_t id, const uint8_t *blob,
		       uint32_t bytes)
{
	struct fact_list *facts = argument;
	uint64_t lacking_ns;

	(void)id;
	if (which == SP_DEFINE_CPUS && bytes == sizeof(facts->cpus)) {
		memcpy(&facts->cpus, blob, bytes);
		facts->cpus_times++;
	}
	if (which == SP_DEFINE_STEP_RUSAGE && bytes == sizeof(facts->last)) {
		memcpy(&facts->last, blob, bytes);
		if (!facts->step_times++)
			facts->first = facts->last;
		lacking_ns = facts->last.usage.process_cpu_ns - facts->last.usage.cpu_ns;
		if ((int64_t)lacking_ns > (int64_t)facts->lacking_ns)
			facts->lacking_ns = lacking_ns;
	}
	if (which == SP_DEFINE_RUSAGE && bytes == sizeof(facts->usage)) {
		memcpy(&facts->usage, blob, bytes);
		facts->usage_times++;
	}
}

START_TEST(cores_and_their_use_are_recorded)
{
	struct fact_list facts = {.cpus_times = 0};
	uint64_t before, after;
	cpu_set_t set;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(set), &set), 0);
	run_begin("map");
	emit_many(1);
	before = sp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	while (sp_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before < 150000000u)
		;
	sp_thread_finish();
	after = sp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	run_read(facts_take, &facts);
	ck_assert_uint_eq(facts.cpus_times, 1);
	ck_assert_uint_eq(facts.cpus.allowed, (uint32_t)CPU_COUNT(&set));
	ck_assert_uint_eq(facts.usage_times, 1);
	/* getrusage counts in ticks of the kernel where it must */
	ck_assert_uint_ge(facts.usage.cpu_ns + 10000000u, before + 150000000u);
	ck_assert_uint_le(facts.usage.cpu_ns, after + 10000000u);
	ck_assert_uint_ge(facts.usage.process_cpu_ns + 10000000u, facts.usage.cpu_ns);
#ifdef __SANITIZE_THREAD__
	ck_assert_uint_eq(facts.usage.process_threads, 2); /* its own thread */
#else
	ck_assert_uint_eq(facts.usage.process_threads, 1);
#endif
	ck_assert_uint_ge(facts.usage.process_ready_ns, facts.usage.ready_ns);
	run_remove();
}
END_TEST

START_TEST(short_threads_have_no_use)
{
	struct fact_list facts = {.cpus_times = 0};

	run_begin("map");
	emit_many(1);
	sp_thread_finish();
	run_read(facts_take, &facts);
	ck_assert_uint_eq(facts.cpus_times, 0);
	ck_assert_uint_eq(facts.usage_times, 0);
	run_remove();
}
END_TEST

/* Steps may come by the thousand a second; their definitions come at growing intervals. */
START_TEST(use_after_steps_is_recorded_now_and_then)
{
	struct fact_list facts = {.cpus_times = 0};
	uint64_t before = sp_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	run_begin("map");
	emit_many(1);
	while (sp_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before < 400000000u)
		for (int i = 0; i < 100000; i++) /* no look at the clock updates the counts */
			sp_rusage_define_step();
	run_read(facts_take, &facts);
	ck_assert_uint_ge(facts.step_times, 3);
	ck_assert_uint_le(facts.step_times, 60);
	ck_assert_uint_gt(facts.last.at, facts.first.at);
	ck_assert_uint_ge(facts.last.usage.cpu_ns - facts.first.usage.cpu_ns + 10000000u,
			  200000000u);
	ck_assert_uint_ge(facts.last.usage.process_threads, 1);
#ifndef __SANITIZE_THREAD__
	ck_assert_uint_le(facts.lacking_ns, 500000u); /* it is the only one */
#endif
	run_remove();
}
END_TEST

START_TEST(own_work_is_known_for_a_while)
{
	struct sp_thread *t;
	uint64_t begin;

	run_begin("map");
	t = sp_enter();
	begin = sp_clock_ticks() - 1000;
	sp_own_work_end(t, begin);
	ck_assert(sp_own_work_has(t, begin));
	ck_assert(!sp_own_work_has(t, begin - 1));
	for (unsigned i = 0; i < SP_OWN_WORKS; i++)
		sp_own_work_end(t, sp_clock_ticks());
	ck_assert(!sp_own_work_has(t, begin));
	run_remove();
}
END_TEST

/* The fetch is shorter than a tick of the kernel, and looks at no clock of the thread. A reading
 * that loses its core is long itself, so most rounds have to be near. */
START_TEST(a_fetch_has_the_threads_time)
{
	struct sp_call_rusage before, after;
	unsigned near = 0;

	run_begin("map");
	for (int i = 0; i < 20; i++) {
		uint64_t begin_ns = sp_clock_ns(CLOCK_THREAD_CPUTIME_ID), all_ns;
		uint64_t begin = sp_clock_ticks();

		ck_assert(sp_call_rusage_read(&before));
		while (sp_clock_span_ns(sp_clock_ticks() - begin) < 1500000u)
			;
		ck_assert(sp_call_rusage_read(&after));
		all_ns = sp_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
		ck_assert_uint_le(after.cpu_ns - before.cpu_ns, all_ns);
		near += after.cpu_ns - before.cpu_ns + 200000u >= all_ns;
	}
	ck_assert_uint_gt(near, 10);
	run_remove();
}
END_TEST

START_TEST(extra_words_come_back)
{
	struct slots_count count;
	uint64_t sum = 0;

	run_begin("map");
	for (uint64_t i = 0; i < 10000; i++) {
		uint64_t extra[3] = {i * i, ~i, i};

		sp_emit_extra(sp_enter(), SP_EV_jpeg_decode, 0, i, 5, (int64_t)i, extra);
		sum += i * i;
	}
	count = run_read(NULL, NULL);
	ck_assert_uint_eq(count.events, 10000);
	ck_assert_uint_eq(count.extra_sum, sum);
	run_remove();
}
END_TEST

START_TEST(own_cost_is_recorded)
{
	struct timespec begin, end;
	struct slots_count count;
	uint64_t wall_ns;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	run_begin("map");
	emit_many(100000);
	sp_thread_finish();
	clock_gettime(CLOCK_MONOTONIC, &end);
	wall_ns = (uint64_t)(end.tv_sec - begin.tv_sec) * 1000000000u + (uint64_t)end.tv_nsec -
		  (uint64_t)begin.tv_nsec;
	count = run_read(NULL, NULL);
	/* Two readings of the clock and a slot:
	 * a nanosecond would be a wrong unit, and 10 µs too. */
	ck_assert_uint_gt(count.event_ps, 1000);
	ck_assert_uint_lt(count.event_ps, 10000000);
	ck_assert_uint_gt(count.stall_ns, 0);
	ck_assert_uint_lt(count.stall_ns, count.own_ns);
	ck_assert_uint_lt(count.own_ns, wall_ns + wall_ns / 20);
	run_remove();
}
END_TEST

static const struct place_case {
	const char *variables[4];
	struct sp_run_ranks place;
} places[] = {
	{{NULL}, {0, 0, 0}},
	{{"RANK=0", "LOCAL_RANK=0", "WORLD_SIZE=1"}, {1, 1, 1}},
	{{"RANK=5", "LOCAL_RANK=1", "WORLD_SIZE=8", "SLURM_PROCID=2"}, {6, 2, 8}},
	{{"SLURM_PROCID=2", "SLURM_LOCALID=0", "SLURM_NTASKS=4", "WORLD_SIZE=9"}, {3, 1, 4}},
	{{"RANK=two", "LOCAL_RANK=-1", "WORLD_SIZE="}, {0, 0, 0}},
	{{"RANK=99999999999999999999", "LOCAL_RANK=1x"}, {0, 0, 0}},
};

START_TEST(ranks_are_recorded)
{
	const struct place_case *c = &places[_i];
	struct slots_count count;

	for (int i = 0; i < 4 && c->variables[i]; i++)
		ck_assert_int_eq(putenv((char *)(uintptr_t)c->variables[i]), 0);
	run_begin("map");
	emit_many(1);
	sp_thread_finish();
	count = run_read(NULL, NULL);
	ck_assert_uint_eq(count.rank, c->place.rank);
	ck_assert_uint_eq(count.local_rank, c->place.local_rank);
	ck_assert_uint_eq(count.world_size, c->place.world_size);
	run_remove();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("facts");
	TCase *t = tcase_create("facts");

	tcase_set_timeout(t, 240);
	tcase_add_loop_test(t, definitions_of_every_length_come_back, 0, 2);
	tcase_add_test(t, cores_and_their_use_are_recorded);
	tcase_add_test(t, short_threads_have_no_use);
	tcase_add_test(t, use_after_steps_is_recorded_now_and_then);
	tcase_add_test(t, own_work_is_known_for_a_while);
	tcase_add_test(t, a_fetch_has_the_threads_time);
	tcase_add_test(t, extra_words_come_back);
	tcase_add_test(t, own_cost_is_recorded);
	tcase_add_loop_test(t, ranks_are_recorded, 0, (int)(sizeof(places) / sizeof(places[0])));
	suite_add_tcase(suite, t);
	return sp_suite_run(suite);
}
