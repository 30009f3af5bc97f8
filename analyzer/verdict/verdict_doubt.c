/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/verdict/verdict_parts.h"

#include "analyzer/report/report.h"

#define STEPS_ENOUGH 20	   /* with fewer steps there is a doubt */
#define RIVAL 0.8	   /* share of the greatest cost */
#define BLOCKED_MUCH 0.2   /* of a compute-bound job: a doubt */
#define OTHER_MUCH 0.2	   /* of a compute-bound job: a doubt */
#define APART_MUCH 0.1	   /* of the time of threads in turns: a doubt */
#define WARM_UP_MUCH 0.5   /* of the training time: a doubt */
#define MESSAGES_MUCH 0.05 /* of the training time, by the length of answers: a doubt */

static bool is_near(double value, double threshold)
{
	return value > threshold * (1 - SP_NEAR) && value < threshold * (1 + SP_NEAR);
}

/* A cost just below its threshold: the next run of the same job may be over it. */
static bool nearly_holds(const struct sp_verdict *v, const struct sp_wait_thresholds *wait)
{
	const struct sp_rule *unfed = sp_rule_of(SP_VERDICT_unfed);

	if (is_near(v->metrics.unfed_seen, sp_verdict_thresholds(v, unfed, wait).moderate))
		return true;
	for (int i = 0; i < SP_VERDICTS; i++) {
		const struct sp_rule *r = sp_rule_of(i);

		if (i != SP_VERDICT_compute && !r->is_state && sp_verdict_knows(v, r->cost) &&
		    sp_verdict_knows(v, r->sign) && sp_verdict_value(v, r->sign) >= r->least_sign &&
		    is_near(sp_verdict_value(v, r->cost),
			    sp_verdict_thresholds(v, r, wait).moderate))
			return true;
	}
	return false;
}

/* Measured and not known: the same allocations. */
static bool is_same_cost(enum sp_verdict_id id, int other)
{
	return sp_rule_of(other)->cost == sp_rule_of(id)->cost ||
	       (id == SP_VERDICT_allocation && other == SP_VERDICT_allocation_wait);
}

static bool has_rival(const struct sp_verdict *v)
{
	for (int i = 0; i < SP_VERDICTS; i++)
		if (v->holds[i] && i != SP_VERDICT_compute && !is_same_cost(v->id, i) &&
		    v->cost < 1 && sp_verdict_value(v, sp_rule_of(i)->cost) >= RIVAL * v->cost)
			return true;
	return false;
}

/* The verdict would be another one if code between two backwards were, or were not, the loop's. */
static bool rests_on_between(const struct sp_verdict *v)
{
	const struct sp_rule *loop = sp_rule_of(SP_VERDICT_loop);
	double share = sp_verdict_value(v, SP_METRIC_loop_share);

	if (v->id == SP_VERDICT_compute)
		return share + sp_verdict_value(v, SP_METRIC_own_update_share) >= loop->moderate;
	return sp_rule_of(v->id)->cost == loop->cost &&
	       share - sp_verdict_value(v, SP_METRIC_between_share) < loop->moderate;
}

/* The record is not whole, or short. */
static void doubt_record(struct sp_verdict *v, const struct sp_rule *r)
{
	v->doubts[SP_DOUBT_few_steps] =
		!r->is_state && sp_verdict_value(v, SP_METRIC_steps) < STEPS_ENOUGH;
	v->doubts[SP_DOUBT_lost] = v->metrics.events_lost != 0;
	v->doubts[SP_DOUBT_tails_away] = v->metrics.tails_away != 0;
	v->doubts[SP_DOUBT_unknown_events] = v->metrics.events_unknown != 0;
	v->doubts[SP_DOUBT_unread] = v->metrics.files_unread != 0;
}

/* Another verdict is as likely. */
static void doubt_margin(struct sp_verdict *v, const struct sp_rule *r,
			 const struct sp_wait_thresholds *wait)
{
	bool is_compute = v->id == SP_VERDICT_compute;

	v->doubts[SP_DOUBT_near] =
		is_compute ? nearly_holds(v, wait)
			   : !r->is_state &&
				     is_near(v->cost, sp_verdict_thresholds(v, r, wait).moderate);
	v->doubts[SP_DOUBT_rival] = !is_compute && v->id != SP_VERDICT_machine_busy && has_rival(v);
	v->doubts[SP_DOUBT_outsiders] = sp_verdict_is_beside_others(v);
	v->doubts[SP_DOUBT_keras_loop] =
		v->metrics.is_keras_on_torch && r->cost == SP_METRIC_loop_share;
	v->doubts[SP_DOUBT_between] = rests_on_between(v);
	v->doubts[SP_DOUBT_unfed_loop] = v->id == SP_VERDICT_unfed_loop;
	v->doubts[SP_DOUBT_messages] =
		sp_verdict_value(v, SP_METRIC_message_share) >= MESSAGES_MUCH &&
		(is_compute || r->cost == sp_rule_of(SP_VERDICT_loop)->cost);
	v->doubts[SP_DOUBT_timed_waits] = v->id == SP_VERDICT_locked;
}

