/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The short summary: the answer of a report in a few lines. `stageprof run` prints it when the
 * program has ended, and the summary of a terminal begins with it.
 */
#ifndef STAGEPROF_ANALYZER_SHORT_SUMMARY_H
#define STAGEPROF_ANALYZER_SHORT_SUMMARY_H

#include "analyzer/views/view.h"

#define SP_SHORT_LINES_MAX 16u

/* lines_max: at most SP_SHORT_LINES_MAX. Returns the number of lines, or -ENOMEM. */
int sp_short_summary_show(const struct sp_report *report, struct sp_out *out,
			  const struct sp_view_options *options, unsigned lines_max);

#endif
