/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All results of one run. The passes fill them in; views read them.
 */
#ifndef STAGEPROF_ANALYZER_REPORT_H
#define STAGEPROF_ANALYZER_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/gpu/device_calls.h"
#include "analyzer/gpu/device_states.h"
#include "analyzer/gpu/gpu_process.h"
#include "analyzer/gpu/gpu_work.h"
#include "analyzer/metadata/run.h"
#include "analyzer/report/range_tree.h"
#include "analyzer/report/timeline.h"
#include "analyzer/samples/samples.h"
#include "analyzer/totals/totals.h"
#include "analyzer/ranks/ranks.h"
#include "analyzer/training/training.h"
#include "analyzer/workers/worker.h"

/* The least shares of the training time that count as a wait for the loader. */
struct sp_wait_thresholds {
	double moderate, severe; /* 0 <= moderate <= severe <= 1 */
};

#define SP_WAIT_MODERATE 0.05
#define SP_WAIT_SEVERE 0.20

/*
 * Results that a view can ask for in views.def. Each is made by a pass over the events of the run
 * (passes.def); sp_report_read() runs the passes, and views only read results.
 */
enum sp_needs {
	SP_NEEDS_TOTALS = 1 << 0,	/* always made */
	SP_NEEDS_FILES = 1 << 1,	/* totals of each file, too */
	SP_NEEDS_STEPS = 1 << 2,	/* trainers and their steps */
	SP_NEEDS_RANKS = 1 << 3,	/* trainers compared with each other */
	SP_NEEDS_WORKERS = 1 << 4,	/* threads that make batches */
	SP_NEEDS_RANGES = 1 << 5,	/* the tree of ranges */
	SP_NEEDS_MODULES = 1 << 6,	/* the tree of modules */
	SP_NEEDS_OPS = 1 << 7,		/* the tree of operators */
	SP_NEEDS_DEVICE_CALLS = 1 << 8, /* metrics of the device */
	SP_NEEDS_GPU_CALLS = 1 << 9,	/* processes that called CUDA */
	SP_NEEDS_GPU_WORK = 1 << 10,	/* work that CUPTI reported */
	SP_NEEDS_TIMELINE = 1 << 11,	/* events for the picture of the page */
	SP_NEEDS_SAMPLES = 1 << 12,	/* Python stacks by phase */
	SP_NEEDS_HEAT = 1 << 13,	/* ranks, and how late each is all along the run */
	SP_NEEDS_PHASES = 1 << 14,	/* timelines of training threads */
	SP_NEEDS_RESULTS = (1 << 15) - 1,
	SP_NEEDS_OF_DIGESTS =
		SP_NEEDS_TOTALS | SP_NEEDS_FILES | SP_NEEDS_STEPS | SP_NEEDS_RANKS | SP_NEEDS_HEAT,
};

struct sp_report {
	/* Asked for. */
	unsigned needs; /* enum sp_needs */
	struct sp_wait_thresholds wait_thresholds;
	bool asks_workers; /* the user asks what another number of workers would change */
	uint32_t workers_asked;
	bool is_for_digest; /* threads and trainers are digested, too */

	/* Results; empty where the needs do not ask for them. */
	struct sp_run run;
	struct sp_totals totals;
	struct sp_training training;
	struct sp_range_tree ranges, modules, ops;
	struct sp_workers workers;
	struct sp_ranks ranks;
	struct sp_device_calls device_calls;
	struct sp_device_states device_states;
	struct sp_gpu_processes gpu_processes;
	struct sp_gpu_work gpu_work;
	struct sp_timeline timeline;
	struct sp_samples samples;
};

/* Reads frames and definitions of the inputs that sp_index_add() took. Returns 0 or -ENOMEM. From
 * then on the report must not move in memory. */
int sp_report_scan(struct sp_report *report);

/* Runs the passes that make the results asked for. Returns 0 or -ENOMEM. */
int sp_report_read(struct sp_report *report);

/* The number of passes that sp_report_read() runs for these results. */
unsigned sp_report_passes(unsigned needs);

void sp_report_finish(struct sp_report *report);

#endif
