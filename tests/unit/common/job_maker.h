/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A made distributed job: ranks that take the same steps and meet in one all-reduce each, with
 * times that are known to the ns.
 */
#ifndef STAGEPROF_TESTS_JOB_MAKER_H
#define STAGEPROF_TESTS_JOB_MAKER_H

#include <stdbool.h>
#include <stdint.h>

#define SP_JOB_RANKS_MAX 4u

enum {
	SP_JOB_LOADER_NS = 1000000,
	SP_JOB_FORWARD_NS = 2000000,
	SP_JOB_BACKWARD_NS = 3000000, /* until it calls for the all-reduce */
	SP_JOB_REDUCE_NS = 500000,    /* from the last rank's call on */
	SP_JOB_OPTIMIZER_NS = 400000,
};

struct sp_job_rank {
	uint32_t number; /* plus 1; 0: not known */
	const char *host;
	int64_t ahead_ns;					    /* the host's clock */
	uint64_t loader_more_ns, forward_more_ns, backward_more_ns; /* of each step */
	uint32_t steps;
};

struct sp_job {
	struct sp_job_rank ranks[SP_JOB_RANKS_MAX];
	uint32_t count;
	const char *collective; /* name of the range; NULL: none is seen */
	bool by_nccl; /* the call returns at once, and a sync after backward waits for all ranks */
};

/* Writes FOLDER/K.zst and FOLDER/K-reduce.zst for rank K. Aborts where that fails. */
void sp_job_write(const struct sp_job *job, const char *folder);

#endif
