/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of epochs beside each other: what the first one costs and the later ones do not. */
#ifndef STAGEPROF_ANALYZER_METRICS_EPOCHS_H
#define STAGEPROF_ANALYZER_METRICS_EPOCHS_H

#include "analyzer/metrics/metric_sums.h"

/* The share of the waits for first batches that has the work of any batch. */
double sp_epochs_first_made(struct sp_metric_sums *sums);

/* The waits of the first epoch beyond those of the later ones; NAN where they are no longer. */
double sp_epochs_first_wait_ns(struct sp_metric_sums *sums);

#endif
