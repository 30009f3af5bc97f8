/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks beside each other, in made jobs whose straggler is known, and by how much it is late.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/common/job_maker.h"
#include "tests/unit/common/load.h"
#include "tests/unit/common/suite.h"

#define MS UINT64_C(1000000)

static char folder[64];
static struct sp_load load;
static const struct sp_ranks *ranks = &load.report.ranks;

static void setup(void)
{
	sp_folder_make(folder);
}

static void teardown(void)
{
	sp_load_finish(&load);
	sp_folder_remove(folder);
}

static struct sp_job four(const char *collective)
{
	struct sp_job job = {.count = 4, .collective = collective};

	/* Out of order: the names of a job's processes say nothing about their ranks. */
	for (uint32_t k = 0; k < 4; k++)
		job.ranks[k] = (struct sp_job_rank){.number = 4 - k,
						    .host = k < 2 ? "host-a" : "host-b",
						    .steps = 20};
	return job;
}

static void load_job(const struct sp_job *job)
{
	sp_job_write(job, folder);
	sp_load_one(&load, folder);
}

/* The view as JSON contains the words. */
static void says(const char *words)
{
	char *text = sp_load_print(&load, "ranks", SP_FORMAT_JSON);

	ck_assert_msg(strstr(text, words) != NULL, "%s", text);
	free(text);
}

/* Asked of the list, which is by rank. */
static void is_straggler(uint32_t rank, enum sp_account_phase cause, uint64_t behind_ns)
{
	for (uint32_t i = 0; i < ranks->count; i++)
		ck_assert_int_eq(ranks->list[i].is_straggler, i == rank);
	ck_assert_uint_eq(ranks->stragglers, 1);
	ck_assert_int_eq(ranks->list[rank].behind_p50_ns, (int64_t)behind_ns);
	ck_assert_int_eq(ranks->list[rank].cause, cause);
	ck_assert_int_eq(ranks->list[rank].cause_p50_ns, (int64_t)behind_ns);
	ck_assert_uint_eq(ranks->list[rank].last_in, 20);
}

/* In what the slow rank is slow, with collectives in sight and without. */
static const struct cause_case {
	const char *collective;
	struct sp_job_rank more;
	enum sp_account_phase cause;
} causes[] = {
	{"gloo:all_reduce", {.loader_more_ns = 7 * MS}, SP_ACCOUNT_loader_wait},
	{"gloo:all_reduce", {.forward_more_ns = 7 * MS}, SP_ACCOUNT_forward},
	{"gloo:all_reduce", {.backward_more_ns = 7 * MS}, SP_ACCOUNT_backward},
	{NULL, {.loader_more_ns = 7 * MS}, SP_ACCOUNT_loader_wait},
	{NULL, {.forward_more_ns = 7 * MS}, SP_ACCOUNT_forward},
	{"nccl:all_reduce", {.forward_more_ns = 7 * MS}, SP_ACCOUNT_forward},
};

START_TEST(a_straggler_is_named)
{
	const struct cause_case *c = &causes[_i];
	struct sp_job job = four(c->collective);
	bool seen = c->collective && c->collective[0] == 'g';
	char *text;

	job.ranks[1].loader_more_ns = c->more.loader_more_ns; /* rank 2 */
	job.ranks[1].forward_more_ns = c->more.forward_more_ns;
	job.ranks[1].backward_more_ns = c->more.backward_more_ns;
	load_job(&job);
	ck_assert_uint_eq(ranks->compared, 4);
	ck_assert_uint_eq(ranks->step_count, 20);
	ck_assert_int_eq(ranks->by_collectives, seen);
	is_straggler(2, c->cause, 7 * MS);
	ck_assert_uint_eq(ranks->list[0].wait_p50_ns, 7 * MS);
	ck_assert_uint_eq(ranks->list[2].wait_p50_ns, 0);
	ck_assert_uint_eq(ranks->loader_skew_p50_ns, c->more.loader_more_ns);
	text = sp_load_print(&load, "ranks", SP_FORMAT_TABLE);
	ck_assert_ptr_nonnull(strstr(text, "straggler  rank 2 (host-a): 7.00 ms later"));
	free(text);
}
END_TEST

