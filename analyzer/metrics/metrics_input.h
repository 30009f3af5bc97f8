/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics from loaders, workers and files.
 */
#ifndef STAGEPROF_ANALYZER_METRICS_INPUT_H
#define STAGEPROF_ANALYZER_METRICS_INPUT_H

#include "analyzer/metrics/metric.h"

struct sp_report;

/* Call it after the steps' metrics are set. */
void sp_metrics_input(struct sp_metrics *metrics, const struct sp_report *report);

#endif
