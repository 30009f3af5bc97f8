/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdlib.h>

#include "analyzer/workers/wait_sums.h"
#include "tests/unit/common/suite.h"

static struct sp_wait_sums *s;
static struct sp_thread_waits waits;

static void begin(int64_t end_ns, bool is_known, uint64_t cpu_ns, uint64_t ready_ns)
{
	const struct sp_wait_times times = {0, end_ns, is_known, cpu_ns, ready_ns};

	s = sp_wait_sums_new();
	sp_wait_sums_begin(s, &times);
}

static void end(void)
{
	waits = (struct sp_thread_waits){.stream = 0};
	ck_assert_int_eq(sp_wait_sums_end(s, &waits), 0);
}

static void finish(void)
{
	free(waits.rows);
	sp_wait_sums_free(s);
}

static void call(enum sp_cause cause, bool all, uint32_t id, int64_t start_ns, int64_t end_ns)
{
	sp_wait_sums_call(s, &(struct sp_wait_call){.start_ns = start_ns,
						    .end_ns = end_ns,
						    .cause = cause,
						    .waits_all = all,
						    .reads_file = cause == SP_CAUSE_file,
						    .id = id});
}

static uint64_t ns_of(enum sp_cause cause)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < waits.count; i++)
		ns += waits.rows[i].cause == cause ? waits.rows[i].ns : 0;
	return ns;
}

/* A fetch of 1 ms: a read of 400 µs that is blocked for 100 µs, a lock, and 50 µs of no call. */
START_TEST(an_observed_time_has_the_cause_of_its_call)
{
	uint64_t cached_ns;

	begin(2000000, false, 0, 0);
	call(SP_CAUSE_file, false, 7, 100000, 500000);
	call(SP_CAUSE_lock, true, 9, 600000, 800000);
	sp_wait_sums_off_core(s, SP_NO_CORE_WAITS, 200000, 300000);
	sp_wait_sums_off_core(s, SP_NO_CORE_WAITS, 610000, 790000);
	sp_wait_sums_off_core(s, SP_NO_CORE_WAITS, 850000, 900000);
	sp_wait_sums_off_core(s, SP_NO_CORE_SWAP, 910000, 920000);
	sp_wait_sums_off_core(s, SP_NO_CORE_RECORDER, 930000, 937000);
	sp_wait_sums_page(s, 3, 20000); /* of them 12 µs blocked */
	cached_ns = sp_wait_sums_fetch(s, &(struct sp_wait_fetch){.start_ns = 0,
								  .wall_ns = 1000000,
								  .cpu_ns = 600000,
								  .ready_ns = 40000,
								  .read_ns = 400000,
								  .is_observed = true,
								  .blocked_ns = 347000,
								  .page_ns = 12000});
	end();
	ck_assert_uint_eq(cached_ns, 250000); /* the 50 µs may be of the read */
	ck_assert_uint_eq(ns_of(SP_CAUSE_file), 100000);
	ck_assert_uint_eq(ns_of(SP_CAUSE_lock), 180000);
	ck_assert_uint_eq(ns_of(SP_CAUSE_page), 12000);
	ck_assert_uint_eq(ns_of(SP_CAUSE_swap), 10000);
	ck_assert_uint_eq(ns_of(SP_CAUSE_recorder), 7000);
	ck_assert_uint_eq(ns_of(SP_CAUSE_core), 40000);
	ck_assert_uint_eq(ns_of(SP_CAUSE_unknown), 50000);
	finish();
}
END_TEST

/* Reads of 400 µs in a fetch that had a core for all but 100 µs: these may be anything's. */
START_TEST(a_read_that_may_have_computed_is_no_wait)
{
	uint64_t cached_ns;

	begin(2000000, false, 0, 0);
	call(SP_CAUSE_file, false, 7, 100000, 500000);
	call(SP_CAUSE_sleep, true, 0, 600000, 650000);
	cached_ns = sp_wait_sums_fetch(s, &(struct sp_wait_fetch){.start_ns = 0,
								  .wall_ns = 1000000,
								  .cpu_ns = 900000,
								  .read_ns = 400000});
	end();
	ck_assert_uint_eq(cached_ns, 300000);
	ck_assert_uint_eq(ns_of(SP_CAUSE_file), 0);
	ck_assert_uint_eq(ns_of(SP_CAUSE_sleep), 50000);
	ck_assert_uint_eq(ns_of(SP_CAUSE_unknown), 50000);
	finish();
}
END_TEST

