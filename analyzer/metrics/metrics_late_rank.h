/* SPDX-License-Identifier: Apache-2.0 */
/* The rank that the others wait for. */
#ifndef STAGEPROF_ANALYZER_METRICS_LATE_RANK_H
#define STAGEPROF_ANALYZER_METRICS_LATE_RANK_H

#include "analyzer/metrics/metric.h"

struct sp_rank;
struct sp_ranks;
struct sp_report;

/* The time by which the other ranks are earlier than the latest one: all of them would save it. */
void sp_metrics_straggler(struct sp_metrics *metrics, const struct sp_report *report);

/* The latest rank; NULL where none is late. */
const struct sp_rank *sp_metrics_latest_straggler(const struct sp_ranks *ranks);

/* "rank 3 (and 2 more), longer in forward": the ranks that are late together. */
void sp_metrics_who_straggles(const struct sp_report *report, const struct sp_rank *rank,
			      char *text, size_t bytes);

#endif
