/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sums over a run that metrics are made of, and the words of the values in metric.def. A word
 * needs `m`, struct sp_metric_sums *, and the words of time also `t`, its time.
 */
#ifndef STAGEPROF_ANALYZER_METRIC_SUMS_H
#define STAGEPROF_ANALYZER_METRIC_SUMS_H

#include <math.h>

#include "analyzer/gpu/device_calls.h"
#include "analyzer/hang/hang.h"
#include "analyzer/metrics/cpu_sums.h"
#include "analyzer/metrics/input_sums.h"
#include "analyzer/metrics/metric.h"
#include "analyzer/metrics/training_time.h"

struct sp_report;

/* The needs of metrics: the column `of` of metric.def. A metric of another run is not known. */
enum sp_metric_scope {
	SP_OF_RUN,	  /* nothing */
	SP_OF_EVENTS,	  /* no input is a digest */
	SP_OF_STEPLESS,	  /* events without steps, and it is not known whether they are training */
	SP_OF_BATCH_LOOP, /* events of batches of a loop, which are no steps of training */
	SP_OF_ACCOUNT,	  /* steps; a digest has the account, too */
	SP_OF_TRAINING,	  /* steps, with events */
	SP_OF_LOADER,	  /* the same, and a loader that feeds them */
	SP_OF_OWN_INPUT,  /* no loader feeds the steps, and waits and reads that are hooked do */
	SP_OF_LOOP,	  /* the model's share is known, and what is not the model's */
	SP_OF_DEVICE,	  /* steps, and a device that they use */
	SP_OF_BATCHES,	  /* steps, and threads that make batches with hooked calls */
	SP_METRIC_SCOPES
};

struct sp_metric_sums {
	const struct sp_report *report;
	struct sp_metrics *e;
	struct sp_training_time time;
	struct sp_cpu_sums cpu;
	struct sp_input_sums input;
	struct sp_device_calls device; /* also as the device's own times and states tell it */
	struct sp_hang hang;
	bool is[SP_METRIC_SCOPES];
	/* The values of metric.def: NAN and NULL where they are not known. A text may be `room`. */
	double (*number_of)(struct sp_metric_sums *sums, enum sp_metric_id metric);
	const char *(*text_of)(struct sp_metric_sums *sums, enum sp_metric_id metric,
			       char room[SP_METRIC_TEXT_BYTES]);
	enum { SP_METRIC_UNASKED, SP_METRIC_ASKED, SP_METRIC_MADE } state[SP_METRICS];
};

/* Makes the metric where that is not done yet, and what it is made of. 0 where it is not known. */
double sp_metric_ask(struct sp_metric_sums *sums, enum sp_metric_id metric);

static inline bool sp_metric_ask_known(struct sp_metric_sums *m, enum sp_metric_id metric)
{
	sp_metric_ask(m, metric);
	return m->e->of[metric].is_known;
}

/* part / whole; not known where whole is 0. */
static inline double sp_metric_ratio(double part, double whole)
{
	return whole > 0 ? part / whole : NAN;
}

/* A call that makes a whole step shows the model's work as far as something computes in it. The
 * share of the training time in which nothing does, which no call explains. */
#define SP_IDLE_LEAST 0.1 /* less may be the error of both counts */

static inline double sp_metric_idle_calls(struct sp_metric_sums *m)
{
	double share = sp_metric_ask(m, SP_METRIC_idle_call_share);

	return share < SP_IDLE_LEAST ? 0 : share;
}

#define UNKNOWN NAN
#define V(metric) sp_metric_ask(m, SP_METRIC_##metric) /* 0 where it is not known */
#define KNOWN(metric) sp_metric_ask_known(m, SP_METRIC_##metric)
#define IF(condition, value) ((condition) ? (double)(value) : UNKNOWN)
#define RATIO(part, whole) sp_metric_ratio((double)(part), (double)(whole))

/* Shares of the training time. */
#define SHARE(ns) RATIO(ns, t->total)
#define NS(phase) ((double)t->account.ns[SP_ACCOUNT_##phase])
#define PHASE(phase) IF(t->has[SP_ACCOUNT_##phase], SHARE(NS(phase)))
#define SUM(of) (t->sum[SP_STEP_SUM_##of])

#endif
