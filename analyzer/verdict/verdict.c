/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/verdict/verdict.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/report/report.h"
#include "analyzer/text/text.h"
#include "analyzer/text/translate.h"

#define STEPS_MIN 5	/* with fewer steps there is no verdict */
#define GAIN_LEAST 0.03 /* of a step: below it nobody sees a gain */
#define STEPS_ENOUGH 20 /* with fewer steps there is a doubt */
#define NEAR 0.2	/* distance from a threshold, as a share of it */
#define RIVAL 0.8	/* share of the greatest cost */
#define OTHER_MOST 0.5
#define OTHER_BESIDE_THREAD                                                                        \
	0.05 /* where a thread makes batches: it may be waiting for the interpreter's lock */
#define OTHER_UNFED 0.05   /* as a moderate wait for input, which it may be */
#define BLOCKED_MUCH 0.2   /* of a compute-bound job: a doubt */
#define OTHER_MUCH 0.2	   /* of a compute-bound job: a doubt */
#define MESSAGES_MUCH 0.05 /* of the training time, by the length of answers: a doubt */
#define WANTED_ALONE                                                                               \
	1.5 /* threads a core: fewer threads do not take a fifth of their time from each other */

static const struct sp_rule rules[SP_VERDICTS] = {
#define SP_STATE(id, code, sentence, meaning, remedy)                                              \
	[SP_VERDICT_##id] = {code,	 sentence, meaning,	    remedy, true, SP_METRICS,      \
			     SP_METRICS, 0,	   SP_VERDICT_##id, 0,	    0},
#define SP_RULE(id, code, cost, moderate, severe, sign, least_sign, refines, sentence, meaning,    \
		remedy)                                                                            \
	[SP_VERDICT_##id] = {code,                                                                 \
			     sentence,                                                             \
			     meaning,                                                              \
			     remedy,                                                               \
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

const char *sp_confidence_name(enum sp_confidence confidence)
{
	static const char *const names[] = {N_("low"), N_("medium"), N_("high")};

	return _(names[confidence]);
}

const char *sp_doubt_text(enum sp_doubt doubt)
{
	static const char *const texts[SP_DOUBTS] = {
#define SP_DOUBT(id, text) text,
#include "analyzer/verdict/doubt.def"
#undef SP_DOUBT
	};

	return _(texts[doubt]);
}

void sp_confidence_text(const struct sp_verdict *v, char *ret, size_t bytes)
{
	size_t at =
		(size_t)snprintf(ret, bytes, _("confidence %s"), sp_confidence_name(v->confidence));
	const char *between = _(": ");

	for (int i = 0; i < SP_DOUBTS && at < bytes; i++) {
		if (!v->doubts[i])
			continue;
		at += (size_t)snprintf(ret + at, bytes - at, "%s%s", between,
				       sp_doubt_text((enum sp_doubt)i));
		between = _("; ");
	}
}

/* Calls take() for each {measure} of a template, and for the words between them. */
static void read_template(const char *text, void *context,
			  void (*take)(void *context, const char *words, size_t bytes,
				       enum sp_metric_id metric))
{
	while (*text) {
		size_t words = strcspn(text, "{");
		const char *end = strchr(text + words, '}');

		if (!end) {
			take(context, text, strlen(text), SP_METRICS);
			return;
		}
		take(context, text, words,
		     sp_metric_find(text + words + 1, (size_t)(end - text) - words - 1));
		text = end + 1;
	}
}

struct filling {
	const struct sp_metrics *metrics;
	char *ret;
	size_t room;
};

static void fill_part(void *context, const char *words, size_t bytes, enum sp_metric_id metric)
{
	struct filling *f = context;
	char value[SP_METRIC_TEXT_BYTES] = "";
	int n;

	if (metric < SP_METRICS)
		sp_metric_text(f->metrics, metric, value, sizeof(value));
	n = snprintf(f->ret, f->room, "%.*s%s", (int)bytes, words, value);
	n = n < (int)f->room ? n : (int)f->room - 1;
	f->ret += n;
	f->room -= (size_t)n;
}

static void fill(const struct sp_metrics *e, const char *template, char *ret, size_t ret_bytes)
{
	struct filling f = {e, ret, ret_bytes};

	*ret = '\0';
	read_template(template, &f, fill_part);
}

void sp_verdict_sentence(const struct sp_verdict *v, enum sp_verdict_id id, char *ret, size_t bytes)
{
	fill(&v->metrics, _(rules[id].sentence), ret, bytes);
}

static void put_top(const struct sp_top_function *top, char *ret, size_t bytes)
{
	char share[SP_NUMBER_BYTES], samples[SP_NUMBER_BYTES];

	snprintf(share, sizeof(share), "%.0f%%", 100 * top->share);
	sp_text_count(samples, top->samples);
	/* Translators: samples; a share; a function. */
	if (*top->caller)
		snprintf(ret, bytes,
			 sp_translate_plural(" By %s sample, %s of making batches is %s, called by "
					     "%s.",
					     " By %s samples, %s of making batches is %s, called "
					     "by %s.",
					     top->samples),
			 samples, share, top->name, top->caller);
	else
		snprintf(ret, bytes,
			 sp_translate_plural(" By %s sample, %s of making batches is %s.",
					     " By %s samples, %s of making batches is %s.",
					     top->samples),
			 samples, share, top->name);
}

static void put_top_line(const struct sp_top_function *top, char *ret, size_t bytes)
{
	char share[SP_NUMBER_BYTES], samples[SP_NUMBER_BYTES];

	snprintf(share, sizeof(share), "%.0f%%", 100 * top->share);
	snprintf(ret, bytes, _("Look at %s: by %s samples, %s of the loop's own code is there. "),
		 top->name, sp_text_count(samples, top->samples), share);
}

void sp_advice_text(const struct sp_verdict *v, enum sp_advice_id advice, char *ret,
		    size_t ret_bytes)
{
	bool is_of_loop = advice == SP_ADVICE_loop_names || advice == SP_ADVICE_loop_blocked;
	size_t used = 0;

	*ret = '\0';
	if (is_of_loop && v->top_line.samples)
		put_top_line(&v->top_line, ret, ret_bytes);
	else if (is_of_loop && !v->metrics.is_from_digest)
		snprintf(ret, ret_bytes, "%s",
			 _("Record once with `stageprof run --sample`, which names the line. "));
	used = strlen(ret);
	fill(&v->metrics, _(advices[advice].text), ret + used, ret_bytes - used);
	used = strlen(ret);
	if (advice == SP_ADVICE_transform && v->top.samples)
		put_top(&v->top, ret + used, ret_bytes - used);
}

static double value_of(const struct sp_verdict *v, enum sp_metric_id metric)
{
	return sp_metrics_value(&v->metrics, metric);
}

static bool is_known(const struct sp_verdict *v, enum sp_metric_id metric)
{
	return v->metrics.of[metric].is_known;
}

/* Each run has one start and one end, however short it is: what is paid there alone has to be
 * severe. */
static bool is_at_ends(const struct sp_verdict *v, const struct sp_rule *r)
{
	if (r->cost == SP_METRIC_save_share)
		return is_known(v, SP_METRIC_loop_save_share) &&
		       value_of(v, SP_METRIC_loop_save_share) < r->moderate;
	if (r->cost == SP_METRIC_load_share)
		return is_known(v, SP_METRIC_loop_load_share) &&
		       value_of(v, SP_METRIC_loop_load_share) < r->moderate;
	if (r->cost == SP_METRIC_validation_share)
		return value_of(v, r->cost) - value_of(v, SP_METRIC_end_validation_share) <
		       r->moderate;
	return r->cost == SP_METRIC_first_batch_share &&
	       (value_of(v, SP_METRIC_epochs) < 2 ||
		(is_known(v, SP_METRIC_restart_share) &&
		 value_of(v, SP_METRIC_restart_share) < r->moderate));
}

/* The thresholds of a rule's cost. */
static struct sp_wait_thresholds thresholds_of(const struct sp_verdict *v, const struct sp_rule *r,
					       const struct sp_wait_thresholds *wait)
{
	struct sp_wait_thresholds t = {r->moderate, r->severe};

	if (r->cost == SP_METRIC_lost_wait_share)
		return *wait;
	if (is_at_ends(v, r))
		t.moderate = r->severe;
	return t;
}

/* Other programs had the cores for most of the time that the training thread waited for one. */
static bool is_taken(const struct sp_verdict *v)
{
	return 2 * value_of(v, SP_METRIC_outside_share) > value_of(v, SP_METRIC_contention_share);
}

/* The training thread was without a core for long, and the job alone does not explain it. */
static bool is_beside_others(const struct sp_verdict *v)
{
	return value_of(v, SP_METRIC_contention_share) >= rules[SP_VERDICT_contention].severe &&
	       is_known(v, SP_METRIC_wanted_per_core) &&
	       (is_taken(v) || value_of(v, SP_METRIC_wanted_per_core) < WANTED_ALONE);
}

static bool rule_holds(const struct sp_verdict *v, const struct sp_rule *r,
		       const struct sp_wait_thresholds *wait)
{
	if (r->sign == SP_METRIC_wanted_per_core && is_taken(v))
		return false;
	return !r->is_state && is_known(v, r->cost) && is_known(v, r->sign) &&
	       value_of(v, r->cost) >= thresholds_of(v, r, wait).moderate &&
	       value_of(v, r->sign) >= r->least_sign;
}

static enum sp_verdict_id find_state(const struct sp_verdict *v)
{
	if (is_known(v, SP_METRIC_hang_chain))
		return SP_VERDICT_hung;
	if (is_known(v, SP_METRIC_cannot_tell))
		return SP_VERDICT_cannot_tell;
	if (!is_known(v, SP_METRIC_steps))
		return v->metrics.has_loader_calls ? SP_VERDICT_no_steps : SP_VERDICT_no_trainer;
	return value_of(v, SP_METRIC_steps) < STEPS_MIN ? SP_VERDICT_too_few_steps : SP_VERDICTS;
}

/*
 * Without a backward no rule has the loop's own code. Where more time than a moderate wait for
 * input lies in no observed call, that wait is not what holds training back most. Beside a thread
 * that makes batches such time may be a wait for it.
 */
static bool hides_more(const struct sp_verdict *v, enum sp_verdict_id worst)
{
	return rules[worst].cost == SP_METRIC_lost_wait_share && !v->metrics.is_unfed &&
	       !v->metrics.is_fed_by_thread && !is_known(v, SP_METRIC_loop_share) &&
	       value_of(v, rules[worst].cost) < rules[worst].severe &&
	       value_of(v, SP_METRIC_other_share) > value_of(v, rules[worst].cost);
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
	return !v->metrics.is_forward_left_over && is_known(v, SP_METRIC_model_share) &&
	       value_of(v, SP_METRIC_other_share) >= value_of(v, SP_METRIC_model_share);
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
		if (is_last((enum sp_verdict_id)i) || !v->holds[i] || (int)rules[i].refines != i)
			continue;
		if (worst == SP_VERDICT_compute ||
		    value_of(v, rules[i].cost) > value_of(v, rules[worst].cost))
			worst = (enum sp_verdict_id)i;
	}
	if (hides_more(v, worst))
		worst = SP_VERDICT_unknown;
	if (worst == SP_VERDICT_compute && v->holds[SP_VERDICT_allocation_wait])
		worst = SP_VERDICT_allocation_wait;
	if (worst == SP_VERDICT_compute &&
	    (value_of(v, SP_METRIC_other_share) >= other_most(v) || is_mostly_unexplained(v)))
		worst = SP_VERDICT_unknown;
	return worst;
}

static enum sp_verdict_id refine(const struct sp_verdict *v, enum sp_verdict_id base)
{
	enum sp_verdict_id refined = base;

	for (int i = 0; i < SP_VERDICTS; i++)
		if (v->holds[i] && rules[i].refines == base)
			refined = (enum sp_verdict_id)i;
	return refined;
}

static bool is_near(double value, double threshold)
{
	return value > threshold * (1 - NEAR) && value < threshold * (1 + NEAR);
}

/* The share of the time in which other programs may have made this cost. */
static double outside_of(const struct sp_verdict *v, const struct sp_rule *r)
{
	double share = value_of(v, SP_METRIC_outside_share);

	if (r->cost == SP_METRIC_lost_wait_share || r->cost == SP_METRIC_first_batch_share)
		share += value_of(v, SP_METRIC_worker_outside_share);
	return share;
}

/* Alone on the machine the cost might be too small for the rule, by more than chance. */
static bool may_be_made_outside(const struct sp_verdict *v, const struct sp_wait_thresholds *wait)
{
	const struct sp_rule *r = &rules[v->id];
	double least = thresholds_of(v, r, wait).moderate * (1 - NEAR);
	double outside = outside_of(v, r);

	return v->id != SP_VERDICT_compute && outside > 0 &&
	       value_of(v, r->cost) - outside < least * (1 - outside);
}

/* The part of a cost in which the training thread waits, at most. */
static double waiting_of(const struct sp_verdict *v, const struct sp_rule *r)
{
	double blocked = value_of(v, SP_METRIC_blocked_share);

	switch (r->cost) {
	case SP_METRIC_lost_wait_share:
	case SP_METRIC_first_batch_share:
		return value_of(v, SP_METRIC_workers) > 0 ? value_of(v, r->cost) : 0;
	case SP_METRIC_communication_share:
	case SP_METRIC_straggler_share:
	case SP_METRIC_save_share:
	case SP_METRIC_load_share:
	case SP_METRIC_sync_cost_share:
		return value_of(v, r->cost);
	default:
		return blocked < value_of(v, r->cost) ? blocked : value_of(v, r->cost);
	}
}

/* Other programs lengthen what computes, and no wait: its share is greater without them. */
static bool may_be_hidden_outside(const struct sp_verdict *v, const struct sp_wait_thresholds *wait)
{
	double left = 1 - value_of(v, SP_METRIC_outside_share);

	for (int i = 0; v->id == SP_VERDICT_compute && left < 1 && i < SP_VERDICTS; i++) {
		const struct sp_rule *r = &rules[i];

		if (i != SP_VERDICT_compute && !r->is_state && r->sign == SP_METRIC_steps &&
		    is_known(v, r->cost) && !v->holds[i] &&
		    waiting_of(v, r) >= thresholds_of(v, r, wait).moderate * (1 + NEAR) * left)
			return true;
	}
	return false;
}

/* A cost just below its threshold: the next run of the same job may be over it. */
static bool nearly_holds(const struct sp_verdict *v, const struct sp_wait_thresholds *wait)
{
	for (int i = 0; i < SP_VERDICTS; i++) {
		const struct sp_rule *r = &rules[i];

		if (i != SP_VERDICT_compute && !r->is_state && is_known(v, r->cost) &&
		    is_known(v, r->sign) && value_of(v, r->sign) >= r->least_sign &&
		    is_near(value_of(v, r->cost), thresholds_of(v, r, wait).moderate))
			return true;
	}
	return false;
}

/* Measured and not known: the same allocations. */
static bool is_same_cost(enum sp_verdict_id id, int other)
{
	return rules[other].cost == rules[id].cost ||
	       (id == SP_VERDICT_allocation && other == SP_VERDICT_allocation_wait);
}

static bool has_rival(const struct sp_verdict *v)
{
	for (int i = 0; i < SP_VERDICTS; i++)
		if (v->holds[i] && i != SP_VERDICT_compute && !is_same_cost(v->id, i) &&
		    v->cost < 1 && value_of(v, rules[i].cost) >= RIVAL * v->cost)
			return true;
	return false;
}

/* The verdict would be another one if code between two backwards were, or were not, the loop's. */
static bool rests_on_between(const struct sp_verdict *v)
{
	const struct sp_rule *loop = &rules[SP_VERDICT_loop];
	double share = value_of(v, SP_METRIC_loop_share);

	if (v->id == SP_VERDICT_compute)
		return share + value_of(v, SP_METRIC_own_update_share) >= loop->moderate;
	return rules[v->id].cost == loop->cost &&
	       share - value_of(v, SP_METRIC_between_share) < loop->moderate;
}

static void doubt(struct sp_verdict *v, const struct sp_wait_thresholds *wait)
{
	const struct sp_rule *r = &rules[v->id];
	bool by_wait = r->cost == SP_METRIC_lost_wait_share;
	int doubts = 0;

	v->doubts[SP_DOUBT_few_steps] = !r->is_state && value_of(v, SP_METRIC_steps) < STEPS_ENOUGH;
	v->doubts[SP_DOUBT_lost] = v->metrics.events_lost != 0;
	v->doubts[SP_DOUBT_tails_away] = v->metrics.tails_away != 0;
	v->doubts[SP_DOUBT_unknown_events] = v->metrics.events_unknown != 0;
	v->doubts[SP_DOUBT_unread] = v->metrics.files_unread != 0;
	v->doubts[SP_DOUBT_near] =
		v->id == SP_VERDICT_compute
			? nearly_holds(v, wait)
			: !r->is_state && is_near(v->cost, thresholds_of(v, r, wait).moderate);
	v->doubts[SP_DOUBT_rival] =
		v->id != SP_VERDICT_compute && v->id != SP_VERDICT_machine_busy && has_rival(v);
	v->doubts[SP_DOUBT_queue] = by_wait && v->metrics.has_device && !v->metrics.is_queue_known;
	v->doubts[SP_DOUBT_outsiders] = is_beside_others(v);
	v->doubts[SP_DOUBT_work_unseen] = by_wait && v->id != SP_VERDICT_handover &&
					  v->id != SP_VERDICT_sampler &&
					  !is_known(v, SP_METRIC_decode_work_share);
	v->doubts[SP_DOUBT_rare_input] =
		by_wait && 2 * value_of(v, SP_METRIC_rare_own_input_share) > v->cost;
	v->doubts[SP_DOUBT_between] = rests_on_between(v);
	v->doubts[SP_DOUBT_first_epoch] =
		by_wait && 2 * value_of(v, SP_METRIC_first_epoch_wait_share) > v->cost;
	v->doubts[SP_DOUBT_messages] =
		value_of(v, SP_METRIC_message_share) >= MESSAGES_MUCH &&
		(v->id == SP_VERDICT_compute || r->cost == rules[SP_VERDICT_loop].cost);
	v->doubts[SP_DOUBT_unseen_steps] =
		v->metrics.trains_unseen &&
		(v->id == SP_VERDICT_cannot_tell || v->id == SP_VERDICT_no_steps);
	v->doubts[SP_DOUBT_whole_calls] =
		!r->is_state && (v->metrics.hides_waits ||
				 (v->id == SP_VERDICT_compute && v->metrics.has_whole_calls &&
				  value_of(v, SP_METRIC_update_share) > 0));
	v->doubts[SP_DOUBT_mixed_steps] =
		(!r->is_state || v->id == SP_VERDICT_unknown) && v->metrics.is_mixed;
	v->doubts[SP_DOUBT_no_framework] =
		v->id == SP_VERDICT_no_trainer && !v->metrics.gives_steps;
	v->doubts[SP_DOUBT_unfed] = v->id == SP_VERDICT_compute && v->metrics.is_unfed &&
				    v->metrics.is_forward_left_over;
	v->doubts[SP_DOUBT_blocked] = v->id == SP_VERDICT_compute && !v->metrics.has_device &&
				      value_of(v, SP_METRIC_blocked_share) >= BLOCKED_MUCH;
	v->doubts[SP_DOUBT_unexplained] =
		v->id == SP_VERDICT_compute &&
		(value_of(v, SP_METRIC_other_share) >= OTHER_MUCH ||
		 value_of(v, SP_METRIC_unmarked_share) >= SP_UNMARKED_MUCH);
	for (int i = 0; i < SP_DOUBTS; i++)
		doubts += v->doubts[i];
	v->confidence =
		doubts >= 2 || v->id == SP_VERDICT_cannot_tell ||
				v->id == SP_VERDICT_machine_busy ||
				v->id == SP_VERDICT_allocation_wait ||
				(v->id == SP_VERDICT_unknown && v->metrics.hides_waits) ||
				(v->id == SP_VERDICT_compute && v->doubts[SP_DOUBT_outsiders]) ||
				v->doubts[SP_DOUBT_no_framework]
			? SP_CONFIDENCE_LOW
			: (enum sp_confidence)(SP_CONFIDENCE_HIGH - doubts);
}

static void rest_on(struct sp_verdict *v, enum sp_metric_id metric)
{
	for (uint32_t i = 0; i < v->rests_on_count; i++)
		if (v->rests_on[i] == metric)
			return;
	if (is_known(v, metric) && v->rests_on_count < SP_VERDICT_EVIDENCE_MAX)
		v->rests_on[v->rests_on_count++] = metric;
}

static void rest_on_part(void *context, const char *words, size_t bytes, enum sp_metric_id metric)
{
	(void)words, (void)bytes;
	if (metric < SP_METRICS && metric != SP_METRIC_cannot_tell)
		rest_on(context, metric);
}

/* The account's wait, what is not the verdict's of it, and what is left: the last is the cost. */
static void rest_on_sum(struct sp_verdict *v)
{
	static const enum sp_metric_id sum[] = {
		SP_METRIC_input_wait_share,
		SP_METRIC_first_wait_share,
		SP_METRIC_loader_wait_share,
		SP_METRIC_hidden_wait_share,
	};

	for (size_t i = 0; i < sizeof(sum) / sizeof(sum[0]); i++)
		if (value_of(v, sum[i]) > 0)
			rest_on(v, sum[i]);
}

/* Metrics that need no steps. */
static const enum sp_metric_id knowns[] = {
	SP_METRIC_update_share,	   SP_METRIC_input_wait_share, SP_METRIC_loop_batches,
	SP_METRIC_loop_wait_share, SP_METRIC_read_rate,	       SP_METRIC_read_ns,
	SP_METRIC_decode_ns,	   SP_METRIC_wait_ns,	       SP_METRIC_cores_used,
};
#define KNOWNS (sizeof(knowns) / sizeof(knowns[0]))

/* Costs, and what may be input or the model, that a digest gives without events. */
static const enum sp_metric_id digested[] = {
	SP_METRIC_input_wait_share, SP_METRIC_communication_share, SP_METRIC_straggler_share,
	SP_METRIC_copy_share,	    SP_METRIC_checkpoint_share,	   SP_METRIC_validation_share,
	SP_METRIC_evaluation_share, SP_METRIC_compile_share,	   SP_METRIC_bookkeeping_share,
	SP_METRIC_compute_share,    SP_METRIC_other_share,	   SP_METRIC_step_ns,
};
#define DIGESTED (sizeof(digested) / sizeof(digested[0]))

/* Evidence that other programs took the cores. */
static const enum sp_metric_id taken[] = {
	SP_METRIC_outside_share,
	SP_METRIC_worker_outside_share,
	SP_METRIC_contention_share,
	SP_METRIC_wanted_per_core,
};
#define TAKEN (sizeof(taken) / sizeof(taken[0]))

/* A sign that is another metric under a condition: the same number again is no evidence. */
static bool is_copy(enum sp_metric_id sign)
{
	return sign == SP_METRIC_steps || sign == SP_METRIC_unfed_loop_share ||
	       sign == SP_METRIC_unfed_wait_share;
}

static void gather_evidence(struct sp_verdict *v)
{
	const struct sp_rule *r = &rules[v->id];
	bool is_wait = r->cost == SP_METRIC_lost_wait_share;

	if (!r->is_state) {
		if (is_wait)
			rest_on_sum(v);
		rest_on(v, r->cost);
		if (!is_copy(r->sign))
			rest_on(v, r->sign);
	}
	read_template(r->sentence, v, rest_on_part);
	if (r->cost == SP_METRIC_first_batch_share) {
		rest_on(v, SP_METRIC_first_wait_share);
		rest_on(v, SP_METRIC_loader_start_share);
	}
	for (size_t i = 0; v->id == SP_VERDICT_machine_busy && i < TAKEN; i++)
		rest_on(v, taken[i]);
	if (v->doubts[SP_DOUBT_outsiders])
		rest_on(v, SP_METRIC_untold_processes);
	for (size_t i = 0; v->metrics.is_from_digest && i < DIGESTED; i++)
		rest_on(v, digested[i]);
	if (v->id == SP_VERDICT_compute) {
		rest_on(v, SP_METRIC_model_share);
		rest_on(v, SP_METRIC_unmarked_share);
		if (value_of(v, SP_METRIC_own_update_share) > 0)
			rest_on(v, SP_METRIC_own_update_share);
	}
	if (v->id == SP_VERDICT_unknown)
		rest_on(v, SP_METRIC_update_share);
	if (value_of(v, SP_METRIC_idle_call_share) > 0 &&
	    (v->id == SP_VERDICT_compute || v->id == SP_VERDICT_unknown))
		rest_on(v, SP_METRIC_idle_call_share);
	if (v->id == SP_VERDICT_contention)
		rest_on(v, SP_METRIC_bystander_cores);
	rest_on(v, SP_METRIC_steps);
	rest_on(v, SP_METRIC_step_mean_ns);
	for (size_t i = 0; v->id == SP_VERDICT_cannot_tell && i < KNOWNS; i++)
		rest_on(v, knowns[i]);
}

static void check_part(void *context, const char *words, size_t bytes, enum sp_metric_id metric)
{
	struct {
		const struct sp_verdict *v;
		bool all;
	} *check = context;

	(void)words, (void)bytes;
	if (metric < SP_METRICS && !is_known(check->v, metric))
		check->all = false;
}

/* Another number of workers is advised where even the least gain is worth it. */
static bool workers_gain(const struct sp_verdict *v)
{
	struct sp_what_if w = sp_what_if_make(&v->metrics, SP_WHAT_IF_workers, SP_WORKERS_UNASKED);

	return w.is_known && w.high_ns <= w.now_ns * (1 - GAIN_LEAST);
}

/* A library is called by code that goes with it: Pillow's and h5py's Python parts, conversions. */
static double with_code_around(const struct sp_metrics *e, double part)
{
	part += sp_metrics_value(e, SP_METRIC_transform_work_share);
	return part < 1 ? part : 1;
}

/* The part of its rule's cost that the advice is about; 1: all of it. */
static double part_of_cost(const struct sp_metrics *e, enum sp_metric_id metric)
{
	switch (metric) {
	case SP_METRIC_transform_work_share:
	case SP_METRIC_decompress_work_share:
	case SP_METRIC_collate_work_share:
	case SP_METRIC_fetch_blocked_share:
	case SP_METRIC_fetch_contended_share:
	case SP_METRIC_fetch_awaited_share:
	case SP_METRIC_fetch_threads_share:
	case SP_METRIC_fetch_received_share:
	case SP_METRIC_single_batch_share:
	case SP_METRIC_slow_loader_share:
	case SP_METRIC_sampler_wait_share:
		return sp_metrics_value(e, metric);
	case SP_METRIC_decode_work_share:
	case SP_METRIC_hdf5_open_share:
		return with_code_around(e, sp_metrics_value(e, metric));
	case SP_METRIC_image_pixels:
		return with_code_around(e, sp_metrics_value(e, SP_METRIC_decode_work_share));
	case SP_METRIC_jpeg_decode_share:
	case SP_METRIC_png_decode_share:
	case SP_METRIC_video_decode_share:
		return with_code_around(e,
					sp_metrics_value(e, metric) *
						sp_metrics_value(e, SP_METRIC_decode_work_share));
	case SP_METRIC_hdf5_read_share:
		return with_code_around(e, sp_metrics_value(e, metric) *
						   sp_metrics_value(e, SP_METRIC_read_work_share));
	case SP_METRIC_mapped_read_share:
		return sp_metrics_value(e, metric) * sp_metrics_value(e, SP_METRIC_read_work_share);
	case SP_METRIC_read_bytes_mean:
	case SP_METRIC_opens_per_batch:
	case SP_METRIC_read_bytes_per_s:
		return sp_metrics_value(e, SP_METRIC_read_work_share);
	default:
		return 1;
	}
}

/* The metric of the time that the advice takes away, where that is not its rule's cost. */
static enum sp_metric_id time_of(enum sp_advice_id advice)
{
	switch (advice) {
	case SP_ADVICE_first_epoch:
		return SP_METRIC_first_epoch_wait_share;
	case SP_ADVICE_own_queue:
		return SP_METRIC_awaited_share;
	case SP_ADVICE_own_input:
		return SP_METRIC_own_input_share;
	case SP_ADVICE_own_rare:
		return SP_METRIC_rare_own_input_share;
	case SP_ADVICE_one_iterator:
	case SP_ADVICE_persistent_workers:
	case SP_ADVICE_warm_start:
		return SP_METRIC_restart_share;
	case SP_ADVICE_validation_workers:
		return SP_METRIC_validation_wait_share;
	case SP_ADVICE_async_checkpoint:
		return SP_METRIC_loop_save_share;
	case SP_ADVICE_load_ahead:
		return SP_METRIC_loop_load_share;
	case SP_ADVICE_loop_writes:
		return SP_METRIC_write_share;
	case SP_ADVICE_loop_fsync:
		return SP_METRIC_fsync_share;
	case SP_ADVICE_loop_messages:
		return SP_METRIC_message_share;
	case SP_ADVICE_rare_loop:
		return SP_METRIC_rare_loop_share;
	case SP_ADVICE_loop_blocked: /* a thread that wakes may have to wait for a core */
		return SP_METRIC_off_core_share;
	default:
		return SP_METRICS;
	}
}

/* Workers that work less make batches more often: the step becomes shorter by that part of all of
 * it, until there is no wait. The other parts are of the wait itself. */
static bool is_of_work(const struct sp_metrics *e, enum sp_metric_id metric)
{
	return sp_metrics_value(e, SP_METRIC_workers) > 0 &&
	       metric != SP_METRIC_handover_wait_share && metric != SP_METRIC_worker_idle_share &&
	       metric != SP_METRIC_single_batch_share && metric != SP_METRIC_sampler_wait_share &&
	       metric != SP_METRIC_slow_loader_share;
}

/* Keeping memory saves the idleness that no event shows, too. */
static double cost_at_most(const struct sp_metrics *e, enum sp_advice_id advice)
{
	double cost = sp_metrics_value(e, rules[advices[advice].verdict].cost);
	double open = sp_metrics_value(e, SP_METRIC_allocation_open_share);

	return advice == SP_ADVICE_keep_memory && open > cost ? open : cost;
}

double sp_advice_most_share(const struct sp_metrics *e, enum sp_advice_id advice)
{
	const struct sp_advice_rule *a = &advices[advice];
	double cost = cost_at_most(e, advice);
	enum sp_metric_id time = time_of(advice);
	double part;

	if (time < SP_METRICS && e->of[time].is_known && sp_metrics_value(e, time) < cost)
		cost = sp_metrics_value(e, time);
	part = part_of_cost(e, a->metric);
	if (is_of_work(e, a->metric))
		return part < cost ? part : cost;
	return cost * part;
}

enum sp_what_if_id sp_advice_what_if(enum sp_advice_id advice)
{
	switch (advice) {
	case SP_ADVICE_add_workers:
	case SP_ADVICE_use_workers:
	case SP_ADVICE_no_workers:
		return SP_WHAT_IF_workers;
	case SP_ADVICE_handover:
		return SP_WHAT_IF_prefetch;
	case SP_ADVICE_sync_line:
	case SP_ADVICE_fewer_syncs:
		return SP_WHAT_IF_no_syncs;
	case SP_ADVICE_pin_memory:
		return SP_WHAT_IF_pinned_copies;
	default:
		return SP_WHAT_IFS;
	}
}

/* The middle of what it saves is a gain, and where a what-if answers for it, it costs nothing. */
static bool is_worth_it(const struct sp_verdict *v, enum sp_advice_id advice)
{
	enum sp_what_if_id id = sp_advice_what_if(advice);
	struct sp_what_if w = {.is_known = false};

	if (advices[advice].verdict == SP_VERDICT_compute ||
	    rules[advices[advice].verdict].is_state)
		return true;
	if (id != SP_WHAT_IFS)
		w = sp_what_if_make(&v->metrics, id, SP_WORKERS_UNASKED);
	if (!w.is_known)
		return sp_advice_most_share(&v->metrics, advice) >= GAIN_LEAST;
	return w.high_ns <= w.now_ns && (w.low_ns + w.high_ns) / 2 <= w.now_ns * (1 - GAIN_LEAST);
}

/* Another advice says that fewer of them are better. */
static bool is_crowded(const struct sp_verdict *v)
{
	return v->holds[SP_VERDICT_oversubscribed] || v->holds[SP_VERDICT_contention];
}

/* Batches of the late rank and of the others differ, and no rank has the mean of them. */
static bool has_late_rank(const struct sp_verdict *v)
{
	return v->holds[SP_VERDICT_straggler];
}

/* The workers are of several loaders, so one number of them says nothing. */
static bool has_several_loaders(const struct sp_verdict *v, const struct sp_advice_rule *a)
{
	return a != &advices[SP_ADVICE_use_workers] && is_known(v, SP_METRIC_slow_loader_share);
}

static bool is_about_workers(const struct sp_advice_rule *a)
{
	return a == &advices[SP_ADVICE_add_workers] || a == &advices[SP_ADVICE_use_workers] ||
	       a == &advices[SP_ADVICE_no_workers];
}

static bool applies(const struct sp_verdict *v, const struct sp_advice_rule *a)
{
	struct {
		const struct sp_verdict *v;
		bool all;
	} check = {v, true};

	if (!(v->holds[a->verdict] || v->id == a->verdict) || !is_known(v, a->metric) ||
	    value_of(v, a->metric) < a->least || value_of(v, a->metric) > a->most)
		return false;
	read_template(a->text, &check, check_part);
	if (is_about_workers(a) &&
	    (is_crowded(v) || has_late_rank(v) || !workers_gain(v) || has_several_loaders(v, a)))
		return false;
	if (a == &advices[SP_ADVICE_quiet_machine] && !is_beside_others(v))
		return false;
	if (a == &advices[SP_ADVICE_no_workers] && value_of(v, SP_METRIC_workers) < 1)
		return false;
	return check.all && is_worth_it(v, (enum sp_advice_id)(a - advices));
}

/* Another rule that holds makes buying a faster device bad advice. */
static bool is_about(const struct sp_verdict *v, const struct sp_advice_rule *a, bool same)
{
	bool is_same = rules[a->verdict].cost == rules[v->id].cost;

	if (rules[v->id].is_state)
		return same && a->verdict == v->id;
	return is_same == same && (a->verdict != SP_VERDICT_compute || v->id == SP_VERDICT_compute);
}

/* Two pieces of advice about the same time: where the first is given, the second is not. */
static const struct {
	enum sp_advice_id given, left_out;
} instead[] = {
	/* Workers take a cache of the process with them when they end. */
	{SP_ADVICE_first_epoch, SP_ADVICE_add_workers},
	{SP_ADVICE_first_epoch, SP_ADVICE_use_workers},
	{SP_ADVICE_idle_calls, SP_ADVICE_unseen_batches},
	{SP_ADVICE_one_iterator, SP_ADVICE_persistent_workers},
	{SP_ADVICE_one_iterator, SP_ADVICE_warm_start},
	{SP_ADVICE_persistent_workers, SP_ADVICE_warm_start},
	{SP_ADVICE_no_workers, SP_ADVICE_handover},
	{SP_ADVICE_no_workers, SP_ADVICE_persistent_workers},
	{SP_ADVICE_receive, SP_ADVICE_handover},
	{SP_ADVICE_cheaper_sampler, SP_ADVICE_handover},
	{SP_ADVICE_long_forward, SP_ADVICE_unmarked_names},
	{SP_ADVICE_late_rank, SP_ADVICE_overlap_communication},
	{SP_ADVICE_keep_memory, SP_ADVICE_keep_open_memory},
	{SP_ADVICE_quiet_machine, SP_ADVICE_faster_model},
	{SP_ADVICE_quiet_machine, SP_ADVICE_faster_compiled},
	{SP_ADVICE_other_threads, SP_ADVICE_blocked_model},
	{SP_ADVICE_blocked_model, SP_ADVICE_faster_model},
	{SP_ADVICE_cheaper_optimizer, SP_ADVICE_faster_model},
	{SP_ADVICE_cheaper_optimizer, SP_ADVICE_faster_compiled},
	{SP_ADVICE_quiet_machine, SP_ADVICE_cheaper_optimizer},
	{SP_ADVICE_rare_loop, SP_ADVICE_loop_batches},
	{SP_ADVICE_loop_blocked, SP_ADVICE_loop_batches},
	{SP_ADVICE_blocked_model, SP_ADVICE_faster_compiled},
};

static void leave_out(bool given[SP_ADVICES])
{
	for (size_t i = 0; i < sizeof(instead) / sizeof(instead[0]); i++)
		if (given[instead[i].given])
			given[instead[i].left_out] = false;
}

static void advise(struct sp_verdict *v)
{
	bool given[SP_ADVICES];

	for (int i = 0; i < SP_ADVICES; i++)
		given[i] = applies(v, &advices[i]);
	leave_out(given);
	for (int same = 1; same >= 0; same--)
		for (int i = 0; i < SP_ADVICES; i++)
			if (given[i] && is_about(v, &advices[i], same))
				v->advice[v->advice_count++] = (enum sp_advice_id)i;
}

void sp_verdict_judge(struct sp_verdict *v, const struct sp_wait_thresholds *wait)
{
	enum sp_verdict_id state = find_state(v);

	v->id = state;
	if (state == SP_VERDICTS) {
		for (int i = 0; i < SP_VERDICTS; i++)
			v->holds[i] = rule_holds(v, &rules[i], wait);
		v->id = refine(v, find_worst(v));
		if (!rules[v->id].is_state &&
		    (may_be_made_outside(v, wait) || may_be_hidden_outside(v, wait)))
			v->id = SP_VERDICT_machine_busy;
	}
	if (!rules[v->id].is_state) {
		v->cost = value_of(v, rules[v->id].cost);
		v->is_severe = v->cost >= thresholds_of(v, &rules[v->id], wait).severe;
	}
	if (state == SP_VERDICTS || state == SP_VERDICT_cannot_tell)
		advise(v);
	v->is_severe |= state == SP_VERDICT_hung;
	doubt(v, wait);
	gather_evidence(v);
	fill(&v->metrics, _(rules[v->id].sentence), v->text, sizeof(v->text));
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
