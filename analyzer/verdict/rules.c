/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/verdict/rules.h"

#include "analyzer/text/translate.h"

/* A row that contradicts itself does not compile; the compiler names it. */

/* REFINES_x: what x refines; of a state, no rule. */
enum {
#define SP_STATE(id, code, asked, confidence, when, evidence, sentence, meaning, remedy)           \
	REFINES_##id = SP_VERDICTS,
#define SP_RULE(id, code, confidence, cost, moderate, severe, in_loop, sign, least_sign, when,     \
		refines, by, second, evidence, sentence, meaning, remedy)                          \
	REFINES_##id = SP_VERDICT_##refines,
#include "analyzer/verdict/verdict.def"
};

/* clang takes a comparison of fractions for a constant only inside of __builtin_constant_p(). */
#define IN_ORDER(a, b) (__builtin_constant_p((a) <= (b)) ? (a) <= (b) : 0)

#define SP_STATE(id, code, asked, confidence, when, evidence, sentence, meaning, remedy)
#define SP_RULE(id, code, confidence, cost, moderate, severe, in_loop, sign, least_sign, when,     \
		refines, by, second, evidence, sentence, meaning, remedy)                          \
	_Static_assert((int)REFINES_##refines == (int)SP_VERDICT_##refines,                        \
		       "the rule " #id " refines " #refines ", which is a state or refines "       \
		       "another rule itself: name that "                                           \
		       "other rule");                                                              \
	_Static_assert(IN_ORDER(moderate, severe), "the rule " #id " is severe before it is "      \
						   "moderate: swap them");
#include "analyzer/verdict/verdict.def"

#define NEVER 0
#define GIVEN(other) ((int)SP_ADVICE_##other == (int)itself)
__attribute__((unused)) static void check_advice(void)
{
#define SP_ADVICE(id, verdict, metric, least, most, when, saves, unless, costs, text)              \
	{                                                                                          \
		enum { itself = SP_ADVICE_##id };                                                  \
		_Static_assert(IN_ORDER(least, most), "the range of advice " #id " is empty: "     \
						      "swap least and "                            \
						      "most");                                     \
		_Static_assert(!(unless), "advice " #id " is given unless it is given: take it "   \
					  "out of its own column `unless`");                       \
	}
#include "analyzer/verdict/advice.def"
}

#define CANNOT(reason) "cannot-tell", reason
static const struct sp_rule rules[] = {
#define SP_STATE(id, code, asked, confidence, when, evidence, says, meaning, remedy)               \
	{#id,  code,	   .sentence = says, meaning, remedy,	       SP_CONFIDENCE_##confidence, \
	 true, SP_METRICS, SP_METRICS,	     0,	      SP_VERDICT_##id, .second = SP_SECONDS},
#define SP_RULE(id, code, confidence, cost, moderate, severe, in_loop, sign, least_sign, when,     \
		refines, by, second, evidence, says, meaning, remedy)                              \
	{#id,                                                                                      \
	 code,                                                                                     \
	 .sentence = says,                                                                         \
	 meaning,                                                                                  \
	 remedy,                                                                                   \
	 SP_CONFIDENCE_##confidence,                                                               \
	 false,                                                                                    \
	 SP_METRIC_##cost,                                                                         \
	 SP_METRIC_##sign,                                                                         \
	 least_sign,                                                                               \
	 SP_VERDICT_##refines,                                                                     \
	 moderate,                                                                                 \
	 severe,                                                                                   \
	 SP_BY_##by,                                                                               \
	 SP_SECOND_##second},
#include "analyzer/verdict/verdict.def"
};

#define NOTHING NULL
static const struct sp_advice_rule advices[SP_ADVICES] = {
#define SP_ADVICE(id, verdict, metric, least, most, when, saves, unless, costs, text)              \
	{#id, costs, text, SP_VERDICT_##verdict, SP_METRIC_##metric, least, most},
#include "analyzer/verdict/advice.def"
};

const struct sp_rule *sp_rule_of(enum sp_verdict_id id)
{
	return &rules[id];
}

const struct sp_advice_rule *sp_advice_rule_of(enum sp_advice_id id)
{
	return &advices[id];
}
