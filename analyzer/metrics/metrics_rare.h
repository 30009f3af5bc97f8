/* SPDX-License-Identifier: Apache-2.0 */
/* Time that few steps take, in nanoseconds of all trainers. */
#ifndef STAGEPROF_ANALYZER_METRICS_RARE_H
#define STAGEPROF_ANALYZER_METRICS_RARE_H

#include "analyzer/metrics/training_time.h"

/* A phase in the steps that exceed twice the median, beyond the median; NAN where those are not
 * few. */
double sp_rare_ns(const struct sp_training *training, enum sp_account_phase phase,
		  uint64_t median_ns);

/* The loop's own code in steps that save, beyond the other steps: what goes with a save, such as
 * waiting until its file is on the disk. */
double sp_rare_beside_saves_ns(const struct sp_training_time *time,
			       const struct sp_training *training);

/* The loop's own code between epochs and in few steps; NAN where that is not most of it. */
double sp_rare_loop_ns(const struct sp_training_time *time, const struct sp_training *training);

/* The first steps beyond as many steady ones; NAN where they are no longer. */
double sp_rare_warm_up_ns(const struct sp_training *training);

/*
 * Sets rare_communication_ns. Gradients are exchanged in each step: collectives of few steps wait
 * for a rank that does something else, or average weights. Returns 0 or -ENOMEM.
 */
int sp_rare_communication_read(struct sp_training_time *time, const struct sp_training *training);

#endif
