/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/verdict/saving.h"

#include <stdio.h>

#include "analyzer/text/translate.h"

#define SHOWN_LEAST 0.0005 /* a smaller share is shown as 0.0% */

/*
 * A faster model is no known saving, and names for the parts of a loop or of a step are none.
 * Batches that are made in forward are no part of the input that was seen, and threads that wait
 * for each other spin: no share says how long.
 */
static bool has_bound(enum sp_advice_id advice)
{
	return sp_advice_rule_of(advice)->verdict != SP_VERDICT_compute &&
	       advice != SP_ADVICE_loop_names && advice != SP_ADVICE_loop_batches &&
	       advice != SP_ADVICE_unknown_names && advice != SP_ADVICE_own_forward &&
	       advice != SP_ADVICE_fewer_threads;
}

static double at_least_zero(double share)
{
	return share > 0 ? share : 0;
}

/* A what-if is about steady steps. Where epochs start workers again, other numbers of workers leave
 * that time as it is. */
static double with_restarts(const struct sp_metrics *e, enum sp_what_if_id id, double now_ns)
{
	double restarts = sp_metrics_value(e, SP_METRIC_restarts_per_step);

	if (id != SP_WHAT_IF_workers)
		return now_ns;
	return now_ns + restarts * sp_metrics_value(e, SP_METRIC_first_batch_ns);
}

struct sp_saving sp_advice_saving(const struct sp_metrics *evidence, enum sp_advice_id advice)
{
	struct sp_saving saving = {.what_if = sp_advice_what_if(advice)};
	struct sp_what_if w = {.is_known = false};

	if (saving.what_if != SP_WHAT_IFS)
		w = sp_what_if_make(evidence, saving.what_if, SP_WORKERS_UNASKED);
	if (w.is_known && w.now_ns > 0) {
		saving.least = at_least_zero((w.now_ns - w.high_ns) /
					     with_restarts(evidence, saving.what_if, w.now_ns));
		saving.most = at_least_zero(1 - w.low_ns / w.now_ns);
	} else if (has_bound(advice)) {
		saving.what_if = SP_WHAT_IFS;
		saving.most = sp_advice_most_share(evidence, advice);
	}
	saving.is_known = saving.most >= SHOWN_LEAST;
	return saving;
}

/* Names for the parts of the verdict's own cost, or a look at them, have no bound. */
static bool is_of_verdict(const struct sp_verdict *v, enum sp_advice_id advice)
{
	const struct sp_rule *r = sp_rule_of(v->id);

	return !r->is_state && v->id != SP_VERDICT_compute &&
	       sp_rule_of(sp_advice_rule_of(advice)->verdict)->cost == r->cost;
}

static bool has_bound_for_verdict(const struct sp_verdict *v)
{
	for (uint32_t i = 0; i < v->advice_count; i++)
		if (is_of_verdict(v, v->advice[i]) &&
		    sp_advice_saving(&v->metrics, v->advice[i]).is_known)
			return true;
	return false;
}

/*
 * The middle of what it saves. Advice without a bound comes last, with one exception: where no
 * advice on the greatest cost has a bound, it stands as if it could save all of that cost.
 */
static double weight_of(const struct sp_verdict *v, enum sp_advice_id advice, bool has_bound)
{
	struct sp_saving s = sp_advice_saving(&v->metrics, advice);

	if (s.is_known)
		return (s.least + s.most) / 2;
	return !has_bound && is_of_verdict(v, advice) ? v->cost / 2 : -1;
}

void sp_advice_by_saving(const struct sp_verdict *v, enum sp_advice_id ret[SP_ADVICES])
{
	bool has_bound = has_bound_for_verdict(v);
	double weights[SP_ADVICES];

	for (uint32_t i = 0; i < v->advice_count; i++) {
		double weight = weight_of(v, v->advice[i], has_bound);
		uint32_t at = i;

		for (; at && weight > weights[at - 1]; at--) {
			weights[at] = weights[at - 1];
			ret[at] = ret[at - 1];
		}
		weights[at] = weight;
		ret[at] = v->advice[i];
	}
}

static void saving_text(const struct sp_saving *s, bool is_brief, char *ret, size_t ret_bytes)
{
	char shares[SP_SAVING_TEXT_BYTES];

	*ret = '\0';
	if (!s->is_known)
		return;
	if (s->least < SHOWN_LEAST)
		snprintf(shares, sizeof(shares), _("up to %.1f%%"), 100 * s->most);
	else if (s->most - s->least < SHOWN_LEAST)
		snprintf(shares, sizeof(shares), "%.1f%%", 100 * s->most);
	else
		snprintf(shares, sizeof(shares), _("%.1f to %.1f%%"), 100 * s->least,
			 100 * s->most);
	snprintf(ret, ret_bytes,
		 s->what_if != SP_WHAT_IFS ? _("saves %s of a step")
		 : is_brief		   ? _("saves %s")
					   : _("saves %s of the training time"),
		 shares);
}

void sp_saving_text(const struct sp_saving *s, char *ret, size_t ret_bytes)
{
	saving_text(s, false, ret, ret_bytes);
}

static void saved_text(const struct sp_verdict *v, enum sp_advice_id advice, bool is_brief,
		       char *ret, size_t ret_bytes)
{
	struct sp_saving saving = sp_advice_saving(&v->metrics, advice);
	char saves[SP_SAVING_TEXT_BYTES], text[SP_VERDICT_TEXT_BYTES];

	sp_advice_text(v, advice, text, sizeof(text));
	saving_text(&saving, is_brief, saves, sizeof(saves));
	snprintf(ret, ret_bytes, *saves ? _("(%s) %s") : "%s%s", saves, text);
}

void sp_advice_saved_text(const struct sp_verdict *v, enum sp_advice_id advice, char *ret,
			  size_t ret_bytes)
{
	saved_text(v, advice, false, ret, ret_bytes);
}

void sp_advice_brief_text(const struct sp_verdict *v, enum sp_advice_id advice, char *ret,
			  size_t ret_bytes)
{
	saved_text(v, advice, true, ret, ret_bytes);
}
