/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of advice that are a framework's own: settings and calls that only its users have.
 */
#ifndef STAGEPROF_ANALYZER_METRICS_WAYS_H
#define STAGEPROF_ANALYZER_METRICS_WAYS_H

#include "analyzer/metrics/metric.h"

struct sp_report;

/* After all other metrics. is_compiled: torch.compile made a graph for a
 * trainer. */
void sp_metrics_ways(struct sp_metrics *metrics, const struct sp_report *report, bool is_compiled);

#endif
