/*
 * The ranks of a distributed job beside each other: who is late, by how much, and in what.
 *
 * Ranks that take the same steps wait for each other once a step, so their steps last equally long and tell
 * nothing; what tells is how late each comes to the last collective of a step. All leave it at
 * once, so the rank that stayed in it shortest came last: no clock has to be compared for that. Where no
 * collective is seen, the time that a step takes outside backward stands in for it.
 */
#ifndef STAGEPROF_ANALYZER_RANKS_H
#define STAGEPROF_ANALYZER_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/account.h"
#include "analyzer/collective.h"

struct sp_report;

#define SP_RANKS_STEPS_MIN 10u
/* A straggler is behind by this share of a step, in the median, and in two of three steps at all. */
#define SP_STRAGGLER_SHARE 0.05

struct sp_rank {
	uint32_t trainer;  /* index into training.trainers */
	bool is_compared;  /* false: another trainer of the same rank has more steps */
	uint64_t wall_p50_ns, loader_p50_ns; /* of the compared steps */
	uint64_t wait_p50_ns;  /* in the last collective, for ranks that came later */
	int64_t behind_p50_ns; /* the median of the other ranks came so much earlier */
	uint32_t last_in;      /* steps in which it came last */
	bool is_straggler;
	enum sp_account_part cause; /* a straggler's part that is longest beyond the others' */
	int64_t cause_p50_ns;	    /* by so much */
	struct sp_collective *collectives; /* by step */
	int64_t clock_ahead_ns;	    /* of its host, against the first rank's */
};

struct sp_ranks {
	struct sp_rank *list; /* by rank; those that tell none behind the others */
	uint32_t count, compared;
	uint32_t *steps; /* numbers of the steps that are compared */
	uint32_t step_count;
	bool by_collectives; /* else by time outside backward */
	uint32_t stragglers;
	/* Differences between the greatest and the least of the ranks, in a step. */
	uint64_t loader_skew_p50_ns, loader_skew_p95_ns;
	uint64_t start_skew_p50_ns, start_skew_p95_ns; /* clocks refined where by_collectives */
};

/* From report->training, which is to be there. Returns 0 or -ENOMEM. */
int sp_ranks_read(struct sp_ranks *ranks, const struct sp_report *report);
void sp_ranks_finish(struct sp_ranks *ranks);

#endif
