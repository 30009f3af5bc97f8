/* SPDX-License-Identifier: Apache-2.0 */
/* The training time that metrics are shares of, in nanoseconds. */
#ifndef STAGEPROF_ANALYZER_TRAINING_TIME_H
#define STAGEPROF_ANALYZER_TRAINING_TIME_H

#include "analyzer/metrics/metrics_rare.h"
#include "analyzer/training/step_stats.h"

struct sp_report;

struct sp_epoch_waits {
	double ns, steps, wall_ns;
};

/* The account of all trainers, the starts of epochs in it, and facts about any trainer. */
struct sp_training_time {
	struct sp_account account, ends; /* ends: before the first step, and after the last one */
	struct sp_account in_steps;	 /* of the selected steps */
	bool has[SP_ACCOUNT_PHASES];	 /* something gives the phase */
	double total;
	double first_ns;	/* waits for first batches, and for the end and start of loaders */
	double loader_start_ns; /* the share of first_ns that is no input wait */
	double run_start_ns;	/* the share of first_ns that is runs' first batches */
	double run_end_ns;	/* the share of first_ns that is the end of runs' last loaders */
	uint32_t firsts, run_starts; /* epochs begun; runs among them */
	uint32_t epochs;	     /* most of any trainer */
	double sum[SP_STEP_SUMS];    /* of sp_step.sum, and pauses' loads */
	double end_load_ns;	     /* before the first step and after the last one */
	double validation_wait_ns;
	uint64_t rare_communication_ns; /* between steps and in few steps, beyond the other steps */
	uint64_t steps;
	/* Between the trainings of a process's threads, in which none of them trains, of all
	 * processes; 0 where a part of the run is asked for. */
	uint64_t apart_ns;
	uint32_t apart_threads; /* the most of a process */
	uint64_t late_compiles; /* steps of a run's second half, the most of any trainer */
	uint32_t trained_passes, single_passes;
	uint64_t fed_batches, fed_steps; /* of trainers that a loader feeds */
	bool has_model_calls;	   /* one was observed. Compiled and scripted models have none */
	bool is_forward_left_over; /* no call of the model was observed before some backward */
	/* The steady steps; wall: all, where none is steady. */
	struct sp_step_stats wait, wall, forward, backward, loop;
	struct sp_step_mean mean;
	struct sp_rare rare_wait, rare_forward, rare_backward, rare_loop;
	uint64_t beside_saves_ns; /* code in steps that save, beyond the other steps */
	/* The waits of steps, by whether the epoch is a later one, and whether it is its first
	 * step, which also waits for the start of the loader. */
	struct sp_epoch_waits waits[2][2];
	uint64_t kinds[SP_STEP_INTERRUPTED + 1];  /* steps */
	uint64_t own_ns[SP_STEP_INTERRUPTED + 1]; /* without parts that are SP_IS_SELDOM */
	uint64_t loaders[SP_STEP_PASSES + 1];	  /* steps with so many loaders */
	double loader_ns[SP_STEP_PASSES];	  /* waits for each, of several */
};

/* Fills `time`; for digests the account, the steps, `wall` and the facts. Returns 0 or -ENOMEM. */
int sp_training_time_read(struct sp_training_time *time, const struct sp_report *report);

/* The loop's own code between epochs and in few steps; NAN where that is not most of it. */
double sp_time_rare_loop_ns(const struct sp_training_time *time);

/* The first steps beyond as many steady ones; NAN where they are no longer. */
double sp_time_warm_up_ns(const struct sp_training_time *time);

/*
 * Time in the row `other` whose calls are known is no code of the loop's own. Clipping of gradients
 * goes with the optimizer, and allocations and frees of the device's memory with the waits for the
 * device. Code that uses gradients and clears them may go with the optimizer, too. Batches that
 * came from workers in shared memory are released by munmap.
 */
static inline double sp_time_known_ns(const struct sp_training_time *t)
{
	return t->sum[SP_STEP_SUM_clip] + t->sum[SP_STEP_SUM_allocating] +
	       t->sum[SP_STEP_SUM_cleared] + t->sum[SP_STEP_SUM_unmap];
}

static inline double sp_time_loop_ns(const struct sp_training_time *t)
{
	double ns = (double)t->account.ns[SP_ACCOUNT_other] - sp_time_known_ns(t);

	return ns > 0 ? ns : 0;
}

/* The loss may be other code; so may a forward that is left over, and what a loop does with
 * gradients that it clears. */
static inline double sp_time_unmarked_ns(const struct sp_training_time *t)
{
	double ns = (double)t->account.ns[SP_ACCOUNT_loss] + t->sum[SP_STEP_SUM_cleared];

	return t->is_forward_left_over ? ns + (double)t->account.ns[SP_ACCOUNT_forward] : ns;
}

/* Saves, validation, evaluation, environments and compiling, of the mean steady step. */
static inline double sp_time_seldom_part(const struct sp_training_time *t)
{
	const struct sp_account *a = &t->mean.account;
	double ns = (double)sp_account_sum(a, SP_IS_SELDOM) - (double)a->ns[SP_ACCOUNT_loader_wait];

	ns += (double)a->ns[SP_ACCOUNT_environment];
	return sp_account_total(a) ? ns / (double)sp_account_total(a) : 0;
}

/* The model's work, with the known part of `other`. */
static inline double sp_time_compute_ns(const struct sp_training_time *t)
{
	return (double)sp_account_sum(&t->account, SP_IS_MODEL) + sp_time_known_ns(t);
}

#endif
