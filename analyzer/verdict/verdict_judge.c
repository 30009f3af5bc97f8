/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/verdict/verdict_parts.h"

#include "analyzer/report/report.h"
#include "analyzer/text/translate.h"

#define STEPS_MIN 5 /* with fewer steps there is no verdict */
#define OTHER_MOST 0.5
#define OTHER_BESIDE_THREAD                                                                        \
	0.05 /* where a thread makes batches: it may be waiting for the interpreter's lock */
#define OTHER_UNFED 0.05 /* as a moderate wait for input, which it may be */

/* Each run has one start and one end, however short it is: what is paid there alone has to be
 * severe. */
static bool is_at_ends(const struct sp_verdict *v, const struct sp_rule *r)
{
	if (r->cost == SP_METRIC_save_share)
		return sp_verdict_knows(v, SP_METRIC_loop_save_share) &&
		       sp_verdict_value(v, SP_METRIC_loop_save_share) < r->moderate;
	if (r->cost == SP_METRIC_load_share)
		return sp_verdict_knows(v, SP_METRIC_loop_load_share) &&
		       sp_verdict_value(v, SP_METRIC_loop_load_share) < r->moderate;
	if (r->cost == SP_METRIC_validation_share)
		return sp_verdict_value(v, r->cost) -
			       sp_verdict_value(v, SP_METRIC_end_validation_share) <
		       r->moderate;
	return r->cost == SP_METRIC_first_batch_share &&
	       (sp_verdict_value(v, SP_METRIC_epochs) < 2 ||
		(sp_verdict_knows(v, SP_METRIC_restart_share) &&
		 sp_verdict_value(v, SP_METRIC_restart_share) < r->moderate));
}

/* The thresholds of a rule's cost. */
struct sp_wait_thresholds sp_verdict_thresholds(const struct sp_verdict *v, const struct sp_rule *r,
						const struct sp_wait_thresholds *wait)
{
	struct sp_wait_thresholds t = {r->moderate, r->severe};

	if (r->cost == SP_METRIC_lost_wait_share)
		return *wait;
	if (is_at_ends(v, r))
		t.moderate = r->severe;
	return t;
}

static bool rule_holds(const struct sp_verdict *v, const struct sp_rule *r,
		       const struct sp_wait_thresholds *wait)
{
	if (r->sign == SP_METRIC_wanted_per_core && sp_verdict_is_taken(v))
		return false;
	return !r->is_state && sp_verdict_knows(v, r->cost) && sp_verdict_knows(v, r->sign) &&
	       sp_verdict_value(v, r->cost) >= sp_verdict_thresholds(v, r, wait).moderate &&
	       sp_verdict_value(v, r->sign) >= r->least_sign;
}

static enum sp_verdict_id find_state(const struct sp_verdict *v)
{
	if (sp_verdict_knows(v, SP_METRIC_hang_chain))
		return SP_VERDICT_hung;
	if (sp_verdict_knows(v, SP_METRIC_cannot_tell))
		return SP_VERDICT_cannot_tell;
	if (!sp_verdict_knows(v, SP_METRIC_steps))
		return v->metrics.has_loader_calls ? SP_VERDICT_no_steps : SP_VERDICT_no_trainer;
	return sp_verdict_value(v, SP_METRIC_steps) < STEPS_MIN ? SP_VERDICT_too_few_steps
								: SP_VERDICTS;
}

/*
 * Without a backward no rule has the loop's own code. Where more time than a moderate cost lies in
 * no observed call, that cost is not what holds training back most. Beside a thread that makes
 * batches such time may be a wait for it.
 */
static bool hides_more(const struct sp_verdict *v, enum sp_verdict_id worst)
{
	bool is_input = sp_rule_of(worst)->cost == SP_METRIC_lost_wait_share;

	return worst != SP_VERDICT_compute &&
	       !(is_input && (v->metrics.is_unfed || v->metrics.is_fed_by_thread)) &&
	       !sp_verdict_knows(v, SP_METRIC_loop_share) &&
	       sp_verdict_value(v, sp_rule_of(worst)->cost) < sp_rule_of(worst)->severe &&
	       sp_verdict_value(v, SP_METRIC_other_share) >
		       sp_verdict_value(v, sp_rule_of(worst)->cost);
}

