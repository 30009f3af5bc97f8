/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps at the begin of the run beside steps at its end, of the trainer with the most steps. A
 * fifth of the steps each, without the first tenth. Steps of more than twice their part's median do
 * not count.
 */
#ifndef STAGEPROF_ANALYZER_METRICS_DRIFT_H
#define STAGEPROF_ANALYZER_METRICS_DRIFT_H

#include "analyzer/metrics/metric_sums.h"

struct sp_drift {
	bool is_known; /* 50 steps or more, and the end is apart from the begin beyond chance */
	double first_ns, last_ns;
	uint32_t jump; /* number of about the first step that takes longer; 0: little by little */
	enum sp_account_phase grown; /* the row that grew most */
};

struct sp_drift sp_drift_of(const struct sp_metric_sums *sums);

/* "little by little", or "from about step 60 on"; NULL: not known. */
const char *sp_drift_begin_text(const struct sp_metric_sums *sums, char text[SP_METRIC_TEXT_BYTES]);

#endif
