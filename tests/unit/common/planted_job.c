/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/planted_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/common/trace_maker.h"
#include "trace/collectives.h"

#define START_TICKS UINT64_C(3000000000000)
#define REDUCE_NS 2000000u
#define OPTIMIZER_NS 1000000u

#define STILL_NS UINT64_C(20000000000) /* since then nothing moves */
#define ELEMENTS 1000
#define GROUP_AT 7 /* its address */

enum { LOADER = 1, SGD, REDUCE, RECV, GROUP };

static const uint64_t usual_ns[] = {
	[SP_PLANT_LOADER] = 1000000,
	[SP_PLANT_FORWARD] = 8000000,
	[SP_PLANT_BACKWARD] = 12000000,
};
#define PHASES (sizeof(usual_ns) / sizeof(usual_ns[0]))

struct sp_planted_job sp_planted_job(uint32_t ranks, uint32_t steps)
{
	return (struct sp_planted_job){.ranks = ranks,
				       .steps = steps,
				       .ranks_a_host = 8,
				       .noise_permille = 20,
				       .collective = "gloo:all_reduce"};
}

/* Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014. */
static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return z ^ z >> 31;
}

static bool is_hit(const struct sp_planted_job *job, const struct sp_plant *plant, uint32_t rank,
		   uint32_t step)
{
	uint32_t number = plant->where == SP_PLANT_RANK	  ? rank
			  : plant->where == SP_PLANT_HOST ? rank / job->ranks_a_host
							  : rank % job->ranks_a_host;

	return number == plant->number && step >= plant->from_step &&
	       (!plant->to_step || step < plant->to_step);
}

static uint32_t stage_of(const struct sp_planted_job *job, uint32_t rank)
{
	if (!job->stages)
		return 0;
	return job->strides ? rank % job->stages : rank / (job->ranks / job->stages);
}

/* A stage's work is its own, and other steps have other batches. */
static uint64_t stage_ns(const struct sp_planted_job *job, uint32_t rank, uint32_t step)
{
	uint64_t stage = stage_of(job, rank), most = usual_ns[SP_PLANT_FORWARD] / 4;
	uint64_t key = ((uint64_t)job->seed << 34) + 99;

	if (!job->stages)
		return 0;
	return usual_ns[SP_PLANT_FORWARD] * 3 * (stage % 3) / 10 +
	       mix(mix(mix(key) + stage) + step) % most;
}

static uint64_t phase_ns(const struct sp_planted_job *job, uint32_t rank, uint32_t step,
			 unsigned phase)
{
	uint64_t key = ((uint64_t)job->seed << 34) + phase;
	uint64_t usual = usual_ns[phase], most = usual * job->noise_permille / 1000;
	uint64_t noise = mix(mix(mix(key + 0x9E3779B97F4A7C15u) + rank) + step) % (2 * most + 1);
	uint64_t ns = usual - most + noise;

	if (phase == SP_PLANT_FORWARD)
		ns += stage_ns(job, rank, step);
	for (uint32_t i = 0; i < job->plant_count; i++)
		if (job->plants[i].phase == phase && is_hit(job, &job->plants[i], rank, step))
			ns += job->plants[i].more_ns;
	return ns;
}

static uint64_t arrival_ns(const struct sp_planted_job *job, uint32_t rank, uint32_t step)
{
	uint64_t ns = 0;

	for (unsigned phase = 0; phase < PHASES; phase++)
		ns += phase_ns(job, rank, step, phase);
	return ns;
}

static uint32_t stages_of(const struct sp_planted_job *job)
{
	return job->stages ? job->stages : 1;
}

/* The instants, since the job began, at which each step begins and its all-reduce ends: one of all
 * ranks, or one a stage. */
struct instants {
	uint64_t *begins, *ends;
};

static struct instants instants_of(const struct sp_planted_job *job)
{
	uint32_t stages = stages_of(job);
	struct instants t = {calloc(job->steps + 1u, sizeof(*t.begins)),
			     calloc((job->steps + 1u) * (size_t)stages, sizeof(*t.ends))};

	if (!t.begins || !t.ends)
		abort();
	for (uint32_t step = 0; step < job->steps; step++) {
		uint64_t *ends = t.ends + (size_t)step * stages, latest = 0;

		for (uint32_t rank = 0; rank < job->ranks; rank++) {
			uint64_t ns = t.begins[step] + arrival_ns(job, rank, step) + REDUCE_NS;
			uint32_t stage = stage_of(job, rank);

			ends[stage] = ns > ends[stage] ? ns : ends[stage];
			latest = ns > latest ? ns : latest;
		}
		t.begins[step + 1] = latest + OPTIMIZER_NS;
	}
	return t;
}

static uint64_t end_of(const struct sp_planted_job *job, const struct instants *t, uint32_t rank,
		       uint32_t step)
{
	return t->ends[(size_t)step * stages_of(job) + stage_of(job, rank)];
}

static void name(struct sp_maker *m, uint32_t id, const char *text)
{
	sp_maker_define(m, SP_DEFINE_NAME, id, text, strlen(text));
}

static uint64_t start_ticks(const struct sp_planted_job *job)
{
	return START_TICKS + (uint64_t)job->later_ns;
}

/* Jobs of different seeds have different processes. */
static uint32_t first_pid(const struct sp_planted_job *job)
{
	return 1000 + job->seed * 200000;
}

