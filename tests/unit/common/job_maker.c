/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/common/job_maker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/common/trace_maker.h"

#define START_TICKS UINT64_C(3000000000000)

enum { LOADER = 1, SGD, REDUCE };

static void name(struct sp_maker *m, uint32_t id, const char *text)
{
	sp_maker_define(m, SP_DEFINE_NAME, id, text, strlen(text));
}

static void begin(struct sp_maker *m, const struct sp_job *job, uint32_t k, uint32_t tid)
{
	const struct sp_job_rank *rank = &job->ranks[k];

	sp_maker_init(m, 100 + k, tid, 0);
	m->ahead_ns = rank->ahead_ns;
	memset(m->header.host, 0, sizeof(m->header.host));
	strcpy(m->header.host, rank->host);
	m->header.rank = sp_checked_make(rank->number);
	m->header.local_rank = sp_checked_make(rank->number ? k % 2 + 1 : 0);
	m->header.world_size = sp_checked_make(rank->number ? job->count : 0);
	m->header.event_ps = sp_checked_make(25000);
	m->header.own_ns = sp_checked_make(2000000);
	m->header.stall_ns = sp_checked_make(1500000 + 1000 * k);
	sp_maker_header(m);
	name(m, LOADER, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
	name(m, SGD, "Optimizer.step#SGD.step");
	if (job->collective)
		name(m, REDUCE, job->collective);
}

static uint64_t arrival_ns(const struct sp_job_rank *r)
{
	return SP_JOB_LOADER_NS + r->loader_more_ns + SP_JOB_FORWARD_NS + r->forward_more_ns +
	       SP_JOB_BACKWARD_NS + r->backward_more_ns;
}

/* From a step's start until all ranks have what they reduced. */
static uint64_t together_ns(const struct sp_job *job, uint32_t step)
{
	uint64_t latest = 0;

	for (uint32_t k = 0; k < job->count; k++) {
		uint64_t ns = arrival_ns(&job->ranks[k]);

		if (step < job->ranks[k].steps && ns > latest)
			latest = ns;
	}
	return latest + SP_JOB_REDUCE_NS;
}

static void put(struct sp_maker *m, const char *folder, uint32_t k, const char *end)
{
	char name[32];

	snprintf(name, sizeof(name), "%u%s.zst", k, end);
	sp_maker_put(m, folder, name);
}

static void put_nccl(struct sp_maker *m, uint64_t backward, uint64_t arrival, uint64_t together)
{
	sp_maker_span(m, SP_EV_ncclAllReduce, 0, arrival - 2000, arrival - 1000, 4096);
	sp_maker_span(m, SP_EV_torch_backward, 0, backward, arrival, 0);
	sp_maker_span(m, SP_EV_cudaStreamSynchronize, 0, arrival, together, 0);
}

static void write_rank(const struct sp_job *job, const char *folder, uint32_t k)
{
	const struct sp_job_rank *rank = &job->ranks[k];
	uint64_t at = START_TICKS;
	struct sp_maker steps, reduce;

	begin(&steps, job, k, 100 + k);
	begin(&reduce, job, k, 200 + k);
	for (uint32_t i = 0; i < rank->steps; i++) {
		uint64_t loader_end = at + SP_JOB_LOADER_NS + rank->loader_more_ns;
		uint64_t backward = loader_end + SP_JOB_FORWARD_NS + rank->forward_more_ns;
		uint64_t together = at + together_ns(job, i);

		sp_maker_span(&steps, SP_EV_torch_range, LOADER, at, loader_end, 0);
		if (job->by_nccl)
			put_nccl(&steps, backward, at + arrival_ns(rank), together);
		else
			sp_maker_span(&steps, SP_EV_torch_backward, 0, backward, together, 0);
		if (job->collective)
			sp_maker_span(&reduce, SP_EV_torch_range, REDUCE, at + arrival_ns(rank),
				      together, 0);
		sp_maker_span(&steps, SP_EV_torch_range, SGD, together,
			      together + SP_JOB_OPTIMIZER_NS, 0);
		at = together + SP_JOB_OPTIMIZER_NS;
	}
	put(&steps, folder, k, "");
	put(&reduce, folder, k, "-reduce");
}

void sp_job_write(const struct sp_job *job, const char *folder)
{
	for (uint32_t k = 0; k < job->count; k++)
		write_rank(job, folder, k);
}
