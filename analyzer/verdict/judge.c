/* SPDX-License-Identifier: Apache-2.0 */
/* The functions ahead of the tables are the longer words of their conditions. */
#include "analyzer/verdict/judge.h"

#include <math.h>

#include "analyzer/base/each.h"
#include "analyzer/report/report.h"
#include "analyzer/verdict/advice_line.h"
#include "analyzer/verdict/saving.h"
#include "analyzer/verdict/terms.h"
#include "analyzer/verdict/verdict_text.h"

#define NEAR 0.2  /* distance from a threshold, as a share of it, that chance may make */
#define RIVAL 0.8 /* share of the greatest cost */
#define WANTED_ALONE                                                                               \
	1.5 /* threads a core: fewer do not take a fifth of their time from each other */
#define OUTSIDE_UNEVEN 2.0 /* more often than in all of a step, at most, in so many steps */
#define EVEN_STEPS 50
#define OTHER_MOST 0.5 /* of the training time, in no observed call: maybe the greatest cost */
#define OTHER_UNFED_MOST 0.05 /* as a moderate wait for input, which it may be */

static double value_of(const struct sp_verdict *v, enum sp_metric_id metric)
{
	return sp_metrics_value(&v->metrics, metric);
}

static double cost_of(const struct sp_verdict *v, int rule)
{
	return value_of(v, sp_rule_of((enum sp_verdict_id)rule)->cost);
}

static bool is_known(const struct sp_verdict *v, enum sp_metric_id metric)
{
	return v->metrics.of[metric].is_known;
}

/* Other programs had the cores for most of the time that the training thread waited for one. */
#define TAKEN (2 * V(outside_share) > V(contention_share))

/* The training thread was without a core for long, and the job alone does not explain it. */
#define BESIDE_OTHERS                                                                              \
	(V(contention_share) >= sp_rule_of(SP_VERDICT_contention)->severe &&                       \
	 KNOWN(wanted_per_core) &&                                                                 \
	 (TAKEN || (!KNOWN(others_cores) && V(wanted_per_core) < WANTED_ALONE)))

/* More of PyTorch's threads would have had the cores that other programs kept busy. */
#define CORES_TAKEN                                                                                \
	(V(model_threads) >= 1 && V(model_threads) < V(cores) && V(spare_threads) < 1 &&           \
	 V(host_trainers) <= 1 && KNOWN(others_cores) &&                                           \
	 V(others_cores) + V(idle_cores) >= SP_CORES_MOSTLY_IDLE)

#define HOUR_NS 3600e9

/* Soon: within an hour, or as long as the steps took. A worker that ends gives its memory back. */
#define MEMORY_ENDS(left)                                                                          \
	(V(left) > 0 && V(worker_lives) < 1.5 &&                                                   \
	 (V(left) < HOUR_NS || V(left) < V(steps) * V(step_mean_ns)))

/* One number of epochs is one start; where only the run's first batch costs, there is one, too. */
#define FIRST_BATCHES_IN_LOOP (V(epochs) < 2 ? 0 : OR_ALL(restart_share))

/* Another number of workers is worth it even by its least gain. No other advice asks for fewer, and
 * the batches of the late rank and of the others do not differ. */
#define WORKERS_GAIN                                                                               \
	(!HOLDS(oversubscribed) && !HOLDS(contention) && !HOLDS(straggler) && !HOLDS(core) &&      \
	 !HOLDS(throttled_input) && workers_gain(e))

static bool workers_gain(const struct sp_metrics *e)
{
	struct sp_what_if w = sp_what_if_make(e, SP_WHAT_IF_workers, SP_WORKERS_UNASKED);

	return w.is_known && w.usual_ns <= w.now_ns * (1 - SP_GAIN_SEEN);
}

/*
 * Without a backward no rule has the loop's own code. Where more time than a moderate cost lies in
 * no observed call, that cost is not what holds training back most. Beside a thread that makes
 * batches such time may be a wait for it.
 */
