/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the verdict: verdict_judge.c finds it, verdict_outside.c asks whether other programs
 * made it, verdict_doubt.c doubts it, verdict_evidence.c lists its evidence, verdict_advice.c
 * advises, and verdict_text.c fills the sentences.
 */
#ifndef STAGEPROF_ANALYZER_VERDICT_PARTS_H
#define STAGEPROF_ANALYZER_VERDICT_PARTS_H

#include "analyzer/verdict/verdict.h"

#define SP_NEAR 0.2 /* distance from a threshold, as a share of it, that chance may make */

static inline double sp_verdict_value(const struct sp_verdict *v, enum sp_metric_id metric)
{
	return sp_metrics_value(&v->metrics, metric);
}

static inline bool sp_verdict_knows(const struct sp_verdict *v, enum sp_metric_id metric)
{
	return v->metrics.of[metric].is_known;
}

/* The thresholds of a rule's cost; `wait` has those of waiting on the loader. */
struct sp_wait_thresholds sp_verdict_thresholds(const struct sp_verdict *v,
						const struct sp_rule *rule,
						const struct sp_wait_thresholds *wait);

/* Other programs had the cores for most of the time that the training thread waited for one. */
bool sp_verdict_is_taken(const struct sp_verdict *v);

/* The training thread was without a core for long, and the job alone does not explain it. */
bool sp_verdict_is_beside_others(const struct sp_verdict *v);

/* Alone on the machine v->id's cost might be too small for its rule, by more than chance. */
bool sp_verdict_may_be_made_outside(const struct sp_verdict *v,
				    const struct sp_wait_thresholds *wait);

/* Other programs lengthen what computes, and no wait: its share is greater without them. */
bool sp_verdict_may_be_hidden_outside(const struct sp_verdict *v,
				      const struct sp_wait_thresholds *wait);

/* Sets the doubts and the confidence of v->id. */
void sp_verdict_doubt(struct sp_verdict *v, const struct sp_wait_thresholds *wait);

/* Sets rests_on; after the doubts. */
void sp_verdict_gather_evidence(struct sp_verdict *v);

/* Sets the advice. */
void sp_verdict_advise(struct sp_verdict *v);

/* Calls take() for each {metric} of a template, and for the words ahead of it. The words after the
 * last one, and a {name} that is no metric, come with SP_METRICS. */
void sp_template_read(const char *text, void *context,
		      void (*take)(void *context, const char *words, size_t bytes,
				   enum sp_metric_id metric));

/* The template with the metrics' values; a metric that is not known is left out. */
void sp_template_fill(const struct sp_metrics *metrics, const char *text, char *ret,
		      size_t ret_bytes);

#endif
