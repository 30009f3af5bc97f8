/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict: a sentence on what holds training back, its metrics, and advice. */
#ifndef STAGEPROF_ANALYZER_VERDICT_H
#define STAGEPROF_ANALYZER_VERDICT_H

#include "analyzer/metrics/metrics.h"
#include "analyzer/samples/sampled_line.h"
#include "analyzer/verdict/rules.h"

#define SP_VERDICT_EVIDENCE_MAX 16u
#define SP_VERDICT_TEXT_BYTES 1024u

/* A check of what the verdict rests on, by another way. Shares of the same whole. */
struct sp_opinion {
	enum sp_second id; /* SP_SECONDS: the verdict has none */
	bool is_known, differs;
	double claimed, found;
};

struct sp_verdict {
	struct sp_metrics metrics;
	enum sp_verdict_id id;
	bool is_severe;
	enum sp_part greatest; /* part of the training time */
	double greatest_share; /* 0: no part is known */
	double cost;	       /* share of the training time; 0 for states */
	char text[SP_VERDICT_TEXT_BYTES];
	enum sp_confidence confidence;
	struct sp_opinion second;
	bool doubts[SP_DOUBTS];
	bool holds[SP_VERDICTS]; /* every rule that holds, the given one included */
	double moderate[SP_VERDICTS], severe[SP_VERDICTS]; /* of this run's costs, for rules */
	enum sp_metric_id evidence[SP_VERDICT_EVIDENCE_MAX];
	uint32_t evidence_count;
	enum sp_advice_id advice[SP_ADVICES];
	uint32_t advice_count;
	struct sp_sampled_line lines[SP_SAMPLED_PARTS]; /* of the parts that advice is about */
	bool names_line[SP_ADVICES]; /* no advice of a greater saving names the same line */
	bool is_sampled;	     /* a sampler ran */
};

#endif
