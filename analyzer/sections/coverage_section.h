/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines on what a run did not observe: frameworks, hooks that were not bound, wanted functions that
 * no process had, libraries that were never called; and the recorder's notes.
 */
#ifndef STAGEPROF_ANALYZER_COVERAGE_SECTION_H
#define STAGEPROF_ANALYZER_COVERAGE_SECTION_H

#include "analyzer/print/out.h"
#include "analyzer/report/report.h"

/* Writes lines for people. */
void sp_coverage_section(const struct sp_report *report, struct sp_out *out);

/* Writes the arrays "never_called", "coverage" and "notes" of JSON; nothing in other formats. */
void sp_coverage_section_json(const struct sp_report *report, struct sp_out *out);

#endif
