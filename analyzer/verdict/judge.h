/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges, doubts, advises and gathers evidence, by the tables verdict.def, doubt.def and
 * advice.def.
 */
#ifndef STAGEPROF_ANALYZER_JUDGE_H
#define STAGEPROF_ANALYZER_JUDGE_H

#include "analyzer/verdict/verdict.h"

struct sp_wait_thresholds; /* analyzer/report/report.h */

/* From the report: sp_metrics_gather(), then sp_verdict_judge(). Returns 0 or -ENOMEM. */
int sp_verdict_make(struct sp_verdict *verdict, const struct sp_report *report,
		    const struct sp_wait_thresholds *thresholds);

/* Fills the rest from verdict->metrics; thresholds: of waiting on the loader. */
void sp_verdict_judge(struct sp_verdict *verdict, const struct sp_wait_thresholds *thresholds);

#endif