static bool hides_more(const struct sp_verdict *v)
{
	const struct sp_metrics *e = &v->metrics;
	const struct sp_rule *r = sp_rule_of(v->id);
	bool may_be_input = COSTS(lost_wait_share) && (e->is_unfed || e->is_fed_by_thread);

	return r->most_confidence != SP_CONFIDENCE_LOW && !may_be_input && !KNOWN(loop_share) &&
	       cost_of(v, v->id) < r->severe && V(other_share) > cost_of(v, v->id);
}

/*
 * Too much time lies in no observed call, or more than in the calls of the model that were
 * observed. Without a DataLoader batches may be made between the model's call and its backward,
 * where no call shows them; beside a thread that makes batches it may be a wait for the
 * interpreter's lock.
 */
static bool is_unexplained(const struct sp_metrics *e)
{
	double most = e->is_unfed || e->is_fed_by_thread ? OTHER_UNFED_MOST : OTHER_MOST;

	return V(other_share) >= most ||
	       (!e->is_forward_left_over && KNOWN(model_share) && V(other_share) >= V(model_share));
}

/*
 * Alone on the machine the cost might be too small for its rule, by more than chance. The training
 * thread is without a core at random times, so no part of many steps has far more of them than its
 * share; workers that are late make the trainer wait for all of it.
 */
static bool may_be_made_outside(const struct sp_verdict *v)
{
	const struct sp_metrics *e = &v->metrics;
	const struct sp_rule *r = sp_rule_of(v->id);
	bool is_even =
		r->by == SP_BY_THREAD && r->second != SP_SECOND_seldom && V(steps) >= EVEN_STEPS;
	double cost = cost_of(v, v->id);
	double outside = V(outside_share) + (r->by == SP_BY_WORKERS ? V(worker_outside_share) : 0);
	double made = is_even ? fmin(OUTSIDE_UNEVEN * cost, 1) * outside : outside;

	return !IS(compute) && outside > 0 &&
	       cost - made < v->moderate[v->id] * (1 - NEAR) * (1 - outside);
}

/* The part of a cost in which the training thread waits, at most. */
static double waiting_of(const struct sp_verdict *v, int rule)
{
	const struct sp_metrics *e = &v->metrics;
	double cost = cost_of(v, rule);

	switch (sp_rule_of((enum sp_verdict_id)rule)->by) {
	case SP_BY_WORKERS:
		return V(workers) > 0 ? cost : 0;
	case SP_BY_WAIT:
		return cost;
	case SP_BY_THREAD:
		break;
	}
	return V(blocked_share) < cost ? V(blocked_share) : cost;
}

/* Other programs lengthen what computes, and no wait: its share is greater without them. */
static bool may_be_hidden_outside(const struct sp_verdict *v)
{
	double left = 1 - value_of(v, SP_METRIC_outside_share);

	for (int i = 0; IS(compute) && left < 1 && i < SP_VERDICTS; i++) {
		const struct sp_rule *r = sp_rule_of((enum sp_verdict_id)i);

		if (i != SP_VERDICT_compute && !r->is_state && r->sign == SP_METRIC_steps &&
		    is_known(v, r->cost) && !v->holds[i] &&
		    waiting_of(v, i) >= v->moderate[i] * (1 + NEAR) * left)
			return true;
	}
	return false;
}

static bool is_near(double value, double threshold)
{
	return value > threshold * (1 - NEAR) && value < threshold * (1 + NEAR);
}

static bool has_sign(const struct sp_verdict *v, const struct sp_rule *r)
{
	return !r->is_state && is_known(v, r->cost) && is_known(v, r->sign) &&
	       value_of(v, r->sign) >= r->least_sign;
}

/* A cost just below its threshold: the next run of the same job may be over it. */
static bool nearly_holds(const struct sp_verdict *v)
{
	if (is_near(v->metrics.unfed_seen, v->moderate[SP_VERDICT_unfed]))
		return true;

	return SP_ANY(i, SP_VERDICTS,
		      i != SP_VERDICT_compute && has_sign(v, sp_rule_of((enum sp_verdict_id)i)) &&
			      is_near(cost_of(v, i), v->moderate[i]));
}

/* A rule that only may hold has the code of the rule that measures the same cost. */
static bool is_same_cost(const struct sp_rule *a, const struct sp_rule *b)
{
	return a->cost == b->cost ||
	       (a->code == b->code && b->most_confidence == SP_CONFIDENCE_LOW);
}

