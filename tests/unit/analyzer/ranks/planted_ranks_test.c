/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stragglers that are planted in made jobs of many ranks: all are found, with their place, their
 * phase and their stretch of steps, and no other rank is accused.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/common/load.h"
#include "tests/unit/common/planted_job.h"
#include "tests/unit/common/suite.h"

#define MORE_NS UINT64_C(2000000) /* of a step of 24 ms */

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

static void load_job(const struct sp_planted_job *job)
{
	sp_planted_job_write(job, folder, 0, job->ranks);
	sp_load_one(&load, folder);
}

static void plant(struct sp_planted_job *job, struct sp_plant plant)
{
	job->plants[job->plant_count++] = plant;
}

/* The first plant that hits the rank; *ret_hits: how many do. */
static const struct sp_plant *plant_of(const struct sp_planted_job *job, uint32_t rank,
				       uint32_t *ret_hits)
{
	const struct sp_plant *found = NULL;

	*ret_hits = 0;
	for (uint32_t i = 0; i < job->plant_count; i++) {
		const struct sp_plant *p = &job->plants[i];
		uint32_t number = p->where == SP_PLANT_RANK   ? rank
				  : p->where == SP_PLANT_HOST ? rank / job->ranks_a_host
							      : rank % job->ranks_a_host;

		if (p->number != number)
			continue;
		found = found ? found : p;
		++*ret_hits;
	}
	return found;
}

static void check_straggler(const struct sp_planted_job *job, const struct sp_rank *rank,
			    const struct sp_plant *plant, uint32_t hits)
{
	static const enum sp_account_phase phases[] = {
		[SP_PLANT_LOADER] = SP_ACCOUNT_loader_wait,
		[SP_PLANT_FORWARD] = SP_ACCOUNT_forward,
		[SP_PLANT_BACKWARD] = SP_ACCOUNT_backward,
	};
	static const enum sp_rank_group groups[] = {
		[SP_PLANT_RANK] = SP_RANK_ALONE,
		[SP_PLANT_HOST] = SP_RANK_HOST,
		[SP_PLANT_SLOT] = SP_RANK_SLOT,
	};
	uint32_t to = plant->to_step ? plant->to_step : job->steps;

	ck_assert_int_eq(rank->cause, phases[plant->phase]);
	ck_assert_int_eq(rank->group, groups[plant->where]);
	/* Noise may move an end of the stretch by a step. */
	ck_assert_uint_le(plant->from_step, rank->late_from + 1);
	ck_assert_uint_le(rank->late_from, plant->from_step + 1);
	ck_assert_uint_le(to, rank->late_to + 1);
	ck_assert_uint_le(rank->late_to, to + 1);
	ck_assert_uint_gt((uint64_t)rank->late_p50_ns, MORE_NS - MORE_NS / 6);
	ck_assert_uint_lt((uint64_t)rank->late_p50_ns, hits * MORE_NS + MORE_NS / 6);
}

static void check_job(const struct sp_planted_job *job)
{
	uint32_t planted = 0;

	ck_assert_uint_eq(ranks->compared, job->ranks);
	ck_assert_uint_eq(ranks->step_count, job->steps);
	for (uint32_t i = 0; i < ranks->count; i++) {
		uint32_t hits;
		const struct sp_plant *plant = plant_of(job, i, &hits);

		ck_assert_msg(ranks->list[i].is_straggler == (plant != NULL), "rank %u of %u", i,
			      job->ranks);
		if (plant)
			check_straggler(job, &ranks->list[i], plant, hits);
		planted += plant != NULL;
	}
	ck_assert_uint_eq(ranks->stragglers, planted);
}

/* Ranks and steps; with all kinds of plants, or with none. */
static const struct size {
	uint32_t ranks, steps;
} sizes[] = {
	{8, 200},
#ifndef __SANITIZE_THREAD__ /* the threads are the same */
	{64, 200},
#endif
/* minutes, of the same code */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	{1024, 100},
	{10000, 40},
#endif
};
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

START_TEST(all_plants_are_found)
{
	struct sp_planted_job job = sp_planted_job(sizes[_i].ranks, sizes[_i].steps);
	uint32_t n = job.steps;

	plant(&job, (struct sp_plant){.where = SP_PLANT_RANK,
				      .number = 5,
				      .from_step = n / 2,
				      .phase = SP_PLANT_FORWARD,
				      .more_ns = MORE_NS});
	if (job.ranks > 8) {
		plant(&job, (struct sp_plant){.where = SP_PLANT_RANK,
					      .number = 17,
					      .from_step = n / 4,
					      .to_step = 3 * n / 4,
					      .phase = SP_PLANT_LOADER,
					      .more_ns = MORE_NS});
		plant(&job, (struct sp_plant){.where = SP_PLANT_HOST,
					      .number = 3,
					      .phase = SP_PLANT_BACKWARD,
					      .more_ns = MORE_NS});
		plant(&job, (struct sp_plant){.where = SP_PLANT_SLOT,
					      .number = 6,
					      .from_step = n / 2,
					      .phase = SP_PLANT_LOADER,
					      .more_ns = MORE_NS});
	}
	load_job(&job);
	check_job(&job);
}
END_TEST

