/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of time that few steps take, and of a forward that is long for its backward. */
#ifndef STAGEPROF_ANALYZER_METRICS_RARE_H
#define STAGEPROF_ANALYZER_METRICS_RARE_H

#include "analyzer/metrics/metric.h"

struct sp_report;

/* After sp_metrics_account(). All return 0 or -ENOMEM. */
int sp_metrics_forward(struct sp_metrics *metrics, const struct sp_report *report);
int sp_metrics_rare_loop(struct sp_metrics *metrics, const struct sp_report *report);
int sp_metrics_rare_communication(struct sp_metrics *metrics, const struct sp_report *report);
int sp_metrics_warm_up(struct sp_metrics *metrics, const struct sp_report *report);

#endif