/* Doubts about a wait for input. */
static void doubt_input(struct sp_verdict *v, const struct sp_rule *r)
{
	if (r->cost != SP_METRIC_lost_wait_share)
		return;
	v->doubts[SP_DOUBT_queue] = v->metrics.has_device && !v->metrics.is_queue_known;
	v->doubts[SP_DOUBT_work_unseen] = v->id != SP_VERDICT_handover &&
					  v->id != SP_VERDICT_sampler &&
					  !sp_verdict_knows(v, SP_METRIC_decode_work_share);
	v->doubts[SP_DOUBT_rare_input] =
		2 * sp_verdict_value(v, SP_METRIC_rare_own_input_share) > v->cost;
	v->doubts[SP_DOUBT_first_epoch] =
		2 * sp_verdict_value(v, SP_METRIC_first_epoch_wait_share) > v->cost;
}

/* The framework does not say all of its steps. */
static void doubt_steps(struct sp_verdict *v, const struct sp_rule *r)
{
	v->doubts[SP_DOUBT_unseen_steps] =
		v->metrics.trains_unseen &&
		(v->id == SP_VERDICT_cannot_tell || v->id == SP_VERDICT_no_steps);
	v->doubts[SP_DOUBT_whole_calls] =
		!r->is_state && (v->metrics.hides_waits ||
				 (v->id == SP_VERDICT_compute && v->metrics.has_whole_calls &&
				  sp_verdict_value(v, SP_METRIC_update_share) > 0));
	v->doubts[SP_DOUBT_mixed_steps] =
		(!r->is_state || v->id == SP_VERDICT_unknown) && v->metrics.is_mixed;
	v->doubts[SP_DOUBT_apart] =
		!r->is_state && sp_verdict_value(v, SP_METRIC_apart_share) >= APART_MUCH;
	v->doubts[SP_DOUBT_no_framework] =
		v->id == SP_VERDICT_no_trainer && !v->metrics.gives_steps;
	v->doubts[SP_DOUBT_idle_framework] = v->id == SP_VERDICT_no_trainer &&
					     v->metrics.gives_steps && !v->metrics.has_forwards;
	v->doubts[SP_DOUBT_model_alone] =
		v->id == SP_VERDICT_no_trainer && v->metrics.gives_steps && v->metrics.has_forwards;
}

/* The first steps do what later ones do not: import modules, tune kernels, fill caches. */
static void doubt_warm_up(struct sp_verdict *v, const struct sp_rule *r)
{
	v->doubts[SP_DOUBT_warm_up] = r->cost != SP_METRIC_compile_share &&
				      r->cost != SP_METRIC_first_batch_share &&
				      sp_verdict_value(v, SP_METRIC_warm_up_share) >= WARM_UP_MUCH;
}

/* The time may not be the model's. */
static void doubt_compute(struct sp_verdict *v)
{
	if (v->id != SP_VERDICT_compute)
		return;
	v->doubts[SP_DOUBT_unfed] = v->metrics.is_unfed && v->metrics.is_forward_left_over;
	v->doubts[SP_DOUBT_blocked] = !v->metrics.has_device &&
				      sp_verdict_value(v, SP_METRIC_blocked_share) >= BLOCKED_MUCH;
	v->doubts[SP_DOUBT_unexplained] =
		sp_verdict_value(v, SP_METRIC_other_share) >= OTHER_MUCH ||
		sp_verdict_value(v, SP_METRIC_unmarked_share) >= SP_UNMARKED_MUCH;
}

/* One doubt that is as bad as two. */
static bool is_doubted_much(const struct sp_verdict *v)
{
	return (v->id == SP_VERDICT_unknown && v->metrics.hides_waits) ||
	       (v->id == SP_VERDICT_compute && v->doubts[SP_DOUBT_outsiders]) ||
	       v->doubts[SP_DOUBT_no_framework] || v->doubts[SP_DOUBT_idle_framework] ||
	       v->doubts[SP_DOUBT_keras_loop];
}

static enum sp_confidence confidence_of(const struct sp_verdict *v)
{
	int doubts = 0;

	for (int i = 0; i < SP_DOUBTS; i++)
		doubts += v->doubts[i];
	if (doubts >= 2 || is_doubted_much(v))
		return SP_CONFIDENCE_LOW;
	return (enum sp_confidence)(SP_CONFIDENCE_HIGH - doubts);
}

void sp_verdict_doubt(struct sp_verdict *v, const struct sp_wait_thresholds *wait)
{
	const struct sp_rule *r = sp_rule_of(v->id);

	doubt_record(v, r);
	doubt_margin(v, r, wait);
	doubt_input(v, r);
	doubt_steps(v, r);
	doubt_warm_up(v, r);
	doubt_compute(v);
	v->confidence = confidence_of(v);
	if (v->confidence > r->most_confidence)
		v->confidence = r->most_confidence;
}
