/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/verdict/verdict.h"

static const struct sp_rule rules[SP_VERDICTS] = {
#define SP_STATE(id, code, confidence, sentence, meaning, remedy)                                  \
	[SP_VERDICT_##id] = {code, sentence,   meaning,	   remedy, SP_CONFIDENCE_##confidence,     \
			     true, SP_METRICS, SP_METRICS, 0,	   SP_VERDICT_##id,                \
			     0,	   0},
#define SP_RULE(id, code, confidence, cost, moderate, severe, sign, least_sign, refines, sentence, \
		meaning, remedy)                                                                   \
	[SP_VERDICT_##id] = {code,                                                                 \
			     sentence,                                                             \
			     meaning,                                                              \
			     remedy,                                                               \
			     SP_CONFIDENCE_##confidence,                                           \
			     false,                                                                \
			     SP_METRIC_##cost,                                                     \
			     SP_METRIC_##sign,                                                     \
			     least_sign,                                                           \
			     SP_VERDICT_##refines,                                                 \
			     moderate,                                                             \
			     severe},
#include "analyzer/verdict/verdict.def"
#undef SP_RULE
#undef SP_STATE
};

static const struct sp_advice_rule advices[SP_ADVICES] = {
#define SP_ADVICE(id, verdict, metric, least, most, text)                                          \
	{#id, text, SP_VERDICT_##verdict, SP_METRIC_##metric, least, most},
#include "analyzer/verdict/advice.def"
#undef SP_ADVICE
};

const struct sp_rule *sp_rule_of(enum sp_verdict_id id)
{
	return &rules[id];
}

const struct sp_advice_rule *sp_advice_rule_of(enum sp_advice_id id)
{
	return &advices[id];
}
