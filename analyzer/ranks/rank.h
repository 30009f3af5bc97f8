/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rank of a job, and all ranks that are compared with each other (ranks.h).
 */
#ifndef STAGEPROF_ANALYZER_RANK_H
#define STAGEPROF_ANALYZER_RANK_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/ranks/rank_peers.h"
#include "analyzer/steps/account.h"

#define SP_RANKS_STEPS_MIN 10u
/* A straggler is late by this share of a step, in the median,
 * and in two of three steps at all. */
#define SP_STRAGGLER_SHARE 0.05
/* A rank that is late in one stretch of the steps only: this share of them at least, and so many
 * of its steps late at all. */
#define SP_STRETCH_SHARE 0.05
#define SP_STRETCH_LATE_SHARE 0.9
/* A rank that is late now and then, as by a checkpoint of its own: in SP_RANKS_STEPS_MIN steps at
 * least, by so many times what any other is in as many of its steps. */
#define SP_NOW_AND_THEN_TIMES 8

/* Why a rank is not compared. */
enum sp_rank_exclusion {
	SP_RANK_COMPARED,
	SP_RANK_SHORTER,     /* another trainer of the same rank has more steps */
	SP_RANK_OTHER_WORLD, /* most ranks are of a job of another size */
	SP_RANK_OTHER_TIME,  /* most ranks trained at another time */
	SP_RANK_FEW_STEPS,   /* fewer than half as many as most ranks */
};

/* The ranks that straggle together. */
enum sp_rank_group {
	SP_RANK_ALONE,
	SP_RANK_HOST, /* all ranks of the host */
	SP_RANK_SLOT, /* this local rank of all other hosts, too */
};

struct sp_rank {
	uint32_t trainer; /* index into training.trainers */
	bool is_compared;
	enum sp_rank_exclusion exclusion;
	bool has_many_steps; /* over twice as many as most ranks; the first ones are compared */
	uint64_t wall_p50_ns, loader_p50_ns; /* of the compared steps */
	uint64_t wait_p50_ns;		     /* in the last collective, for ranks that came later */
	int64_t behind_p50_ns; /* the median of the other ranks came so much earlier */
	uint32_t last_in;      /* steps in which it came last */
	bool is_straggler;
	uint32_t late_from, late_to; /* of a straggler: its stretch, into ranks.steps */
	uint32_t late_steps; /* of one that is late now and then: its late steps; of others 0 */
	int64_t late_least_ns, late_steps_p50_ns; /* in these */
	int64_t late_p50_ns; /* later than the others, in the stretch or these steps */
	enum sp_rank_group group;
	enum sp_account_phase cause; /* a straggler's part that is longest beyond the others' */
	int64_t cause_p50_ns;	     /* by so much */
	int64_t clock_ahead_ns;	     /* of its host, against the first rank's */
};

struct sp_ranks {
	struct sp_rank *list; /* by rank; those that do not report one come last */
	uint32_t count, compared;
	uint32_t *steps; /* numbers of the steps that are compared */
	uint32_t step_count;
	bool by_collectives; /* else by time outside backward, or by_host_time */
	bool by_host_time;   /* backward included, because NCCL waits for no rank on the host */
	uint32_t stragglers;
	struct sp_rank_division division; /* of the compared ranks into peers */
	bool keeps_lateness;		  /* set by the caller */
	float *lateness; /* by the list, then by SP_HEAT_COLUMNS (rank_heat.h): mean ns; NULL: not
			    asked for, or fewer than two ranks */
	/* Differences between the greatest and the least of the ranks, in a step. */
	uint64_t loader_skew_p50_ns, loader_skew_p95_ns;
	uint64_t start_skew_p50_ns, start_skew_p95_ns; /* clocks refined where by_collectives */
};

/* False where a rank may be a straggler unseen: without collectives lateness in backward does not
 * show, and few steps show nothing. */
static inline bool sp_rank_is_judged(const struct sp_ranks *ranks, const struct sp_rank *rank)
{
	return rank->is_straggler ||
	       (ranks->by_collectives && ranks->step_count >= SP_RANKS_STEPS_MIN);
}

#endif