/* Two ranks whose syncs wait for each other's collectives; a call of NCCL returns at once. */
static struct sp_job two_by_nccl(void)
{
	struct sp_job job = {.count = 2, .by_nccl = true};

	for (uint32_t k = 0; k < 2; k++)
		job.ranks[k] = (struct sp_job_rank){.number = k + 1, .host = "host", .steps = 20};
	return job;
}

/* Late on the host in backward, where a rank waits for no other. */
START_TEST(a_straggler_in_backward_of_nccl)
{
	struct sp_job job = two_by_nccl();
	char *text;

	job.ranks[1].backward_more_ns = 7 * MS;
	load_job(&job);
	ck_assert(ranks->by_host_time);
	is_straggler(1, SP_ACCOUNT_backward, 7 * MS);
	text = sp_load_print(&load, "ranks", SP_FORMAT_TABLE);
	ck_assert_ptr_nonnull(strstr(text, "straggler  rank 1 (host): 7.00 ms later"));
	free(text);
}
END_TEST

/* The other rank's sync is longer by as much. */
START_TEST(a_straggler_ahead_of_a_sync)
{
	struct sp_job job = two_by_nccl();

	job.ranks[1].forward_more_ns = 7 * MS;
	load_job(&job);
	ck_assert(!ranks->by_host_time);
	is_straggler(1, SP_ACCOUNT_forward, 7 * MS);
}
END_TEST

START_TEST(no_straggler_of_nccl)
{
	struct sp_job job = two_by_nccl();
	char *text;

	load_job(&job);
	ck_assert_uint_eq(ranks->stragglers, 0);
	text = sp_load_print(&load, "ranks", SP_FORMAT_TABLE);
	ck_assert_ptr_nonnull(strstr(text, "a rank whose GPU is late is not seen"));
	free(text);
	says("\"stragglers\":null");
}
END_TEST

START_TEST(two_of_four)
{
	struct sp_job job = four("gloo:all_reduce");

	job.ranks[0].loader_more_ns = job.ranks[1].loader_more_ns = 7 * MS;
	load_job(&job);
	ck_assert_uint_eq(ranks->stragglers, 2);
	ck_assert(ranks->list[2].is_straggler && ranks->list[3].is_straggler);
}
END_TEST

/* 4% of a step of 6.9 ms. */
START_TEST(a_little_is_no_straggler)
{
	struct sp_job job = four("gloo:all_reduce");

	job.ranks[1].loader_more_ns = 276000;
	load_job(&job);
	ck_assert_uint_eq(ranks->stragglers, 0);
	ck_assert_int_eq(ranks->list[2].behind_p50_ns, 276000);
}
END_TEST

/* host-b's clock is 1.25 ms ahead: without the collectives its steps would seem to begin so much
 * later. */
START_TEST(clocks_of_hosts)
{
	struct sp_job job = four(_i ? "gloo:all_reduce" : NULL);
	char *text;

	for (uint32_t k = 0; k < 2; k++)
		job.ranks[2 + k].ahead_ns = 1250000;
	load_job(&job);
	/* The first rank is one of host-b's. */
	ck_assert_int_eq(ranks->list[1].clock_ahead_ns, 0);
	ck_assert_int_eq(ranks->list[2].clock_ahead_ns, _i ? -1250000 : 0);
	ck_assert_uint_eq(ranks->start_skew_p95_ns, _i ? 0 : 1250000);
	ck_assert_uint_eq(ranks->stragglers, 0);
	text = sp_load_print(&load, "ranks", SP_FORMAT_TABLE);
	ck_assert_ptr_nonnull(strstr(text, _i ? "host-a is 1.25 ms behind host-b, by 20 collectives"
					      : "by CLOCK_REALTIME; not refined: no collective"));
	free(text);
	/* A rank that is late in backward is not seen without collectives. */
	says(_i ? "\"stragglers\":0" : "\"stragglers\":null");
	says(_i ? "\"straggler\":\"no\"" : "\"straggler\":null");
}
END_TEST

