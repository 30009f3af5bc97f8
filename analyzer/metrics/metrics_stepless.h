/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of a run without steps: its frameworks, reads, decoding, waits and processors. */
#ifndef STAGEPROF_ANALYZER_METRICS_STEPLESS_H
#define STAGEPROF_ANALYZER_METRICS_STEPLESS_H

#include "analyzer/metrics/metric.h"

struct sp_report;

/* For a run without steps. Sets the limits of the claim that it did not train, and the reason
 * (cannot_tell) where it is not known whether it trained. */
void sp_metrics_stepless(struct sp_metrics *metrics, const struct sp_report *report);

#endif
