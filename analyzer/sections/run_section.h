/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head of a report: hosts, counts, the end of the run, losses, own cost, and the lines of
 * coverage_section.h.
 */
#ifndef STAGEPROF_ANALYZER_RUN_SECTION_H
#define STAGEPROF_ANALYZER_RUN_SECTION_H

#include "analyzer/print/out.h"
#include "analyzer/report/report.h"

void sp_run_section(const struct sp_report *report, struct sp_out *out);

#endif