START_TEST(none_is_invented)
{
	struct sp_planted_job job = sp_planted_job(sizes[_i].ranks, sizes[_i].steps);

	job.seed = 7;
	load_job(&job);
	check_job(&job);
}
END_TEST

START_TEST(without_collectives)
{
	struct sp_planted_job job = sp_planted_job(64, 200);

	job.collective = NULL;
	plant(&job, (struct sp_plant){.where = SP_PLANT_RANK,
				      .number = 12,
				      .from_step = 120,
				      .phase = SP_PLANT_FORWARD,
				      .more_ns = MORE_NS});
	load_job(&job);
	ck_assert(!ranks->by_collectives);
	check_job(&job);
}
END_TEST

static uint32_t count_excluded(enum sp_rank_exclusion why)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ranks->count; i++)
		n += ranks->list[i].exclusion == why;
	return n;
}

static void load_both(const struct sp_planted_job *a, const struct sp_planted_job *b)
{
	char first[80], second[80];

	snprintf(first, sizeof(first), "%s/a", folder);
	snprintf(second, sizeof(second), "%s/b", folder);
	sp_planted_job_write(a, first, 0, a->ranks);
	sp_planted_job_write(b, second, 0, b->ranks);
	sp_load(&load, (const char *const[]){first, second, NULL}, 2, NULL);
}

/* Runs of other jobs are no stragglers, and hide none. */
START_TEST(unrelated_runs_are_not_compared)
{
	struct sp_planted_job job = sp_planted_job(16, 100), other = sp_planted_job(8, 100);
	enum sp_rank_exclusion why = SP_RANK_OTHER_WORLD;
	char *text;

	plant(&job, (struct sp_plant){.where = SP_PLANT_RANK,
				      .number = 3,
				      .phase = SP_PLANT_FORWARD,
				      .more_ns = MORE_NS});
	other.seed = 5;
	if (_i) {
		other.world = 16;
		other.later_ns = INT64_C(86400000000000);
		why = SP_RANK_OTHER_TIME;
	}
	load_both(&job, &other);
	ck_assert_uint_eq(ranks->compared, 16);
	ck_assert_uint_eq(count_excluded(why), 8);
	ck_assert_uint_eq(ranks->stragglers, 1);
	text = sp_load_print(&load, "ranks", SP_FORMAT_TABLE);
	ck_assert_ptr_nonnull(strstr(text, _i ? "8 ranks are not compared: they trained at another"
					      : "8 ranks are not compared: they are of a job of"));
	free(text);
}
END_TEST

/* Each host's clock is a day ahead of the one before. */
START_TEST(clocks_apart_by_days)
{
	struct sp_planted_job job = sp_planted_job(32, 100);

	job.host_skews_ns = INT64_C(86400000000000);
	load_job(&job);
	check_job(&job);
	ck_assert_int_eq(ranks->list[31].clock_ahead_ns, 3 * job.host_skews_ns);
	ck_assert_uint_eq(ranks->start_skew_p95_ns, 0);
}
END_TEST

START_TEST(a_rank_with_few_steps)
{
	struct sp_planted_job job = sp_planted_job(16, 100), few = sp_planted_job(16, 12);
	char path[96];

	sp_planted_job_write(&job, folder, 0, 15);
	sp_planted_job_write(&few, folder, 15, 16);
	snprintf(path, sizeof(path), "%s", folder);
	sp_load_one(&load, path);
	ck_assert_uint_eq(count_excluded(SP_RANK_FEW_STEPS), 1);
	ck_assert_uint_eq(ranks->compared, 15);
	ck_assert_uint_eq(ranks->step_count, 100);
	ck_assert_uint_eq(ranks->stragglers, 0);
}
END_TEST

START_TEST(a_rank_with_ten_times_the_steps)
{
	struct sp_planted_job job = sp_planted_job(16, 100), many = sp_planted_job(16, 1000);

	sp_planted_job_write(&job, folder, 0, 15);
	sp_planted_job_write(&many, folder, 15, 16);
	sp_load_one(&load, folder);
	ck_assert_uint_eq(ranks->compared, 16);
	ck_assert_uint_eq(ranks->step_count, 100);
	ck_assert_uint_eq(ranks->stragglers, 0);
}
END_TEST

