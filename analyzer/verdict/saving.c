/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/verdict/saving.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/base/each.h"
#include "analyzer/text/translate.h"
#include "analyzer/verdict/terms.h"
#include "analyzer/verdict/verdict_text.h"

#define TAKEN (-2.0)	/* below the weight of any advice that is left */
#define STARTS_SURE 0.8 /* an epoch has a start without workers, too */
#define CACHES_SHOWN 0.01
#define NEAR_WEIGHTS 0.2   /* of the greater: the middles of two ranges are no order */
#define SHOWN_LEAST 0.0005 /* a smaller share is shown as 0.0% */

/* Waiting for input. First batches have to be made, too: beside their start, their wait has the
 * same work. */
static double input_share(const struct sp_metrics *e)
{
	double cost = V(lost_wait_share);

	return cost > 0 ? cost + (V(first_made_share) + sp_what_if_cache_share(e)) : cost;
}

/* The loop gives back what workers sent. */
static double release_share(const struct sp_metrics *e)
{
	double step_ns = V(step_mean_ns), ns = sp_batches_a_step(e) * V(release_ns);

	return step_ns > 0 ? ns / step_ns : 0;
}

/* Workers that work less make batches more often: the step becomes shorter by that part of all of
 * it, until there is no wait. Without workers it becomes shorter by that part of the wait. */
static double work_share(const struct sp_metrics *e, double part)
{
	return V(workers) > 0 ? fmin(part, input_share(e)) : input_share(e) * part;
}

static double code_around(const struct sp_metrics *e, double part)
{
	double whole = 1 - V(core_work_share);

	return whole > 0 ? fmin((part + V(transform_work_share)) / whole, 1) : part;
}

/* The training time ends with the last step, before the loop's own code that follows it. */
static double with_last_step(const struct sp_metrics *e, double share)
{
	double steps = V(steps) / (e->trainers ? e->trainers : 1), whole;

	if (steps < 2)
		return share;
	whole = share * steps / (steps - 1);
	return whole / (1 - share + whole);
}

static double restart_share(const struct sp_metrics *e)
{
	return fmin(OR_ALL(restart_share), V(first_batch_share));
}

/* The column `saves` of advice.def: `most`, and the what-if that says more. */
struct bound {
	enum sp_what_if_id what_if;
	double most;			  /* below 0: none */
	double beside_least, beside_most; /* outside of the steady steps of the what-if */
};

#define NO_SAVING ((struct bound){SP_WHAT_IFS, -1, 0, 0})
#define UP_TO(share) ((struct bound){SP_WHAT_IFS, share, 0, 0})
#define WHAT_IF(id, share) ((struct bound){SP_WHAT_IF_##id, share, 0, 0})
#define WHAT_IF_BESIDE(id, share, least, most) ((struct bound){SP_WHAT_IF_##id, share, least, most})

/* A what-if is about steady steps. */
#define OF_TRAINING(share) ((share)*OR_ALL(steady_share))
#define INPUT input_share(e)
#define WORK(part) work_share(e, part)
/* A library is called by code that goes with it: Pillow's and h5py's Python parts, conversions, and
 * the release of what was unpacked. The rest waits less for a core. */
#define CODE_AROUND(part) code_around(e, part)
#define WITH_LAST_STEP(share) with_last_step(e, share)
#define LOOP(share) WITH_LAST_STEP(fmin(share, V(loop_share)))
/* Fewer tensors take less time of the workers, too, but not of that in which they are blocked. */
#define RECEIVED(share) ((share)*fmax(V(handover_wait_share), 1 - V(fetch_blocked_share)))
#define RESTARTS restart_share(e)
/* Starts and ends of workers: waits for first batches beyond making these. */
#define STARTS (STARTS_SURE * fmax(V(first_batch_share) - V(first_made_share), 0))
/* One rank keeps all others waiting, and waits itself for none. */
#define OF_OTHER_RANKS(share)                                                                      \
	(e->trainers > 1 ? (share) * (e->trainers / (e->trainers - 1.0)) : (share))

static struct bound bound_of(const struct sp_metrics *e, enum sp_advice_id advice)
{
	switch (advice) {
#define SP_ADVICE(id, verdict, metric, least, most, when, saves, unless, costs, text)              \
	case SP_ADVICE_##id:                                                                       \
		return saves;
#include "analyzer/verdict/advice.def"
	case SP_ADVICES:
		break;
	}
	return NO_SAVING;
}

/* Not known where the advice has no what-if, or the run does not give it. */
static struct sp_what_if what_if_of(const struct sp_metrics *e, enum sp_what_if_id id)
{
	return id == SP_WHAT_IFS ? (struct sp_what_if){.is_known = false}
				 : sp_what_if_make(e, id, SP_WORKERS_UNASKED);
}