/* Reads of 800 µs with 100 µs of processor time waited for 700 at least. */
START_TEST(a_read_waits_as_far_as_no_core_explains_it)
{
	begin(2000000, false, 0, 0);
	call(SP_CAUSE_file, false, 7, 100000, 900000);
	ck_assert_uint_eq(sp_wait_sums_fetch(s, &(struct sp_wait_fetch){.start_ns = 0,
									.wall_ns = 1000000,
									.cpu_ns = 100000,
									.read_ns = 800000}),
			  0);
	end();
	ck_assert_uint_eq(ns_of(SP_CAUSE_file), 700000);
	ck_assert_uint_eq(ns_of(SP_CAUSE_unknown), 200000);
	finish();
}
END_TEST

/* A loader inside a fetch: the outer one has the rest of the calls. */
START_TEST(a_fetch_inside_counts_once)
{
	begin(2000000, false, 0, 0);
	call(SP_CAUSE_sleep, true, 0, 100000, 200000);
	call(SP_CAUSE_sleep, true, 0, 300000, 350000);
	sp_wait_sums_fetch(s, &(struct sp_wait_fetch){.start_ns = 250000,
						      .wall_ns = 150000,
						      .cpu_ns = 60000,
						      .ready_ns = 10000});
	sp_wait_sums_fetch(s, &(struct sp_wait_fetch){.start_ns = 0,
						      .wall_ns = 850000,
						      .cpu_ns = 700000,
						      .ready_ns = 20000});
	end();
	ck_assert_uint_eq(ns_of(SP_CAUSE_sleep), 150000);
	ck_assert_uint_eq(ns_of(SP_CAUSE_core), 30000);
	ck_assert_uint_eq(ns_of(SP_CAUSE_unknown), 60000);
	finish();
}
END_TEST

/* The waits may have ended with a wait for a core, which counts once. */
START_TEST(each_time_off_the_core_has_one_cause)
{
	begin(1000000, true, 300000, 100000);
	call(SP_CAUSE_pipe, true, 4, 100000, 400000);
	call(SP_CAUSE_pipe, true, 4, 450000, 460000);
	call(SP_CAUSE_file, false, 5, 500000, 510000);
	call(SP_CAUSE_lock, true, 5, 2000000, 2100000); /* after the time that counts */
	end();
	ck_assert_uint_eq(ns_of(SP_CAUSE_pipe), 210000);
	ck_assert_uint_eq(ns_of(SP_CAUSE_core), 100000);
	ck_assert_uint_eq(ns_of(SP_CAUSE_file), 0);
	ck_assert_uint_eq(ns_of(SP_CAUSE_unknown), 390000);
	ck_assert_uint_eq(ns_of(SP_CAUSE_lock), 0);
	finish();
}
END_TEST

static void between(int64_t end_ns, bool has_lost, uint64_t blocked_ns, uint64_t ready_ns)
{
	sp_wait_sums_between(s, &(struct sp_wait_between){.end_ns = end_ns,
							  .has_lost = has_lost,
							  .blocked_ns = blocked_ns,
							  .ready_ns = ready_ns});
}

/* A thread is blocked for 400 µs: 200 for a lock, 100 in a sleep and 100 in no call. The kernel
 * took its core away for 50 µs; it was ready for 150, 100 of them at the end of its waits. */
START_TEST(the_sum_is_whole_where_all_was_observed)
{
	begin(1000000, true, 550000, 150000);
	call(SP_CAUSE_lock, true, 9, 100000, 310000);
	sp_wait_sums_off_core(s, SP_NO_CORE_WAITS, 105000, 305000);
	between(400000, false, 300000, 50000);
	call(SP_CAUSE_sleep, true, 0, 500000, 602000);
	sp_wait_sums_off_core(s, SP_NO_CORE_WAITS, 500000, 600000);
	between(1000000, false, 100000, 0);
	end();
	ck_assert_uint_eq(ns_of(SP_CAUSE_lock), 150000);
	ck_assert_uint_eq(ns_of(SP_CAUSE_sleep), 75000);
	ck_assert_uint_eq(ns_of(SP_CAUSE_unknown), 75000);
	ck_assert_uint_eq(ns_of(SP_CAUSE_core), 150000);
	finish();
}
END_TEST

