/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warnings about damage and losses of the inputs: one line a file.
 */
#ifndef STAGEPROF_ANALYZER_INPUT_WARNINGS_H
#define STAGEPROF_ANALYZER_INPUT_WARNINGS_H

#include "analyzer/report/report.h"

/*
 * Calls say(line) for each damaged file, at most `most` times, and once more with the number of
 * files left out. Lines are escaped. After sp_report_read(). Returns 0 or -ENOMEM.
 */
int sp_input_warnings(const struct sp_report *report, unsigned most, void (*say)(const char *line));

#endif
