/* SPDX-License-Identifier: Apache-2.0 */
/* Why no verdict can be given: the metric cannot_tell, and steps that hide what they wait for. */
#ifndef STAGEPROF_ANALYZER_METRICS_ABSTAIN_H
#define STAGEPROF_ANALYZER_METRICS_ABSTAIN_H

#include "analyzer/metrics/training_time.h"

struct sp_report;

/* steps: of all trainers. */
void sp_metrics_cannot_tell(struct sp_metrics *metrics, const struct sp_report *report,
			    uint64_t steps);

/* After sp_metrics_account(): sets hides_waits, too. */
void sp_metrics_whole_steps(struct sp_metrics *metrics, const struct sp_training_time *time,
			    const struct sp_report *report);

#endif
