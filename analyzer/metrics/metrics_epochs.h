/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of epochs beside each other: what the first one costs and the later ones do not. */
#ifndef STAGEPROF_ANALYZER_METRICS_EPOCHS_H
#define STAGEPROF_ANALYZER_METRICS_EPOCHS_H

#include "analyzer/metrics/metric.h"

struct sp_report;

/* total_ns: the training time. */
void sp_metrics_epochs(struct sp_metrics *metrics, const struct sp_report *report, double total_ns);

#endif
