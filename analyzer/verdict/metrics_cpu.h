/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics from the kernel's counts of cores and their use.
 */
#ifndef STAGEPROF_ANALYZER_METRICS_CPU_H
#define STAGEPROF_ANALYZER_METRICS_CPU_H

#include "analyzer/verdict/metric.h"

struct sp_report;

/* True where another thread of a training process computes meanwhile. Threads that record nothing
 * (of OpenMP) do not count. */
bool sp_metrics_has_busy_thread(const struct sp_report *report);

void sp_metrics_cpu(struct sp_metrics *metrics, const struct sp_report *report);

#endif
