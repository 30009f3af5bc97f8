/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics from CUDA calls and from times measured on the device.
 */
#ifndef STAGEPROF_ANALYZER_METRICS_DEVICE_H
#define STAGEPROF_ANALYZER_METRICS_DEVICE_H

#include "analyzer/steps/account.h"
#include "analyzer/metrics/metric.h"

struct sp_report;

/* account, steps: of all trainers, at least one step. The loader's wait is set already, where it
 * is known. Returns 0 or -ENOMEM. */
void sp_metrics_device(struct sp_metrics *metrics, const struct sp_account *account, uint64_t steps,
		       const struct sp_report *report);

#endif
