/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cores that a job may use, and what the machine and the control group did with them. A value
 * is NAN, and a text NULL, where the run does not have it: older traces have none.
 */
#ifndef STAGEPROF_ANALYZER_METRICS_CORES_H
#define STAGEPROF_ANALYZER_METRICS_CORES_H

#include "analyzer/metrics/metric_sums.h"

/* The control group's, or the machine's. */
double sp_cores_usable(const struct sp_report *report);

/* The mean number of those that were idle, or busy, while training went on. */
double sp_cores_idle(const struct sp_report *report);
double sp_cores_busy(const struct sp_report *report);

/* Cores that any of the workers may use. */
double sp_cores_of_workers(const struct sp_report *report);

/* "the workers may use core 0 alone": fewer cores than the program had when it began. Without
 * workers it is the training thread, which makes the batches. */
const char *sp_cores_worker_crowd(const struct sp_metric_sums *sums,
				  char text[SP_METRIC_TEXT_BYTES]);
const char *sp_cores_trainer_crowd(const struct sp_report *report, char text[SP_METRIC_TEXT_BYTES]);

/* The training thread's: "0-3,8"; "" where it is not known. */
void sp_cores_affinity(const struct sp_report *report, char *ret, size_t bytes);

/* "0-3": fewer than the machine or the control group has, since the program began. */
const char *sp_cores_initial(const struct sp_report *report, char text[SP_METRIC_TEXT_BYTES]);

/* The quota in cores; the share of its periods in which it was used up; the time without cores that
 * followed, over all cores. */
double sp_cores_quota(const struct sp_report *report);
double sp_cores_throttled_share(const struct sp_report *report);
double sp_cores_throttled_ns(const struct sp_report *report);

/* The share of the time in which some thread of the group, or of the machine, waited for a core. */
double sp_cores_pressure(const struct sp_report *report);

/* The most trainers of one host that trained at once and may use the same cores. */
double sp_cores_trainers(const struct sp_report *report);

#endif