/* Calls are known in a time in which records were lost, and not what lay in them. */
START_TEST(lost_records_abstain)
{
	begin(1000000, false, 0, 0);
	call(SP_CAUSE_file, false, 7, 50000, 90000);
	sp_wait_sums_off_core(s, SP_NO_CORE_WAITS, 60000, 80000);
	call(SP_CAUSE_lock, true, 9, 100000, 310000);
	sp_wait_sums_off_core(s, SP_NO_CORE_WAITS, 105000, 305000);
	between(400000, true, 300000, 50000);
	call(SP_CAUSE_sleep, true, 0, 500000, 600000);
	sp_wait_sums_off_core(s, SP_NO_CORE_WAITS, 510000, 590000);
	sp_wait_sums_page(s, 3, 20000);
	sp_wait_sums_fetch(s, &(struct sp_wait_fetch){.start_ns = 450000,
						      .wall_ns = 200000,
						      .cpu_ns = 80000});
	end();
	ck_assert_uint_eq(ns_of(SP_CAUSE_file), 0);
	ck_assert_uint_eq(ns_of(SP_CAUSE_lock), 210000);
	ck_assert_uint_eq(ns_of(SP_CAUSE_sleep), 100000);
	ck_assert_uint_eq(ns_of(SP_CAUSE_page), 0);
	ck_assert_uint_eq(ns_of(SP_CAUSE_unknown), 20000);
	finish();
}
END_TEST

/* Observations that ended before the time that counts, or end after it, do not. */
START_TEST(observations_count_in_their_time)
{
	begin(1000000, false, 0, 0);
	call(SP_CAUSE_lock, true, 9, -300000, -100000);
	sp_wait_sums_off_core(s, SP_NO_CORE_WAITS, -300000, -100000);
	between(0, false, 200000, 0);
	call(SP_CAUSE_sleep, true, 0, 900000, 1200000);
	sp_wait_sums_off_core(s, SP_NO_CORE_WAITS, 900000, 1200000);
	between(1300000, false, 300000, 10000);
	end();
	ck_assert_uint_eq(waits.count, 0);
	finish();
}
END_TEST

/* The condition on which a wait timed out is the interpreter's; another one is a queue's. */
START_TEST(the_interpreter_asks_for_its_lock_for_a_limited_time)
{
	begin(1000000, false, 0, 0);
	call(SP_CAUSE_queue, true, 1, 0, 10000);
	sp_wait_sums_call(s, &(struct sp_wait_call){.start_ns = 20000,
						    .end_ns = 50000,
						    .cause = SP_CAUSE_queue,
						    .waits_all = true,
						    .is_timed_out = true,
						    .id = 1});
	call(SP_CAUSE_queue, true, 2, 60000, 65000);
	end();
	ck_assert_uint_eq(ns_of(SP_CAUSE_interpreter), 40000);
	ck_assert_uint_eq(ns_of(SP_CAUSE_queue), 5000);
	finish();
}
END_TEST

/* A collective's calls are its wait; files have little room, and their sum is whole. */
START_TEST(many_files_keep_their_sum)
{
	begin(INT64_C(1000000000000), false, 0, 0);
	call(SP_CAUSE_queue, true, 1, 10000, 20000);
	call(SP_CAUSE_peer, true, 0, 5000, 30000);
	for (uint32_t i = 0; i < 40000; i++)
		call(SP_CAUSE_pipe, true, i + 1, 100000 + i * INT64_C(10000),
		     103000 + i * INT64_C(10000));
	end();
	ck_assert_uint_eq(ns_of(SP_CAUSE_queue), 0);
	ck_assert_uint_eq(ns_of(SP_CAUSE_peer), 25000);
	ck_assert_uint_eq(ns_of(SP_CAUSE_pipe), 40000u * 3000u);
	ck_assert_uint_lt(waits.count, 1000);
	finish();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("wait_sums");
	TCase *c = tcase_create("wait_sums");

	tcase_add_test(c, an_observed_time_has_the_cause_of_its_call);
	tcase_add_test(c, a_read_that_may_have_computed_is_no_wait);
	tcase_add_test(c, a_read_waits_as_far_as_no_core_explains_it);
	tcase_add_test(c, a_fetch_inside_counts_once);
	tcase_add_test(c, each_time_off_the_core_has_one_cause);
	tcase_add_test(c, the_sum_is_whole_where_all_was_observed);
	tcase_add_test(c, lost_records_abstain);
	tcase_add_test(c, observations_count_in_their_time);
	tcase_add_test(c, the_interpreter_asks_for_its_lock_for_a_limited_time);
	tcase_add_test(c, many_files_keep_their_sum);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
