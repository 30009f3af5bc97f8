/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of the account's rows: input, the loop's own code, the model. */
#ifndef STAGEPROF_ANALYZER_METRICS_ACCOUNT_H
#define STAGEPROF_ANALYZER_METRICS_ACCOUNT_H

#include "analyzer/metrics/training_time.h"

struct sp_training;
struct sp_report;

/* A row's share of the training time; not known where nothing gives the row. */
void sp_metrics_phase(struct sp_metrics *metrics, enum sp_metric_id metric,
		      const struct sp_training_time *time, const struct sp_report *report,
		      enum sp_account_phase phase);

/* The metrics that need the account alone: a digest has it, too. */
void sp_metrics_phases(struct sp_metrics *metrics, const struct sp_training_time *time,
		       const struct sp_report *report);

/* All metrics of the account. */
void sp_metrics_account(struct sp_metrics *metrics, const struct sp_training_time *time,
			const struct sp_report *report);

/* A model's call was observed. Compiled and scripted models have none. */
bool sp_metrics_has_model_calls(const struct sp_training *training);

/* No call of the model was observed before some backward. */
bool sp_metrics_is_forward_left_over(const struct sp_training *training);

#endif
