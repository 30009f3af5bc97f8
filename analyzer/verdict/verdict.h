/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict: a sentence on what holds training back, its metrics, and advice. It is made from a
 * finished report; views print it.
 */
#ifndef STAGEPROF_ANALYZER_VERDICT_H
#define STAGEPROF_ANALYZER_VERDICT_H

#include "analyzer/samples/top_function.h"
#include "analyzer/metrics/metrics.h"
#include "analyzer/verdict/whatif.h"

struct sp_wait_thresholds; /* analyzer/report/report.h */

enum sp_verdict_id {
#define SP_STATE(id, code, confidence, sentence, meaning, remedy) SP_VERDICT_##id,
#define SP_RULE(id, code, confidence, cost, moderate, severe, sign, least_sign, refines, sentence, \
		meaning, remedy)                                                                   \
	SP_VERDICT_##id,
#include "analyzer/verdict/verdict.def"
#undef SP_RULE
#undef SP_STATE
	SP_VERDICTS
};

enum sp_advice_id {
#define SP_ADVICE(id, verdict, metric, least, most, text) SP_ADVICE_##id,
#include "analyzer/verdict/advice.def"
#undef SP_ADVICE
	SP_ADVICES
};

enum sp_confidence { SP_CONFIDENCE_LOW, SP_CONFIDENCE_MEDIUM, SP_CONFIDENCE_HIGH };

/* Reasons for a confidence below high. */
enum sp_doubt {
#define SP_DOUBT(id, text) SP_DOUBT_##id,
#include "analyzer/verdict/doubt.def"
#undef SP_DOUBT
	SP_DOUBTS
};

#define SP_VERDICT_EVIDENCE_MAX 16u
#define SP_VERDICT_TEXT_BYTES 1024u

struct sp_verdict {
	struct sp_metrics metrics;
	enum sp_verdict_id id;
	bool is_severe;
	double cost; /* share of the training time; 0 for states */
	char text[SP_VERDICT_TEXT_BYTES];
	enum sp_confidence confidence;
	bool doubts[SP_DOUBTS];
	bool holds[SP_VERDICTS]; /* every rule that holds, the given one included */
	enum sp_metric_id rests_on[SP_VERDICT_EVIDENCE_MAX];
	uint32_t rests_on_count;
	enum sp_advice_id advice[SP_ADVICES];
	uint32_t advice_count;
	struct sp_top_function top;	 /* of the code that the advice `transform` is about */
	struct sp_top_function top_line; /* of the loop's own code */
};

/* From the report: sp_metrics_gather(), then sp_verdict_judge(). Returns 0 or -ENOMEM. */
int sp_verdict_make(struct sp_verdict *verdict, const struct sp_report *report,
		    const struct sp_wait_thresholds *thresholds);

/* Fills the rest from verdict->metrics. */
void sp_verdict_judge(struct sp_verdict *verdict, const struct sp_wait_thresholds *thresholds);

/* The advice's text with the metrics' values, and with the sampled function that it is about. */
void sp_advice_text(const struct sp_verdict *verdict, enum sp_advice_id advice, char *ret,
		    size_t ret_bytes);

/* The share of the training time that the advice could save at most: of its rule's cost, the part
 * that it is about. */
double sp_advice_most_share(const struct sp_metrics *metrics, enum sp_advice_id advice);

/* The what-if that answers for the advice; SP_WHAT_IFS: none does. */
enum sp_what_if_id sp_advice_what_if(enum sp_advice_id advice);

/* A line of verdict.def. */
struct sp_rule {
	const char *code; /* never changes, because JSON has it; two lines may share one */
	const char *sentence, *meaning, *remedy;
	enum sp_confidence most_confidence;
	bool is_state; /* a state: the fields below are unset */
	enum sp_metric_id cost, sign;
	double least_sign;
	enum sp_verdict_id refines;
	double moderate, severe; /* of the cost, by default */
};

/* A line of advice.def. */
struct sp_advice_rule {
	const char *name; /* the contract of JSON */
	const char *text;
	enum sp_verdict_id verdict;
	enum sp_metric_id metric;
	double least, most;
};

const struct sp_rule *sp_rule_of(enum sp_verdict_id id);
const struct sp_advice_rule *sp_advice_rule_of(enum sp_advice_id id);
const char *sp_confidence_name(enum sp_confidence confidence);

/* "confidence low: few steps; …", with the reasons where it is not high. */
void sp_confidence_text(const struct sp_verdict *verdict, char *ret, size_t bytes);

/* The sentence of this verdict with the figures of the run, although its rule may not hold. */
void sp_verdict_sentence(const struct sp_verdict *verdict, enum sp_verdict_id id, char *ret,
			 size_t bytes);
const char *sp_doubt_text(enum sp_doubt doubt);

#endif
