/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact quantiles over the selected steps of all trainers.
 */
#ifndef STAGEPROF_ANALYZER_STEP_STATS_H
#define STAGEPROF_ANALYZER_STEP_STATS_H

#include "analyzer/training/training.h"

/* Instead of a part: the step's wall time. */
#define SP_STEP_WALL SP_ACCOUNT_PHASES

struct sp_step_stats {
	uint64_t count;
	uint64_t total_ns;
	uint64_t p50_ns, p95_ns, p99_ns, max_ns; /* 0 where count is */
};

/*
 * Reads the durations of one part (enum sp_account_phase, or SP_STEP_WALL) over the steps whose
 * kinds are in the mask 1 << enum sp_step_kind. Trainers that have no such part are left out.
 * Returns 0 or -ENOMEM.
 */
int sp_step_stats(const struct sp_training *training, unsigned phase, unsigned kinds,
		  struct sp_step_stats *ret);

#define SP_STEP_KINDS_ALL (~0u)

#define SP_STEP_SLOW_FACTOR 2u /* a slow step takes more than so many times the median */

/*
 * "A step" in every report: the mean of the selected steady steps of all trainers,
 * or of all selected steps where none is steady.
 */
struct sp_step_mean {
	uint64_t count; /* of the steps that it is the mean of; 0: there are none */
	uint64_t total_ns;
	struct sp_account account; /* sums over these steps: they add up to total_ns */
	bool of_steady;
};

struct sp_step_mean sp_step_mean(const struct sp_training *training);

/* 0 without steps. */
static inline uint64_t sp_step_mean_ns(const struct sp_step_mean *mean)
{
	return mean->count ? mean->total_ns / mean->count : 0;
}

/*
 * The values themselves, by trainer and in the order of time. *ret_values is the caller's to free.
 * Returns 0 or -ENOMEM.
 */
int sp_step_values(const struct sp_training *training, unsigned phase, unsigned kinds,
		   uint64_t **ret_values, uint64_t *ret_count);

/* "steady", "warm-up", ... */
const char *sp_step_kind_name(enum sp_step_kind kind);

/* By what the steps of some training thread end, if not by its optimizer. */
enum sp_step_end sp_training_end(const struct sp_training *training);

/* The source of a part in the whole run: that of the trainers that have it. */
enum sp_source_kind sp_training_source(const struct sp_training *training,
				       enum sp_account_phase phase);

#endif
