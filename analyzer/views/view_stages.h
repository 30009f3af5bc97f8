/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of stages, of the views stages and summary.
 */
#ifndef STAGEPROF_ANALYZER_VIEW_STAGES_H
#define STAGEPROF_ANALYZER_VIEW_STAGES_H

#include "analyzer/views/view.h"

/* Returns 0, or -EINVAL where the table of stages has no such order. */
int sp_stages_check_sort(const struct sp_view_options *options);

int sp_stages_show(const struct sp_report *report, struct sp_out *out,
		   const struct sp_view_options *options);

#endif