static void begin(struct sp_maker *m, const struct sp_planted_job *job, uint32_t rank, uint32_t tid)
{
	sp_maker_init(m, first_pid(job) + rank, first_pid(job) + tid, 0);
	m->ahead_ns = job->host_skews_ns * (rank / job->ranks_a_host);
	memset(m->header.host, 0, sizeof(m->header.host));
	snprintf(m->header.host, sizeof(m->header.host), "node-%04u", rank / job->ranks_a_host);
	m->header.rank = sp_checked_make(rank + 1);
	m->header.local_rank = sp_checked_make(rank % job->ranks_a_host + 1);
	m->header.world_size = sp_checked_make(job->world ? job->world : job->ranks);
	sp_maker_header(m);
	name(m, LOADER, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
	name(m, SGD, "Optimizer.step#SGD.step");
	if (job->collective)
		name(m, REDUCE, job->collective);
}

static void put(struct sp_maker *m, const char *folder, uint32_t rank, const char *end)
{
	char file[48];

	snprintf(file, sizeof(file), "rank-%05u%s.zst", rank, end);
	sp_maker_put(m, folder, file);
}

static bool is_missing(const struct sp_planted_job *job, uint32_t rank)
{
	for (uint32_t i = 0; i < job->missing_count; i++)
		if (job->missing[i] == rank)
			return true;
	return false;
}

static void make_group(struct sp_maker *m, const struct sp_planted_job *job, uint32_t rank)
{
	uint64_t at = start_ticks(job) - 1000000;

	name(m, GROUP, "process group 0 default_pg");
	sp_maker_span(m, SP_EV_collective_group, GROUP_AT, at, at, job->ranks);
	sp_maker_extra(m, rank, 0, 0);
	sp_maker_around(m, SP_EV_python_call, GROUP, at - 1000, 0);
}

static void call_collective(struct sp_maker *m, uint64_t at)
{
	sp_maker_span(m, SP_EV_collective, GROUP_AT, at, at, ELEMENTS);
	sp_maker_extra(m, SP_COLLECTIVE_all_reduce | 6 << 8, 0, 0);
}

/* Nobody ended the process: it is inside of a call. */
static void put_standing(struct sp_maker *m, const char *folder, uint32_t rank, uint32_t kind)
{
	struct sp_mark mark = {m->now_ticks + 1000, kind};
	char file[48];
	size_t at;

	sp_maker_block(m, 0);
	at = sp_maker_window(m, SP_WINDOW_SLOTS_MIN) + offsetof(struct sp_window_header, mark);
	memcpy(m->bytes + at, &mark, sizeof(mark));
	snprintf(file, sizeof(file), "rank-%05u.zst", rank);
	if (sp_maker_write(folder, file, m->bytes, m->size) < 0)
		abort();
	sp_maker_finish(m);
}

static void stand(struct sp_maker *m, const char *folder, uint32_t rank, bool misses)
{
	if (!misses)
		call_collective(m, m->now_ticks + 1000);
	put_standing(m, folder, rank, misses ? SP_EV_open : SP_EV_cond_wait);
}

static void write_steps(const struct sp_planted_job *job, const struct instants *t,
			const char *folder, uint32_t rank)
{
	struct sp_maker m;

	begin(&m, job, rank, rank);
	if (job->missing_count)
		make_group(&m, job, rank);
	for (uint32_t step = 0; step < job->steps; step++) {
		uint64_t at = start_ticks(job) + t->begins[step];
		uint64_t fed = at + phase_ns(job, rank, step, SP_PLANT_LOADER);
		uint64_t back = fed + phase_ns(job, rank, step, SP_PLANT_FORWARD);
		uint64_t together = start_ticks(job) + end_of(job, t, rank, step);

		sp_maker_span(&m, SP_EV_torch_range, LOADER, at, fed, 0);
		if (job->missing_count)
			call_collective(&m, back);
		sp_maker_span(&m, SP_EV_torch_backward, 0, back, together, 0);
		sp_maker_span(&m, SP_EV_torch_range, SGD, together, together + OPTIMIZER_NS, 0);
	}
	if (job->missing_count)
		stand(&m, folder, rank, is_missing(job, rank));
	else
		put(&m, folder, rank, "");
}

static void write_collectives(const struct sp_planted_job *job, const struct instants *t,
			      const char *folder, uint32_t rank)
{
	struct sp_maker m;

	begin(&m, job, rank, 100000 + rank);
	if (job->stages)
		name(&m, RECV, "gloo:recv");
	for (uint32_t step = 0; step < job->steps; step++) {
		uint64_t at = start_ticks(job) + t->begins[step];

		if (job->stages)
			sp_maker_span(&m, SP_EV_torch_range, RECV, at + 100000, at + 200000, 0);
		sp_maker_span(&m, SP_EV_torch_range, REDUCE, at + arrival_ns(job, rank, step),
			      start_ticks(job) + end_of(job, t, rank, step), 0);
	}
	if (job->missing_count && rank == 0)
		sp_maker_event(&m, SP_EV_poll, 0, STILL_NS, 0);
	put(&m, folder, rank, "-reduce");
}

void sp_planted_job_write(const struct sp_planted_job *job, const char *folder, uint32_t from,
			  uint32_t to)
{
	struct instants t = instants_of(job);

	for (uint32_t rank = from; rank < to && rank < job->ranks; rank++) {
		write_steps(job, &t, folder, rank);
		if (job->collective)
			write_collectives(job, &t, folder, rank);
	}
	free(t.begins);
	free(t.ends);
}
