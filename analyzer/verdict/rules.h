/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the tables verdict.def, second.def, advice.def and doubt.def. judge.c asks their
 * conditions, saving.c the savings.
 */
#ifndef STAGEPROF_ANALYZER_RULES_H
#define STAGEPROF_ANALYZER_RULES_H

#include "analyzer/metrics/metric.h"

enum sp_verdict_id {
#define SP_STATE(id, code, asked, confidence, when, evidence, sentence, meaning, remedy)           \
	SP_VERDICT_##id,
#define SP_RULE(id, code, confidence, cost, moderate, severe, in_loop, sign, least_sign, when,     \
		refines, by, second, evidence, sentence, meaning, remedy)                          \
	SP_VERDICT_##id,
#include "analyzer/verdict/verdict.def"
	SP_VERDICTS
};

enum sp_advice_id {
#define SP_ADVICE(id, verdict, metric, least, most, when, saves, unless, costs, text)              \
	SP_ADVICE_##id,
#include "analyzer/verdict/advice.def"
	SP_ADVICES
};

/* Checks that could refute a verdict. */
enum sp_second {
#define SP_SECOND(id, claimed, found, most, by, counts) SP_SECOND_##id,
#include "analyzer/verdict/second.def"
	SP_SECONDS,
	SP_SECOND_ALONE = SP_SECONDS
};

/* Reasons for a confidence below high. */
enum sp_doubt {
#define SP_DOUBT(id, weight, when, text) SP_DOUBT_##id,
#include "analyzer/verdict/doubt.def"
	SP_DOUBTS
};

/* Parts of the training time. */
enum sp_part {
#define SP_PART(name, share, title) SP_PART_##name,
#include "analyzer/verdict/part.def"
	SP_PARTS
};

enum sp_confidence { SP_CONFIDENCE_LOW, SP_CONFIDENCE_MEDIUM, SP_CONFIDENCE_HIGH };

enum sp_cost_by { SP_BY_THREAD, SP_BY_WAIT, SP_BY_WORKERS };

/* A line of verdict.def. */
struct sp_rule {
	const char *id;	    /* the name of the row in its table */
	const char *code;   /* never changes, because JSON has it; two lines may share one */
	const char *reason; /* of the code cannot-tell, as JSON has it; else NULL */
	const char *sentence, *meaning, *remedy;
	enum sp_confidence most_confidence;
	bool is_state; /* then the fields below are unset, and the metrics SP_METRICS */
	enum sp_metric_id cost, sign;
	double least_sign;
	enum sp_verdict_id refines;
	double moderate, severe; /* of the cost, by default */
	enum sp_cost_by by;
	enum sp_second second; /* SP_SECONDS: none */
};

/* A line of advice.def. */
struct sp_advice_rule {
	const char *name;	  /* the contract of JSON */
	const char *costs, *text; /* costs: NULL where nothing is known; neither is translated */
	enum sp_verdict_id verdict;
	enum sp_metric_id metric;
	double least, most;
};

const struct sp_rule *sp_rule_of(enum sp_verdict_id id);
const struct sp_advice_rule *sp_advice_rule_of(enum sp_advice_id id);

#endif
