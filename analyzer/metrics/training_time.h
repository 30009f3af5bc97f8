/* SPDX-License-Identifier: Apache-2.0 */
/* The training time that metrics are shares of, in nanoseconds. */
#ifndef STAGEPROF_ANALYZER_TRAINING_TIME_H
#define STAGEPROF_ANALYZER_TRAINING_TIME_H

#include "analyzer/metrics/metric.h"
#include "analyzer/steps/step.h"

struct sp_report;

/* The account of all trainers, and the starts of epochs in it. */
struct sp_training_time {
	struct sp_account account;
	double total;
	double first_ns;	/* waits for first batches, and for the end and start of loaders */
	double loader_start_ns; /* the share of first_ns that is no input wait */
	double run_start_ns;	/* the share of first_ns that is runs' first batches */
	double run_end_ns;	/* the share of first_ns that is the end of runs' last loaders */
	uint32_t firsts, run_starts; /* epochs begun; runs among them */
	uint32_t epochs;	     /* most of any trainer */
	double sum[SP_STEP_SUMS];    /* of sp_step.sum, and pauses' loads */
	double end_load_ns;	     /* before the first step and after the last one */
	uint64_t steps;
};

/* Adds up all trainers of the report to `time`, which is zero, and sets the metrics of a step's
 * length. Returns 0 or -ENOMEM. */
int sp_training_time_read(struct sp_training_time *time, struct sp_metrics *metrics,
			  const struct sp_report *report);

#endif
