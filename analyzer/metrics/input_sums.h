/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over the threads that make batches. */
#ifndef STAGEPROF_ANALYZER_INPUT_SUMS_H
#define STAGEPROF_ANALYZER_INPUT_SUMS_H

#include <math.h>

#include "analyzer/metrics/cpu_sums.h"
#include "analyzer/workers/worker.h"

/* The work of making batches, by kind. */
struct sp_made {
	double all, decode, read, receive;
};

/* Sums over the workers. */
struct sp_input_sums {
	struct sp_work_sums whole, meanwhile; /* meanwhile: while the trainer waited */
	struct sp_made made, made_meanwhile;
	struct sp_fetches fetches; /* for steps */
	double threads_ns; /* of fetches.locked_ns: other threads of the process ran, at most */
	struct sp_beside beside; /* of other threads of the workers' processes */
	uint32_t lives;		 /* lives of workers */
	uint32_t at_once;	 /* workers at once, the most of any trainer */
	bool on_trainer;	 /* the training thread makes all batches */
};

void sp_input_sums_read(struct sp_input_sums *sums, const struct sp_report *report);

/* Inside fetches, without waits for other threads of the same process. */
static inline double sp_input_locked_ns(const struct sp_input_sums *in)
{
	return (double)in->fetches.locked_ns - in->threads_ns;
}

static inline double sp_input_own_collate_ns(const struct sp_input_sums *in)
{
	return fmax((double)in->whole.ns[SP_WORK_collate] - (double)in->fetches.stacked_ns, 0);
}

/* The part of the waits inside fetches that needs no core, at least. */
double sp_input_coreless(const struct sp_input_sums *sums);

/* One of the workers that wait for each other's locks runs at any time. If they wait for longer
 * than that allows, they wait for something else. */
bool sp_input_holds_up_itself(const struct sp_input_sums *sums);

/* A sentence, or "". */
const char *sp_input_own_collate(const struct sp_input_sums *sums);

/* One of several workers may make the batch that is waited for, and not be idle. */
double sp_input_others_idle(const struct sp_input_sums *sums);

#endif