/*
 * The time without an observed call from which on it may be the greatest cost. Without a DataLoader
 * batches may be made between the model's call and its backward, where no call shows them.
 */
static double other_most(const struct sp_verdict *v)
{
	if (v->metrics.is_fed_by_thread)
		return OTHER_BESIDE_THREAD;
	return v->metrics.is_unfed ? OTHER_UNFED : OTHER_MOST;
}

/* The calls of the model that were observed take less time than what no call explains. */
static bool is_mostly_unexplained(const struct sp_verdict *v)
{
	return !v->metrics.is_forward_left_over && sp_verdict_knows(v, SP_METRIC_model_share) &&
	       sp_verdict_value(v, SP_METRIC_other_share) >=
		       sp_verdict_value(v, SP_METRIC_model_share);
}

/* Where nothing else explains the time. */
static bool is_last(enum sp_verdict_id id)
{
	return id == SP_VERDICT_compute || id == SP_VERDICT_allocation_wait;
}

/* The rule of the greatest cost among rules that refine no other; of those that are last, the one
 * that holds. */
static enum sp_verdict_id find_worst(const struct sp_verdict *v)
{
	enum sp_verdict_id worst = SP_VERDICT_compute;

	for (int i = 0; i < SP_VERDICTS; i++) {
		if (is_last((enum sp_verdict_id)i) || !v->holds[i] ||
		    (int)sp_rule_of(i)->refines != i)
			continue;
		if (worst == SP_VERDICT_compute ||
		    sp_verdict_value(v, sp_rule_of(i)->cost) >
			    sp_verdict_value(v, sp_rule_of(worst)->cost))
			worst = (enum sp_verdict_id)i;
	}
	if (hides_more(v, worst))
		worst = SP_VERDICT_unknown;
	if (worst == SP_VERDICT_compute && v->holds[SP_VERDICT_allocation_wait])
		worst = SP_VERDICT_allocation_wait;
	if (worst == SP_VERDICT_compute &&
	    (sp_verdict_value(v, SP_METRIC_other_share) >= other_most(v) ||
	     is_mostly_unexplained(v)))
		worst = SP_VERDICT_unknown;
	return worst;
}

static enum sp_verdict_id refine(const struct sp_verdict *v, enum sp_verdict_id base)
{
	enum sp_verdict_id refined = base;

	for (int i = 0; i < SP_VERDICTS; i++)
		if (v->holds[i] && sp_rule_of(i)->refines == base)
			refined = (enum sp_verdict_id)i;
	return refined;
}

void sp_verdict_judge(struct sp_verdict *v, const struct sp_wait_thresholds *wait)
{
	enum sp_verdict_id state = find_state(v);

	v->id = state;
	if (state == SP_VERDICTS) {
		for (int i = 0; i < SP_VERDICTS; i++)
			v->holds[i] = rule_holds(v, sp_rule_of(i), wait);
		v->id = refine(v, find_worst(v));
		if (!sp_rule_of(v->id)->is_state && (sp_verdict_may_be_made_outside(v, wait) ||
						     sp_verdict_may_be_hidden_outside(v, wait)))
			v->id = SP_VERDICT_machine_busy;
	}
	if (!sp_rule_of(v->id)->is_state) {
		v->cost = sp_verdict_value(v, sp_rule_of(v->id)->cost);
		v->is_severe = v->cost >= sp_verdict_thresholds(v, sp_rule_of(v->id), wait).severe;
	}
	if (state == SP_VERDICTS || state == SP_VERDICT_cannot_tell)
		sp_verdict_advise(v);
	v->is_severe |= state == SP_VERDICT_hung;
	sp_verdict_doubt(v, wait);
	sp_verdict_gather_evidence(v);
	sp_template_fill(&v->metrics, _(sp_rule_of(v->id)->sentence), v->text, sizeof(v->text));
}

int sp_verdict_make(struct sp_verdict *v, const struct sp_report *report,
		    const struct sp_wait_thresholds *wait)
{
	int r;

	*v = (struct sp_verdict){.cost = 0};
	r = sp_metrics_gather(&v->metrics, report);
	if (r == 0)
		r = sp_top_function_find(&v->top, &report->samples);
	if (r == 0)
		r = sp_top_line_find(&v->top_line, &report->samples);
	if (r == 0)
		sp_verdict_judge(v, wait);
	return r;
}
