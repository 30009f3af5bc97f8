/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report of one run or of several that are added up: reading it, and saying on stderr what it
 * lacks.
 */
#ifndef STAGEPROF_ANALYZER_ASKED_REPORT_H
#define STAGEPROF_ANALYZER_ASKED_REPORT_H

#include "analyzer/cli/options.h"
#include "analyzer/report/report.h"

/* An empty report that asks for what the command line does. */
struct sp_report sp_asked_report(const struct sp_options *options);

/* Reads `count` paths. warns: says which inputs are damaged, and why there are no events; else only
 * what makes the report fail. Returns an exit status; sp_report_finish() is due in all cases. */
int sp_asked_report_read(struct sp_report *report, const struct sp_options *options, char **paths,
			 uint32_t count, bool warns);

/* True where a selection, or a verdict on it, left no event or no step of a run that has some. */
bool sp_asked_report_is_empty(const struct sp_report *report, bool has_verdict);

#endif
