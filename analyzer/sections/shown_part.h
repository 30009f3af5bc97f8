/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the run that the report shows: what the user asked for, and what was recorded.
 */
#ifndef STAGEPROF_ANALYZER_SHOWN_PART_H
#define STAGEPROF_ANALYZER_SHOWN_PART_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/report/report.h"

/* "steps 10 to 19, process 4711": the selection. False where it is the whole run. */
bool sp_selection_text(const struct sp_report *report, char *ret, size_t ret_bytes);

/* The time with recording off, of the thread that lost most, and the steps in it. False where
 * recording was never off. */
bool sp_off_text(const struct sp_report *report, char *ret, size_t ret_bytes);

#endif
