/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the view `ranks` that is about all ranks together: who straggles, by which instants
 * they are compared, groups of peers, clocks, and ranks that are left out.
 */
#ifndef STAGEPROF_ANALYZER_RANK_COMPARISON_H
#define STAGEPROF_ANALYZER_RANK_COMPARISON_H

#include "analyzer/print/out.h"
#include "analyzer/report/report.h"

/* Writes lines, or the object "comparison" of JSON. Returns 0 or -ENOMEM. */
int sp_rank_comparison_show(const struct sp_report *report, struct sp_out *out);

#endif
