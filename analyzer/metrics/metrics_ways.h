/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of advice that are a framework's own: settings and calls that only its users have.
 */
#ifndef STAGEPROF_ANALYZER_METRICS_WAYS_H
#define STAGEPROF_ANALYZER_METRICS_WAYS_H

#include "analyzer/metrics/metric_sums.h"

/* Words of the framework that trains; "" where it has none. */
struct sp_ways {
	const char *compile, *threads, *input, *evaluation, *optimizer;
};

struct sp_ways sp_ways_of(const struct sp_metric_sums *sums);

/* PyTorch trains. */
bool sp_ways_are_pytorch(const struct sp_metric_sums *sums);

const char *sp_ways_to_label(const struct sp_metric_sums *sums);

/* How the loader that the trainer used works ahead; NULL where it is PyTorch's, or not known. */
const char *sp_ways_of_loader(const struct sp_metric_sums *sums);

/* True where a process that trains has calls of this name. */
bool sp_ways_has_label(const struct sp_report *report, const char *label);

#endif