static const struct pipeline {
	uint32_t ranks, stages;
	bool strides;
	struct sp_rank_division division;
} pipelines[] = {
	{8, 2, false, {4, 1}},	    {16, 4, true, {16, 4}},
#ifndef __SANITIZE_THREAD__
	{64, 4, false, {16, 1}},    {64, 32, true, {64, 32}},
#endif
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	{1024, 8, true, {1024, 8}},
#endif
};

/* Stages have other work, and a straggler of one makes its peers alone wait. */
START_TEST(pipelines_are_compared_by_stage)
{
	const struct pipeline *p = &pipelines[_i / 2];
	struct sp_planted_job job = sp_planted_job(p->ranks, 100);
	char *text;

	job.stages = p->stages;
	job.strides = p->strides;
	if (_i % 2)
		plant(&job, (struct sp_plant){.where = SP_PLANT_RANK,
					      .number = 3,
					      .from_step = 50,
					      .phase = SP_PLANT_FORWARD,
					      .more_ns = MORE_NS});
	load_job(&job);
	ck_assert_uint_eq(ranks->division.block, p->division.block);
	ck_assert_uint_eq(ranks->division.stride, p->division.stride);
	check_job(&job);
	text = sp_load_print(&load, "ranks", SP_FORMAT_TABLE);
	ck_assert_ptr_nonnull(strstr(text, "that meet at the end of a step"));
	ck_assert_ptr_nonnull(strstr(text, "as stages of a pipeline do"));
	free(text);
}
END_TEST

/* A data-parallel job is one group, whatever its size and its stragglers are. */
START_TEST(other_jobs_are_one_group)
{
	struct sp_planted_job job = sp_planted_job(_i ? 64 : 8, 100);

	plant(&job, (struct sp_plant){.where = SP_PLANT_HOST,
				      .number = 0,
				      .phase = SP_PLANT_LOADER,
				      .more_ns = MORE_NS});
	load_job(&job);
	ck_assert_uint_eq(ranks->division.block, 0);
}
END_TEST

/* Ranks of two hosts' digests or runs: the ranks between them, in no input, divide nothing. */
START_TEST(missing_ranks_make_no_groups)
{
	struct sp_planted_job job = sp_planted_job(64, 100);
	uint32_t later = _i ? 48 : 32;

	sp_planted_job_write(&job, folder, 0, 16);
	sp_planted_job_write(&job, folder, later, later + 16);
	sp_load_one(&load, folder);
	ck_assert_uint_eq(ranks->compared, 32);
	ck_assert_uint_eq(ranks->division.block, 0);
}
END_TEST

START_TEST(the_words)
{
	struct sp_planted_job job = sp_planted_job(64, 200);
	char *text;

	plant(&job, (struct sp_plant){.where = SP_PLANT_RANK,
				      .number = 12,
				      .from_step = 120,
				      .phase = SP_PLANT_FORWARD,
				      .more_ns = 4 * MORE_NS});
	plant(&job, (struct sp_plant){.where = SP_PLANT_HOST,
				      .number = 3,
				      .phase = SP_PLANT_LOADER,
				      .more_ns = 4 * MORE_NS});
	load_job(&job);
	text = sp_load_print(&load, "ranks", SP_FORMAT_TABLE);
	ck_assert_msg(strstr(text, "straggler  rank 12 (node-0001): ") &&
			      strstr(text, "in forward, from step 120 on\n") &&
			      strstr(text, "straggler  host node-0003 (all its 8 ranks): ") &&
			      strstr(text, "in input wait\n") &&
			      strstr(text, "55 ranks like the median"),
		      "%s", text);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("planted_ranks");
	TCase *c = tcase_create("planted_ranks");

	tcase_set_timeout(c, 300);
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, all_plants_are_found, 0, SIZES);
	tcase_add_loop_test(c, none_is_invented, 0, SIZES);
	tcase_add_test(c, without_collectives);
	tcase_add_loop_test(c, unrelated_runs_are_not_compared, 0, 2);
	tcase_add_test(c, clocks_apart_by_days);
	tcase_add_test(c, a_rank_with_few_steps);
	tcase_add_test(c, a_rank_with_ten_times_the_steps);
	tcase_add_loop_test(c, pipelines_are_compared_by_stage, 0,
			    2 * (int)(sizeof(pipelines) / sizeof(pipelines[0])));
	tcase_add_loop_test(c, other_jobs_are_one_group, 0, 2);
	tcase_add_loop_test(c, missing_ranks_make_no_groups, 0, 2);
	tcase_add_test(c, the_words);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