static bool has_rival(const struct sp_verdict *v)
{
	return SP_ANY(i, SP_VERDICTS,
		      v->holds[i] && i != SP_VERDICT_compute && v->cost < 1 &&
			      !is_same_cost(sp_rule_of(v->id), sp_rule_of((enum sp_verdict_id)i)) &&
			      cost_of(v, i) >= RIVAL * v->cost);
}

/* The verdict would be another one if code between two backwards were, or were not, the loop's. */
static bool rests_on_between(const struct sp_verdict *v)
{
	const struct sp_metrics *e = &v->metrics;
	double least = sp_rule_of(SP_VERDICT_loop)->moderate;

	if (IS(compute))
		return V(loop_share) + V(own_update_share) >= least;
	return COSTS(loop_share) && V(loop_share) - V(between_share) < least;
}

static void rest_on(struct sp_verdict *v, enum sp_metric_id metric)
{
	bool is_shown = SP_ANY(i, v->evidence_count, v->evidence[i] == metric);

	if (!is_shown && is_known(v, metric) && v->evidence_count < SP_VERDICT_EVIDENCE_MAX)
		v->evidence[v->evidence_count++] = metric;
}

#define NONE
#define SHOW(metric) rest_on(v, SP_METRIC_##metric);
#define SHOW_SOME(metric)                                                                          \
	if (V(metric) > 0)                                                                         \
		rest_on(v, SP_METRIC_##metric);
#define IF_DIGEST(shown)                                                                           \
	if (e->is_from_digest) {                                                                   \
		shown                                                                              \
	}
/* The account's wait, what is not the verdict's of it, and what is left: the last is the cost. */
#define INPUT_WAIT                                                                                 \
	SHOW_SOME(input_wait_share)                                                                \
	SHOW_SOME(first_wait_share)                                                                \
	SHOW_SOME(loader_wait_share)                                                               \
	SHOW_SOME(hidden_wait_share)

/* After the doubts. A sign that is the cost under a condition is no evidence beside it. */
static void gather_evidence(struct sp_verdict *v)
{
	const struct sp_metrics *e = &v->metrics;
	const struct sp_rule *r = sp_rule_of(v->id);
	const char *sentence = r->sentence;
	struct sp_template_part part;

	v->evidence_count = 0;
#define SHOW_OF(id, evidence)                                                                      \
	if (IS(id)) {                                                                              \
		evidence                                                                           \
	}
#define SP_STATE(id, code, asked, confidence, when, evidence, sentence, meaning, remedy)           \
	SHOW_OF(id, evidence)
#define SP_RULE(id, code, confidence, cost, moderate, severe, in_loop, sign, least_sign, when,     \
		refines, by, second, evidence, sentence, meaning, remedy)                          \
	SHOW_OF(id, evidence)
#include "analyzer/verdict/verdict.def"
	if (!r->is_state) {
		rest_on(v, r->cost);
		if (r->sign != SP_METRIC_steps && value_of(v, r->sign) != v->cost)
			rest_on(v, r->sign);
	}
	while (sp_template_next(&sentence, &part))
		if (part.metric < SP_METRICS && part.metric != SP_METRIC_cannot_tell)
			rest_on(v, part.metric);
	if (v->doubts[SP_DOUBT_outsiders])
		rest_on(v, SP_METRIC_unaccounted_processes);
	if (v->doubts[SP_DOUBT_drift]) {
		rest_on(v, SP_METRIC_early_step_ns);
		rest_on(v, SP_METRIC_late_step_ns);
		rest_on(v, SP_METRIC_grown_row);
	}
	rest_on(v, SP_METRIC_steps);
	rest_on(v, SP_METRIC_step_mean_ns);
}

static void set_second(struct sp_verdict *v, double claimed, enum sp_metric_id found, double most)
{
	v->second.claimed = claimed;
	v->second.found = value_of(v, found);
	v->second.is_known = !isnan(claimed) && is_known(v, found);
	v->second.differs = v->second.is_known && claimed - v->second.found > most;
}

