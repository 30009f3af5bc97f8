/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of the job's own settings, as its processes reported them. Advice asks for no setting
 * that the job has.
 */
#ifndef STAGEPROF_ANALYZER_METRICS_JOB_H
#define STAGEPROF_ANALYZER_METRICS_JOB_H

#include "analyzer/metrics/metric.h"

struct sp_report;

/* True where a process that trains has calls of this name. */
bool sp_metrics_has_label(const struct sp_report *report, const char *label);

void sp_metrics_job(struct sp_metrics *metrics, const struct sp_report *report);

#endif
