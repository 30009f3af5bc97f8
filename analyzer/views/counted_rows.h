/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of `functions --by=calls`: functions in fetches and steps, by counted calls
 * (STAGEPROF_CALLS).
 */
#ifndef STAGEPROF_ANALYZER_COUNTED_ROWS_H
#define STAGEPROF_ANALYZER_COUNTED_ROWS_H

#include "analyzer/views/view.h"

/* False: no calls were counted. */
bool sp_counted_has_rows(const struct sp_report *report);

/* As a view. Counts and times are of all fetches and steps of the run, and so from a sample of
 * them. */
int sp_counted_rows_show(const struct sp_report *report, struct sp_out *out,
			 const struct sp_view_options *options);

#endif
