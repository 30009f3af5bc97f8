/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics from the kernel's counts of cores and their use.
 */
#ifndef STAGEPROF_ANALYZER_METRICS_CPU_H
#define STAGEPROF_ANALYZER_METRICS_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/metrics/metric.h"

struct sp_report;

/* True where another thread of a training process computes meanwhile. Threads that record nothing
 * (of OpenMP) do not count. */
bool sp_metrics_has_busy_thread(const struct sp_report *report);

/* The time on cores, and in wait for one, of a process's threads beside the given one. A trainer's
 * covers the steps. 0: none, or not known. */
struct sp_beside {
	double cpu_ns, ready_ns;
};

struct sp_beside sp_metrics_beside(const struct sp_report *report, uint32_t stream,
				   bool is_trainer);

void sp_metrics_cpu(struct sp_metrics *metrics, const struct sp_report *report);

/* idle_call_share, after update_share is set. */
void sp_metrics_idle_calls(struct sp_metrics *e, const struct sp_report *report);

#endif
