/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Made jobs of any number of ranks and steps, whose stragglers are planted. Every phase of every
 * step has noise of its own; the same job is the same bytes.
 */
#ifndef STAGEPROF_TESTS_PLANTED_JOB_H
#define STAGEPROF_TESTS_PLANTED_JOB_H

#include <stdbool.h>
#include <stdint.h>

#define SP_PLANTS_MAX 16u
#define SP_MISSING_MAX 4u

enum sp_plant_where {
	SP_PLANT_RANK,
	SP_PLANT_HOST, /* all ranks of the host */
	SP_PLANT_SLOT, /* this local rank of every host */
};

enum sp_plant_phase { SP_PLANT_LOADER, SP_PLANT_FORWARD, SP_PLANT_BACKWARD };

struct sp_plant {
	enum sp_plant_where where;
	uint32_t number;	     /* of the rank, host or local rank */
	uint32_t from_step, to_step; /* to_step: 0: to the end */
	enum sp_plant_phase phase;
	uint64_t more_ns; /* of each of these steps */
};

struct sp_planted_job {
	uint32_t ranks, steps;
	uint32_t ranks_a_host;
	uint32_t noise_permille; /* most noise of a phase, either way */
	uint32_t seed;
	uint32_t world;		/* 0: as many as ranks */
	int64_t later_ns;	/* the job begins so much later */
	int64_t host_skews_ns;	/* host n's clock is n times this ahead */
	const char *collective; /* name of the range; NULL: none is seen */
	uint32_t stages; /* of a pipeline, each of neighbouring ranks with a collective of its own;
			    its forward is 0, 30 or 60% longer; 0: no pipeline */
	bool strides;	 /* rank R is of stage R % stages instead */
	struct sp_plant plants[SP_PLANTS_MAX];
	uint32_t plant_count;
	/* Where there are some, the job stands still: all other ranks wait in one more collective,
	 * to which these never came, each inside of an open. */
	uint32_t missing[SP_MISSING_MAX];
	uint32_t missing_count;
};

/* A job of 8 ranks a host, 2% of noise and gloo's all-reduce, without plants. */
struct sp_planted_job sp_planted_job(uint32_t ranks, uint32_t steps);

/* Writes FOLDER/rank-K.zst, and FOLDER/rank-K-reduce.zst where collectives are seen, for ranks
 * [from, to). Aborts where that fails. */
void sp_planted_job_write(const struct sp_planted_job *job, const char *folder, uint32_t from,
			  uint32_t to);

#endif
