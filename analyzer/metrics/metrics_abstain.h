/* SPDX-License-Identifier: Apache-2.0 */
/* Why no verdict can be given, and steps that hide what they wait for. */
#ifndef STAGEPROF_ANALYZER_METRICS_ABSTAIN_H
#define STAGEPROF_ANALYZER_METRICS_ABSTAIN_H

#include "analyzer/metrics/metric_sums.h"

/* The reason; NULL where there is none. */
const char *sp_text_cannot_tell(struct sp_metric_sums *sums, char text[SP_METRIC_TEXT_BYTES]);

/* Steps are calls of a framework, and it is not known what the device did meanwhile. */
bool sp_abstain_hides_waits(const struct sp_metric_sums *sums);

#endif
