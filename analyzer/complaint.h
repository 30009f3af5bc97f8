/*
 * What is wrong with the inputs, in words: one line a file.
 */
#ifndef STAGEPROF_ANALYZER_COMPLAINT_H
#define STAGEPROF_ANALYZER_COMPLAINT_H

#include "analyzer/report.h"

/*
 * Calls say(line) for each file that has something wrong, at most `most` times, and once more with
 * how many files are left out. Lines are escaped. After sp_report_fold(). Returns 0 or -ENOMEM.
 */
int sp_complaints(const struct sp_report *report, unsigned most, void (*say)(const char *line));

#endif
