/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of batches and workers that need other metrics. NAN: not known. */
#ifndef STAGEPROF_ANALYZER_METRICS_INPUT_H
#define STAGEPROF_ANALYZER_METRICS_INPUT_H

#include "analyzer/metrics/metric_sums.h"

/* The trainer's waits are for the making of batches, not for their way to it. */
bool sp_input_is_made_late(struct sp_metric_sums *sums);

/* Where it is not known: one. */
double sp_input_batches_a_step(struct sp_metric_sums *sums);

/* The time that a trainer without waits takes for a batch. */
double sp_input_busy_ns(struct sp_metric_sums *sums);

/*
 * The number of workers that make batches as fast as a trainer without waits takes them, and that
 * number as far as the cores allow it. Blocked time (storage, sleep) needs no cores. After
 * batch_work_ns is known.
 */
double sp_input_enough(struct sp_metric_sums *sums);
double sp_input_wanted(struct sp_metric_sums *sums);

/*
 * The share of the trainer's waits in which a worker's sending thread could have run. A fetch that
 * computes in Python holds the interpreter's lock; in this case the fetch is slow and not the
 * sending.
 */
double sp_input_answering(struct sp_metric_sums *sums);

/* The time that a trainer takes to give back a batch of a worker, at most. */
double sp_input_release_ns(struct sp_metric_sums *sums);

#endif
