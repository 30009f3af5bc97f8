/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict in the summary and on the page.
 */
#ifndef STAGEPROF_ANALYZER_VIEW_VERDICT_H
#define STAGEPROF_ANALYZER_VIEW_VERDICT_H

#include "analyzer/print/out.h"
#include "analyzer/report/report.h"

/* Writes the verdict, its metrics and advice, and, with_rows, the names of the rows that gave them
 * in the tables of analyzer/verdict. The report has its steps and workers. */
int sp_verdict_show(const struct sp_report *report, struct sp_out *out, bool with_rows);

#endif
