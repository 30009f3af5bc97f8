/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that the comparison lacks: those in no input, and those with too little in common with the
 * others.
 */
#ifndef STAGEPROF_ANALYZER_RANK_LEFT_OUT_H
#define STAGEPROF_ANALYZER_RANK_LEFT_OUT_H

#include "analyzer/print/out.h"
#include "analyzer/report/report.h"

/* The number of ranks of the job that no input has. */
uint64_t sp_ranks_missing(const struct sp_report *report);

/* Writes a line for each gap in the numbers of the ranks; of many, the first. */
void sp_ranks_missing_show(const struct sp_report *report, struct sp_out *out);

/* Writes a line for each reason for which ranks are not compared. */
void sp_ranks_excluded_show(const struct sp_report *report, struct sp_out *out);

#endif
