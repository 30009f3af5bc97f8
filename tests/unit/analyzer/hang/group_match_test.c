/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks matched by the ordinals of their collectives: who waits, and who never came. A group that
 * cannot be compared accuses nobody.
 */
#include <check.h>
#include <string.h>

#include "analyzer/hang/group_match.h"
#include "tests/unit/common/load.h"
#include "tests/unit/common/planted_job.h"
#include "tests/unit/common/suite.h"
#include "tests/unit/common/trace_maker.h"
#include "trace/collectives.h"

#define START_TICKS UINT64_C(3100000000000)
#define PROCESSES_MAX 6u

enum { GROUP = 9 };

/* A process, and the groups that it makes one after the other. */
struct made {
	uint32_t rank, calls[2]; /* in each group; 0: it makes no second one */
	bool is_gone;
	enum sp_rank_state state; /* as expected */
};

struct case_of {
	const char *name; /* of the group; NULL: none is known */
	uint32_t size;
	bool is_off, has_lost; /* of process 1, before its calls */
	bool has_match;
	struct made made[PROCESSES_MAX]; /* up to a process without calls */
};

#define APART SP_RANK_APART
#define WAITS SP_RANK_WAITS
#define TOGETHER SP_RANK_TOGETHER
#define MISSING SP_RANK_MISSING

static const struct case_of cases[] = {
	/* All in the run */
	{"0 default_pg",
	 3,
	 false,
	 false,
	 true,
	 {{0, {5}, false, WAITS}, {1, {5}, false, WAITS}, {2, {4}, false, MISSING}}},
	{"0 default_pg",
	 2,
	 false,
	 false,
	 true,
	 {{0, {5}, false, TOGETHER}, {1, {5}, false, TOGETHER}}},
	/* One rank is in no file */
	{"0 default_pg", 3, false, false, true, {{0, {5}, false, WAITS}, {1, {5}, false, WAITS}}},
	/* Each process makes the same group again */
	{"0 default_pg",
	 2,
	 false,
	 false,
	 true,
	 {{0, {9, 5}, false, TOGETHER}, {1, {9, 5}, false, TOGETHER}}},
	/* Processes that ended, and those that took their places */
	{"0 default_pg",
	 2,
	 false,
	 false,
	 true,
	 {{0, {9}, true, APART},
	  {1, {9}, true, APART},
	  {0, {5}, false, WAITS},
	  {1, {4}, false, MISSING}}},
	/* Two jobs at once */
	{"0 default_pg",
	 2,
	 false,
	 false,
	 false,
	 {{0, {9}, false, APART},
	  {1, {9}, false, APART},
	  {0, {5}, false, APART},
	  {1, {5}, false, APART}}},
	/* Two groups whose names are not known */
	{NULL,
	 2,
	 false,
	 false,
	 false,
	 {{0, {9}, false, APART},
	  {1, {9}, false, APART},
	  {0, {5}, true, APART},
	  {1, {5}, true, APART}}},
	/* Calls of process 1 are not in the trace */
	{"0 default_pg", 2, true, false, false, {{0, {9}, false, APART}, {1, {5}, false, APART}}},
	{"0 default_pg", 2, false, true, false, {{0, {9}, false, APART}, {1, {5}, false, APART}}},
};
#define CASES ((int)(sizeof(cases) / sizeof(cases[0])))

static char folder[64];
static struct sp_load load;

static void setup(void)
{
	sp_folder_make(folder);
}

static void teardown(void)
{
	sp_load_finish(&load);
	sp_folder_remove(folder);
}

static void group(struct sp_maker *m, const struct case_of *c, const struct made *made, uint32_t n)
{
	uint64_t begun = m->now_ticks;

	sp_maker_event(m, SP_EV_collective_group, 7 + n, 0, c->size);
	sp_maker_extra(m, made->rank, 0, 0);
	if (c->name)
		sp_maker_around(m, SP_EV_python_call, GROUP, begun, 0);
	for (uint32_t i = 0; i < made->calls[n]; i++) {
		sp_maker_event(m, SP_EV_collective, 7 + n, 0, 100);
		sp_maker_extra(m, SP_COLLECTIVE_all_reduce | 6 << 8, 0, 0);
	}
}

/* On a thread of its own. */
static void write_calls(const struct case_of *c, uint32_t process)
{
	const struct made *made = &c->made[process];
	char file[32], name[64];
	struct sp_maker m;

	sp_maker_init(&m, 1000 + process, 101000 + process, 0);
	memset(m.header.host, 0, sizeof(m.header.host));
	snprintf(m.header.host, sizeof(m.header.host), "node-0000");
	sp_maker_header(&m);
	m.now_ticks = START_TICKS + 1000000 * process;
	snprintf(name, sizeof(name), "process group %s", c->name ? c->name : "of another thread");
	sp_maker_define(&m, SP_DEFINE_NAME, GROUP, name, strlen(name));
	if (c->is_off && process == 1)
		sp_maker_event(&m, SP_EV_recording_off, 0, 100, 0);
	if (c->has_lost && process == 1)
		m.lost = 1;
	group(&m, c, made, 0);
	if (made->calls[1])
		group(&m, c, made, 1);
	snprintf(file, sizeof(file), "calls-%u.zst", process);
	sp_maker_put(&m, folder, file);
}

static uint32_t process_of(uint32_t trainer)
{
	const struct sp_index *index = &load.report.run.index;
	const struct sp_stream *s = index->streams[load.report.training.trainers[trainer].stream];

	return index->images[s->image].pid - 1000;
}

START_TEST(ranks_are_matched)
{
	const struct case_of *c = &cases[_i];
	struct sp_standing standing[PROCESSES_MAX] = {{false, false, false}};
	struct sp_group_match match;
	struct sp_planted_job job;
	uint32_t count = 0;

	while (count < PROCESSES_MAX && c->made[count].calls[0])
		count++;
	job = sp_planted_job(count, 5);
	job.collective = NULL;
	sp_planted_job_write(&job, folder, 0, count);
	for (uint32_t i = 0; i < count; i++)
		write_calls(c, i);
	sp_load_one(&load, folder);
	ck_assert_uint_eq(load.report.training.count, count);
	for (uint32_t t = 0; t < count; t++)
		standing[t] = (struct sp_standing){c->made[process_of(t)].is_gone,
						   !c->made[process_of(t)].is_gone,
						   !c->made[process_of(t)].is_gone};
	ck_assert_int_eq(sp_group_match_find(&load.report, INT64_MAX, standing, &match), 0);
	ck_assert_int_eq(match.ranks != NULL, c->has_match);
	for (uint32_t t = 0; match.ranks && t < count; t++)
		ck_assert_int_eq(match.ranks[t].state, c->made[process_of(t)].state);
	sp_group_match_finish(&match);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("group_match");
	TCase *c = tcase_create("group_match");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, ranks_are_matched, 0, CASES);
	suite_add_tcase(suite, c);
	return sp_suite_run(suite);
}
