/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics that are texts, and the numbers that go with them.
 * A text is NULL where it is not known. */
#ifndef STAGEPROF_ANALYZER_METRICS_TEXTS_H
#define STAGEPROF_ANALYZER_METRICS_TEXTS_H

#include "analyzer/metrics/metric_sums.h"

#define SP_LATE_BYTES 128u

/* The Python line with the longest total wait. */
const char *sp_text_sync_line(const struct sp_report *report, char text[SP_METRIC_TEXT_BYTES]);

/* The program's function in which most of making batches is, by 30 samples or more: ": load
 * (job/data.py:88)" or "", its share, and the samples of making batches. */
const char *sp_text_input_line(const struct sp_report *report, char text[SP_METRIC_TEXT_BYTES]);
double sp_text_input_line_share(const struct sp_report *report);
double sp_text_input_line_samples(const struct sp_report *report);

/* "rank 3, longer in forward": the ranks that are late together; and the time by which the other
 * ranks are earlier, of a step. */
const char *sp_text_straggler(const struct sp_metric_sums *sums, char *text, size_t bytes);
double sp_text_straggler_share(const struct sp_metric_sums *sums);

/* A sentence, or "". */
const char *sp_text_division(const struct sp_report *report);

/* The loader that most steps wait for longest, of several, and its share of their waits. */
const char *sp_text_slow_loader(const struct sp_training_time *time,
				char text[SP_METRIC_TEXT_BYTES]);
double sp_text_slow_loader_share(const struct sp_training_time *time);

const char *sp_text_model_takes(struct sp_metric_sums *sums, char text[SP_METRIC_TEXT_BYTES]);
const char *sp_text_validation_ways(struct sp_metric_sums *sums, char text[SP_METRIC_TEXT_BYTES]);

/* torch.compile made a graph for a trainer. */
bool sp_text_is_compiled(const struct sp_report *report);

/* The ways to a cheaper model that the job does not go yet. */
const char *sp_text_model_ways(const struct sp_metric_sums *sums, char text[SP_METRIC_TEXT_BYTES]);

#endif