bool sp_advice_is_worth_it(const struct sp_metrics *e, enum sp_advice_id advice)
{
	struct bound bound = bound_of(e, advice);
	struct sp_what_if w = what_if_of(e, bound.what_if);

	if (w.is_known)
		return w.usual_ns <= w.now_ns &&
		       (w.low_ns + w.usual_ns) / 2 <= w.now_ns * (1 - SP_GAIN_SEEN);
	return bound.most < 0 || bound.most >= SP_GAIN_SEEN;
}

/* No loader can save more than input for free. */
static double least_step_ns(const struct sp_metrics *e, enum sp_what_if_id id)
{
	bool is_input = id == SP_WHAT_IF_workers || id == SP_WHAT_IF_prefetch;
	struct sp_what_if w = what_if_of(e, is_input ? SP_WHAT_IF_input_free : SP_WHAT_IFS);

	return w.is_known ? w.low_ns : 0;
}

struct sp_saving sp_advice_saving(const struct sp_metrics *e, enum sp_advice_id advice)
{
	struct bound bound = bound_of(e, advice);
	struct sp_what_if w = what_if_of(e, bound.what_if);
	struct sp_saving saving = {.what_if = SP_WHAT_IFS, .most = fmax(bound.most, 0)};

	if (w.is_known && w.now_ns > 0) {
		saving.what_if = bound.what_if;
		saving.least = OF_TRAINING(fmax(1 - w.high_ns / w.now_ns, 0)) + bound.beside_least;
		saving.most = OF_TRAINING(fmax(1 - fmax(w.low_ns, least_step_ns(e, bound.what_if)) /
							       w.now_ns,
					       0)) +
			      bound.beside_most;
	}
	saving.is_known = saving.most >= SHOWN_LEAST;
	saving.has_caches =
		!w.is_known &&
		sp_rule_of(sp_advice_rule_of(advice)->verdict)->cost == SP_METRIC_lost_wait_share &&
		saving.most > V(lost_wait_share) + V(first_made_share) + CACHES_SHOWN;
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
	return SP_ANY(i, v->advice_count,
		      is_of_verdict(v, v->advice[i]) &&
			      sp_advice_saving(&v->metrics, v->advice[i]).is_known);
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

/* The advice of the greatest weight, or the first of those that are near to it, among all, or among
 * those on the verdict's own cost. */
static uint32_t heaviest(const struct sp_verdict *v, const double weights[], bool is_own)
{
	double most = TAKEN, of[SP_ADVICES];
	uint32_t best = v->advice_count;

	for (uint32_t i = 0; i < v->advice_count; i++) {
		of[i] = !is_own || is_of_verdict(v, v->advice[i]) ? weights[i] : TAKEN;
		most = fmax(most, of[i]);
	}
	for (uint32_t i = v->advice_count; i-- > 0;)
		if (of[i] > TAKEN && of[i] >= most - NEAR_WEIGHTS * fmax(most, 0))
			best = i;
	return best;
}

void sp_advice_by_saving(const struct sp_verdict *v, enum sp_advice_id ret[SP_ADVICES])
{
	double weights[SP_ADVICES];
	bool has_bound = has_bound_for_verdict(v);

	for (uint32_t i = 0; i < v->advice_count; i++)
		weights[i] = weight_of(v, v->advice[i], has_bound);
	for (uint32_t n = 0; n < v->advice_count; n++) {
		uint32_t own = heaviest(v, weights, n == 0);
		uint32_t next = own < v->advice_count ? own : heaviest(v, weights, false);

		ret[n] = v->advice[next];
		weights[next] = TAKEN;
	}
}

void sp_saving_text(const struct sp_saving *s, bool is_brief, char *ret, size_t ret_bytes)
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
	snprintf(ret, ret_bytes, is_brief ? _("saves %s") : _("saves %s of the training time"),
		 shares);
	if (s->has_caches)
		/* Translators: follows "saves up to 50%": the work on batches in the training
		 * process makes its other work slower, by the caches that it fills. */
		strncat(ret, _(", caches included"), ret_bytes - strlen(ret) - 1);
}

void sp_advice_saved_text(const struct sp_verdict *v, enum sp_advice_id advice, bool is_brief,
			  char *ret, size_t ret_bytes)
{
	struct sp_saving saving = sp_advice_saving(&v->metrics, advice);
	char saves[SP_SAVING_TEXT_BYTES], text[SP_VERDICT_TEXT_BYTES];

	if (is_brief)
		sp_advice_plain_text(v, advice, text, sizeof(text));
	else
		sp_advice_text(v, advice, text, sizeof(text));
	sp_saving_text(&saving, is_brief, saves, sizeof(saves));
	snprintf(ret, ret_bytes, *saves ? _("(%s) %s") : "%s%s", saves, text);
}
