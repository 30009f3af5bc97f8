/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What-ifs in the summary.
 */
#ifndef STAGEPROF_ANALYZER_VIEW_WHATIF_H
#define STAGEPROF_ANALYZER_VIEW_WHATIF_H

#include "analyzer/metrics/metrics.h"
#include "analyzer/print/out.h"

/* Writes the strongest what-if as a line; in JSON all of them. */
int sp_what_if_show(const struct sp_metrics *metrics, struct sp_out *out);

#endif
