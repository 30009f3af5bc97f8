/* SPDX-License-Identifier: Apache-2.0 */
/* The line of the program that an advice is about, where samples name one (line.def). */
#ifndef STAGEPROF_ANALYZER_ADVICE_LINE_H
#define STAGEPROF_ANALYZER_ADVICE_LINE_H

#include "analyzer/verdict/verdict.h"

#define SP_LINE_TEXT_BYTES 1024u /* more than three places of SP_LINE_PLACE_BYTES */

/* The part whose line the advice names; SP_SAMPLED_PARTS: none. */
enum sp_sampled_part sp_advice_part(enum sp_advice_id advice);

/* Looks for the lines of the given advice, which stands in `order`. Returns 0 or -ENOMEM. */
int sp_advice_find_lines(struct sp_verdict *verdict, const struct sp_samples *samples,
			 const enum sp_advice_id *order);

/* NULL: samples name no line. */
const struct sp_sampled_line *sp_advice_line(const struct sp_verdict *verdict,
					     enum sp_advice_id advice);

/* The text of the advice, not translated, with {metrics}: another one where its line is known. */
const char *sp_advice_template(const struct sp_verdict *verdict, enum sp_advice_id advice);

/* "56% of the input wait is RandomRotate.__call__ (job/train.py:11), 98% of that in Image.rotate
 * (PIL/Image.py:2304)", ", called by main (job/train.py:57)", in the language of the report. */
void sp_sampled_line_text(const struct sp_sampled_line *line, bool with_callee,
			  char ret[SP_LINE_TEXT_BYTES]);

#endif
