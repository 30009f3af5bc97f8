/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The saving of an advice: the share of a step that it would take away, from the what-if of the
 * change that it asks for. Without such a what-if it is at most the share of the training time that
 * the advice is about.
 */
#ifndef STAGEPROF_ANALYZER_SAVING_H
#define STAGEPROF_ANALYZER_SAVING_H

#include "analyzer/verdict/verdict.h"
#include "analyzer/verdict/whatif.h"

#define SP_GAIN_SEEN 0.03 /* of a step: below it nobody sees a gain */

struct sp_saving {
	bool is_known;
	bool has_caches; /* more than the wait: work in the training process slows its steps, too */
	enum sp_what_if_id what_if; /* SP_WHAT_IFS: none; `most` is all that is known */
	double least, most;	    /* shares; 0 <= least <= most */
};

struct sp_saving sp_advice_saving(const struct sp_metrics *metrics, enum sp_advice_id advice);

/* The middle of what it saves is seen, or nothing bounds it; where a what-if answers for it, it
 * costs nothing. */
bool sp_advice_is_worth_it(const struct sp_metrics *metrics, enum sp_advice_id advice);

/* The advice of the verdict (advice_count of them): the greatest saving first, by the middle of its
 * range, where middles differ by a fifth: else the first of the table. Those of an unknown saving
 * come last. */
void sp_advice_by_saving(const struct sp_verdict *verdict, enum sp_advice_id ret[SP_ADVICES]);

#define SP_SAVING_TEXT_BYTES 160u

/* "saves 15.0 to 22.5% of a step", in the language of the report; empty where it is not known. In a
 * narrow place (is_brief) a share without a noun is of the training time, as in the verdict. */
void sp_saving_text(const struct sp_saving *saving, bool is_brief, char *ret, size_t ret_bytes);

/* The advice's text, after its saving in brackets where that is known; is_brief: without the line
 * that it is about. */
void sp_advice_saved_text(const struct sp_verdict *verdict, enum sp_advice_id advice, bool is_brief,
			  char *ret, size_t ret_bytes);

#endif
