/* SPDX-License-Identifier: Apache-2.0 */
/* Training that the threads of a process take in turns, such as those of a server. */
#ifndef STAGEPROF_ANALYZER_METRICS_TURNS_H
#define STAGEPROF_ANALYZER_METRICS_TURNS_H

#include "analyzer/metrics/training_time.h"

struct sp_report;

/* After sp_metrics_account(). */
void sp_metrics_turns(struct sp_metrics *metrics, const struct sp_training_time *time,
		      const struct sp_report *report);

#endif
