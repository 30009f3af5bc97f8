/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the metrics of a finished report, as named numbers. A metric that the trace does not
 * have is unknown, never 0.
 */
#ifndef STAGEPROF_ANALYZER_METRICS_H
#define STAGEPROF_ANALYZER_METRICS_H

#include "analyzer/metrics/metric.h"

struct sp_report;

/* The report has its steps and workers, and ranks where there are several. Returns 0 or -ENOMEM. */
int sp_metrics_gather(struct sp_metrics *metrics, const struct sp_report *report);

#endif
