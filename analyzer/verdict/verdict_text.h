/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of a verdict, of its doubts and of its advice, in the language of the report. */
#ifndef STAGEPROF_ANALYZER_VERDICT_TEXT_H
#define STAGEPROF_ANALYZER_VERDICT_TEXT_H

#include "analyzer/verdict/verdict.h"

#define SP_DOUBT_TEXT_BYTES 512u

const char *sp_confidence_name(enum sp_confidence confidence);

/* "medium", or "high" for a severe cost; NULL for states and compute-bound, which have no cost. */
const char *sp_severity_name(const struct sp_verdict *verdict);

/* For a narrow place: the code, or the greatest part of the training time and the gain. */
void sp_verdict_brief(const struct sp_verdict *verdict, char *ret, size_t bytes);

const char *sp_part_name(enum sp_part part);
const char *sp_doubt_id(enum sp_doubt doubt);

/* The doubt, with both figures where a second opinion differs. */
void sp_doubt_text(const struct sp_verdict *verdict, enum sp_doubt doubt, char *ret, size_t bytes);

const char *sp_second_id(enum sp_second second);

/* "severity medium; confidence low: few steps; …", with the reasons where it is not high.
 * reasons: at most so many; SP_DOUBTS: all. */
void sp_confidence_text(const struct sp_verdict *verdict, unsigned reasons, char *ret,
			size_t bytes);

/* The sentence of this verdict with the figures of the run, although its rule may not hold. The
 * greatest part of the training time comes first where the verdict's own cost is smaller. */
void sp_verdict_sentence(const struct sp_verdict *verdict, enum sp_verdict_id id, char *ret,
			 size_t bytes);

/* The advice's text with the metrics' values. */
void sp_advice_plain_text(const struct sp_verdict *verdict, enum sp_advice_id advice, char *ret,
			  size_t ret_bytes);

/* The same, and the sampled line that it is about, where no advice of a greater saving names it. */
void sp_advice_text(const struct sp_verdict *verdict, enum sp_advice_id advice, char *ret,
		    size_t ret_bytes);

/* A {metric} of a template, and the words ahead of it. SP_METRICS: the words after the last one, or
 * a {name} that is no metric. */
struct sp_template_part {
	const char *words;
	size_t bytes;
	enum sp_metric_id metric;
};

/* The template with the metrics' values; a metric that is not known is left out. */
void sp_template_fill(const struct sp_metrics *metrics, const char *text, char *ret,
		      size_t ret_bytes);

/* Takes the next part from *text. False: there is none. */
bool sp_template_next(const char **text, struct sp_template_part *ret);

#endif