START_TEST(ranks_that_stop_early)
{
	struct sp_job job = four("gloo:all_reduce");

	job.ranks[3].steps = 12;
	load_job(&job);
	ck_assert_uint_eq(ranks->step_count, 12);
	ck_assert_uint_eq(ranks->stragglers, 0);
}
END_TEST

START_TEST(too_few_steps_to_tell)
{
	struct sp_job job = four("gloo:all_reduce");
	char *text;

	for (uint32_t k = 0; k < 4; k++)
		job.ranks[k].steps = 9;
	job.ranks[1].loader_more_ns = 7 * MS;
	load_job(&job);
	ck_assert_uint_eq(ranks->stragglers, 0);
	text = sp_load_print(&load, "ranks", SP_FORMAT_TABLE);
	ck_assert_ptr_nonnull(strstr(text, "not known: all ranks took 9 steps"));
	free(text);
	says("\"stragglers\":null");
	says("\"straggler\":null");
}
END_TEST

/* A job begun again leaves two trainers of each rank. */
START_TEST(the_same_rank_twice)
{
	struct sp_job job = four("gloo:all_reduce");

	job.ranks[0].number = 3;
	job.ranks[0].steps = 5;
	load_job(&job);
	ck_assert_uint_eq(ranks->count, 4);
	ck_assert_uint_eq(ranks->compared, 3);
	ck_assert_uint_eq(ranks->step_count, 20);
	free(sp_load_print(&load, "ranks", SP_FORMAT_TABLE));
}
END_TEST

START_TEST(ranks_that_are_not_told)
{
	struct sp_job job = four("gloo:all_reduce");
	char *text;

	for (uint32_t k = 0; k < 4; k++)
		job.ranks[k].number = 0;
	job.ranks[1].loader_more_ns = 7 * MS;
	load_job(&job);
	ck_assert_uint_eq(ranks->compared, 4);
	ck_assert_uint_eq(ranks->stragglers, 1);
	text = sp_load_print(&load, "ranks", SP_FORMAT_TABLE);
	ck_assert_ptr_nonnull(strstr(text, "straggler  process 101 (host-a)"));
	free(text);
}
END_TEST

START_TEST(nothing_to_compare)
{
	struct sp_job job = four("gloo:all_reduce");
	char *text;

	job.count = (uint32_t)_i;
	load_job(&job);
	ck_assert_uint_eq(ranks->compared, (uint32_t)_i);
	text = sp_load_print(&load, "ranks", SP_FORMAT_TABLE);
	ck_assert_ptr_nonnull(strstr(text, "nothing to compare"));
	free(text);
	text = sp_load_print(&load, "ranks", SP_FORMAT_JSON);
	ck_assert_ptr_nonnull(strstr(text, "\"comparison\":null"));
	free(text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ranks");
	TCase *t = tcase_create("ranks");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, a_straggler_is_named, 0, (int)(sizeof(causes) / sizeof(causes[0])));
	tcase_add_test(t, a_straggler_in_backward_of_nccl);
	tcase_add_test(t, a_straggler_ahead_of_a_sync);
	tcase_add_test(t, no_straggler_of_nccl);
	tcase_add_test(t, two_of_four);
	tcase_add_test(t, a_little_is_no_straggler);
	tcase_add_loop_test(t, clocks_of_hosts, 0, 2);
	tcase_add_test(t, ranks_that_stop_early);
	tcase_add_test(t, too_few_steps_to_tell);
	tcase_add_test(t, the_same_rank_twice);
	tcase_add_test(t, ranks_that_are_not_told);
	tcase_add_loop_test(t, nothing_to_compare, 1, 2);
	suite_add_tcase(s, t);
	return sp_suite_run(s);
}
