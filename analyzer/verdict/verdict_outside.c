/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/verdict/verdict_parts.h"

#include "analyzer/report/report.h"

#define WANTED_ALONE                                                                               \
	1.5 /* threads a core: fewer threads do not take a fifth of their time from each other */

/* Other programs had the cores for most of the time that the training thread waited for one. */
bool sp_verdict_is_taken(const struct sp_verdict *v)
{
	return 2 * sp_verdict_value(v, SP_METRIC_outside_share) >
	       sp_verdict_value(v, SP_METRIC_contention_share);
}

/* The training thread was without a core for long, and the job alone does not explain it. */
bool sp_verdict_is_beside_others(const struct sp_verdict *v)
{
	return sp_verdict_value(v, SP_METRIC_contention_share) >=
		       sp_rule_of(SP_VERDICT_contention)->severe &&
	       sp_verdict_knows(v, SP_METRIC_wanted_per_core) &&
	       (sp_verdict_is_taken(v) ||
		sp_verdict_value(v, SP_METRIC_wanted_per_core) < WANTED_ALONE);
}

/* The share of the time in which other programs may have made this cost. */
static double outside_of(const struct sp_verdict *v, const struct sp_rule *r)
{
	double share = sp_verdict_value(v, SP_METRIC_outside_share);

	if (r->cost == SP_METRIC_lost_wait_share || r->cost == SP_METRIC_first_batch_share)
		share += sp_verdict_value(v, SP_METRIC_worker_outside_share);
	return share;
}

/* Alone on the machine the cost might be too small for the rule, by more than chance. */
bool sp_verdict_may_be_made_outside(const struct sp_verdict *v,
				    const struct sp_wait_thresholds *wait)
{
	const struct sp_rule *r = sp_rule_of(v->id);
	double least = sp_verdict_thresholds(v, r, wait).moderate * (1 - SP_NEAR);
	double outside = outside_of(v, r);

	return v->id != SP_VERDICT_compute && outside > 0 &&
	       sp_verdict_value(v, r->cost) - outside < least * (1 - outside);
}

/* The part of a cost in which the training thread waits, at most. */
static double waiting_of(const struct sp_verdict *v, const struct sp_rule *r)
{
	double blocked = sp_verdict_value(v, SP_METRIC_blocked_share);

	switch (r->cost) {
	case SP_METRIC_lost_wait_share:
	case SP_METRIC_first_batch_share:
		return sp_verdict_value(v, SP_METRIC_workers) > 0 ? sp_verdict_value(v, r->cost)
								  : 0;
	case SP_METRIC_communication_share:
	case SP_METRIC_straggler_share:
	case SP_METRIC_save_share:
	case SP_METRIC_load_share:
	case SP_METRIC_sync_cost_share:
		return sp_verdict_value(v, r->cost);
	default:
		return blocked < sp_verdict_value(v, r->cost) ? blocked
							      : sp_verdict_value(v, r->cost);
	}
}

/* Other programs lengthen what computes, and no wait: its share is greater without them. */
bool sp_verdict_may_be_hidden_outside(const struct sp_verdict *v,
				      const struct sp_wait_thresholds *wait)
{
	double left = 1 - sp_verdict_value(v, SP_METRIC_outside_share);

	for (int i = 0; v->id == SP_VERDICT_compute && left < 1 && i < SP_VERDICTS; i++) {
		const struct sp_rule *r = sp_rule_of(i);

		if (i != SP_VERDICT_compute && !r->is_state && r->sign == SP_METRIC_steps &&
		    sp_verdict_knows(v, r->cost) && !v->holds[i] &&
		    waiting_of(v, r) >=
			    sp_verdict_thresholds(v, r, wait).moderate * (1 + SP_NEAR) * left)
			return true;
	}
	return false;
}