/* Asks the row that could refute the verdict. */
static void ask_second(struct sp_verdict *v)
{
	const struct sp_metrics *e = &v->metrics;

	v->second = (struct sp_opinion){.id = sp_rule_of(v->id)->second};
	switch (v->second.id) {
#define SP_SECOND(name, claimed, found, most, by, counts)                                          \
	case SP_SECOND_##name:                                                                     \
		set_second(v, claimed, SP_METRIC_##found, most);                                   \
		break;
#include "analyzer/verdict/second.def"
	case SP_SECONDS:
		break;
	}
}

/* Sets the doubts and the confidence. */
static void doubt(struct sp_verdict *v)
{
	const struct sp_metrics *e = &v->metrics;
	enum sp_confidence most = sp_rule_of(v->id)->most_confidence;
	int weight = 0;

#define SP_DOUBT(id, weighs, when, text)                                                           \
	v->doubts[SP_DOUBT_##id] = when;                                                           \
	weight += v->doubts[SP_DOUBT_##id] ? (weighs) : 0;
#include "analyzer/verdict/doubt.def"
	v->confidence =
		weight >= 2 ? SP_CONFIDENCE_LOW : (enum sp_confidence)(SP_CONFIDENCE_HIGH - weight);
	v->confidence = v->confidence < most ? v->confidence : most;
}

/* The first state whose condition holds; SP_VERDICTS: none does. */
static enum sp_verdict_id state_of(const struct sp_verdict *v, bool is_first)
{
	const struct sp_metrics *e = &v->metrics;

#define FIRST true
#define LAST false
#define SP_STATE(id, code, asked, confidence, when, evidence, sentence, meaning, remedy)           \
	if ((asked) == is_first && (when))                                                         \
		return SP_VERDICT_##id;
#define SP_RULE(id, code, confidence, cost, moderate, severe, in_loop, sign, least_sign, when,     \
		refines, by, second, evidence, sentence, meaning, remedy)
#include "analyzer/verdict/verdict.def"
	return SP_VERDICTS;
}

static void ask_rule(struct sp_verdict *v, int id, const struct sp_wait_thresholds *wait,
		     double in_loop, bool when)
{
	const struct sp_rule *r = sp_rule_of((enum sp_verdict_id)id);
	bool is_wait = r->cost == SP_METRIC_lost_wait_share;

	v->severe[id] = is_wait ? wait->severe : r->severe;
	v->moderate[id] = is_wait		  ? wait->moderate
			  : in_loop < r->moderate ? r->severe
						  : r->moderate;
	v->holds[id] = has_sign(v, r) && cost_of(v, id) >= v->moderate[id] && when;
}

static void ask_rules(struct sp_verdict *v, const struct sp_wait_thresholds *wait)
{
	const struct sp_metrics *e = &v->metrics;

#define SP_STATE(id, code, asked, confidence, when, evidence, sentence, meaning, remedy)
#define SP_RULE(id, code, confidence, cost, moderate, severe, in_loop, sign, least_sign, when,     \
		refines, by, second, evidence, sentence, meaning, remedy)                          \
	ask_rule(v, SP_VERDICT_##id, wait, in_loop, when);
#include "analyzer/verdict/verdict.def"
}

/* The rule of the greatest cost among rules that refine no other; of those that are certain, or of
 * those that only may be so. */
static enum sp_verdict_id find_worst(const struct sp_verdict *v, bool is_certain)
{
	enum sp_verdict_id worst = SP_VERDICT_compute;

	for (int i = 0; i < SP_VERDICTS; i++) {
		const struct sp_rule *r = sp_rule_of((enum sp_verdict_id)i);

		if (v->holds[i] && i != SP_VERDICT_compute && (int)r->refines == i &&
		    (r->most_confidence > SP_CONFIDENCE_LOW) == is_certain &&
		    (worst == SP_VERDICT_compute || cost_of(v, i) > cost_of(v, worst)))
			worst = (enum sp_verdict_id)i;
	}
	return worst;
}

static enum sp_verdict_id refine(const struct sp_verdict *v, enum sp_verdict_id base)
{
	enum sp_verdict_id refined = base;

	for (int i = 0; i < SP_VERDICTS; i++)
		if (v->holds[i] && sp_rule_of((enum sp_verdict_id)i)->refines == base)
			refined = (enum sp_verdict_id)i;
	return refined;
}

static void take_part(struct sp_verdict *v, enum sp_part part, double share)
{
	if (share > v->greatest_share) {
		v->greatest = part;
		v->greatest_share = share;
	}
}

static void find_greatest(struct sp_verdict *v)
{
	const struct sp_metrics *e = &v->metrics;

	v->greatest_share = 0;
#define SP_PART(name, share, title) take_part(v, SP_PART_##name, share);
#include "analyzer/verdict/part.def"
}

/* Sets the verdict, its cost, and the rules that hold. */
static void find(struct sp_verdict *v, const struct sp_wait_thresholds *wait)
{
	enum sp_verdict_id state = state_of(v, true);

	v->id = state;
	if (state == SP_VERDICTS) {
		ask_rules(v, wait);
		v->id = find_worst(v, true);
		if (IS(compute))
			v->id = find_worst(v, false);
		v->id = refine(v, v->id);
		state = state_of(v, false);
		v->id = state == SP_VERDICTS ? v->id : state;
	}
	v->cost = IS_STATE ? 0 : cost_of(v, v->id);
	v->is_severe = IS(hung) || (!IS_STATE && v->cost >= v->severe[v->id]);
}

/* Every metric that the text shows is known. */
static bool knows_all(const struct sp_verdict *v, const char *text)
{
	struct sp_template_part part;

	while (sp_template_next(&text, &part))
		if (part.metric < SP_METRICS && !is_known(v, part.metric))
			return false;
	return true;
}

static bool applies(const struct sp_verdict *v, enum sp_advice_id advice)
{
	const struct sp_advice_rule *a = sp_advice_rule_of(advice);
	double value = value_of(v, a->metric);

	return (v->holds[a->verdict] || v->id == a->verdict) && is_known(v, a->metric) &&
	       value >= a->least && value <= a->most && knows_all(v, a->text) &&
	       sp_advice_is_worth_it(&v->metrics, advice);
}

/* Advice on the verdict's own cost, or on another one. A state has no other advice than its own. */
static bool is_about(const struct sp_verdict *v, enum sp_advice_id advice, bool same)
{
	const struct sp_advice_rule *a = sp_advice_rule_of(advice);

	if (IS_STATE)
		return same && a->verdict == v->id;
	return (sp_rule_of(a->verdict)->cost == sp_rule_of(v->id)->cost) == same;
}

#define GIVEN(other) given[SP_ADVICE_##other]

static void advise(struct sp_verdict *v)
{
	const struct sp_metrics *e = &v->metrics;
	bool given[SP_ADVICES];

#define SP_ADVICE(id, verdict, metric, least, most, when, saves, unless, costs, text)              \
	given[SP_ADVICE_##id] = applies(v, SP_ADVICE_##id) && (when);
#include "analyzer/verdict/advice.def"
	v->advice_count = 0;
	for (int same = 1; same >= 0; same--) {
#define SP_ADVICE(id, verdict, metric, least, most, when, saves, unless, costs, text)              \
	if (given[SP_ADVICE_##id] && !(unless) && is_about(v, SP_ADVICE_##id, same))               \
		v->advice[v->advice_count++] = SP_ADVICE_##id;
#include "analyzer/verdict/advice.def"
	}
}

void sp_verdict_judge(struct sp_verdict *v, const struct sp_wait_thresholds *wait)
{
	find(v, wait);
	find_greatest(v);
	advise(v);
	ask_second(v);
	doubt(v);
	gather_evidence(v);
	sp_verdict_sentence(v, v->id, v->text, sizeof(v->text));
}

int sp_verdict_make(struct sp_verdict *v, const struct sp_report *report,
		    const struct sp_wait_thresholds *wait)
{
	enum sp_advice_id order[SP_ADVICES];
	int r;

	*v = (struct sp_verdict){.cost = 0};
	r = sp_metrics_gather(&v->metrics, report);
	if (r < 0)
		return r;
	sp_verdict_judge(v, wait);
	sp_advice_by_saving(v, order);
	return sp_advice_find_lines(v, &report->samples, order);
}
