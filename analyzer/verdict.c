#include "analyzer/verdict.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/report.h"
#include "analyzer/translate.h"

#define STEPS_MIN 5	 /* below: too few to tell */
#define STEPS_ENOUGH 20 /* below: a doubt */
#define NEAR 0.2	 /* of a threshold */
#define RIVAL 0.8	 /* of the greatest cost */
#define OTHER_MOST 0.5
#define WANTED_ALONE 1.5 /* threads a core: fewer do not take a fifth of their time from each other */

static const struct sp_rule rules[SP_VERDICTS] = {
#define SP_STATE(id, code, sentence, meaning, remedy)                                              \
	[SP_VERDICT_##id] = {code, sentence, meaning, remedy, true, SP_MEASURES, SP_MEASURES, 0,   \
			     SP_VERDICT_##id, 0, 0},
#define SP_RULE(id, code, cost, moderate, severe, sign, least_sign, refines, sentence, meaning, remedy) \
	[SP_VERDICT_##id] = {code, sentence, meaning, remedy, false, SP_MEASURE_##cost,            \
			     SP_MEASURE_##sign, least_sign, SP_VERDICT_##refines, moderate, severe},
#include "analyzer/verdict.def"
#undef SP_RULE
#undef SP_STATE
};

static const struct sp_advice_rule advices[SP_ADVICES] = {
#define SP_ADVICE(id, verdict, measure, least, most, text)                                         \
	{#id, text, SP_VERDICT_##verdict, SP_MEASURE_##measure, least, most},
#include "analyzer/advice.def"
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
#include "analyzer/doubt.def"
#undef SP_DOUBT
	};

	return _(texts[doubt]);
}

/* Calls take() for each {measure} of a template, and for the words between them. */
static void read_template(const char *text, void *context,
			  void (*take)(void *context, const char *words, size_t bytes,
				       enum sp_measure_id measure))
{
	while (*text) {
		size_t words = strcspn(text, "{");
		const char *end = strchr(text + words, '}');

		if (!end) {
			take(context, text, strlen(text), SP_MEASURES);
			return;
		}
		take(context, text, words,
		     sp_measure_find(text + words + 1, (size_t)(end - text) - words - 1));
		text = end + 1;
	}
}

struct filling {
	const struct sp_evidence *evidence;
	char *ret;
	size_t room;
};

static void fill_part(void *context, const char *words, size_t bytes, enum sp_measure_id measure)
{
	struct filling *f = context;
	char value[SP_EVIDENCE_TEXT_BYTES] = "";
	int n;

	if (measure < SP_MEASURES)
		sp_measure_text(f->evidence, measure, value, sizeof(value));
	n = snprintf(f->ret, f->room, "%.*s%s", (int)bytes, words, value);
	n = n < (int)f->room ? n : (int)f->room - 1;
	f->ret += n;
	f->room -= (size_t)n;
}

static void fill(const struct sp_evidence *e, const char *template, char *ret, size_t ret_bytes)
{
	struct filling f = {e, ret, ret_bytes};

	*ret = '\0';
	read_template(template, &f, fill_part);
}

void sp_advice_text(const struct sp_verdict *v, enum sp_advice_id advice, char *ret,
		    size_t ret_bytes)
{
	fill(&v->evidence, _(advices[advice].text), ret, ret_bytes);
}

static double value_of(const struct sp_verdict *v, enum sp_measure_id measure)
{
	return sp_evidence_value(&v->evidence, measure);
}

static bool is_known(const struct sp_verdict *v, enum sp_measure_id measure)
{
	return v->evidence.of[measure].is_known;
}

/* Which thresholds a rule's cost has to reach. */
static struct sp_wait_thresholds thresholds_of(const struct sp_verdict *v, const struct sp_rule *r,
					       const struct sp_wait_thresholds *wait)
{
	struct sp_wait_thresholds t = {r->moderate, r->severe};

	if (r->cost == SP_MEASURE_lost_wait_share)
		return *wait;
	/* Each run has one start, however short it is. */
	if (r->cost == SP_MEASURE_first_batch_share &&
	    (value_of(v, SP_MEASURE_epochs) < 2 ||
	     (is_known(v, SP_MEASURE_restart_share) && value_of(v, SP_MEASURE_restart_share) < r->moderate)))
		t.moderate = r->severe;
	return t;
}

static bool rule_holds(const struct sp_verdict *v, const struct sp_rule *r,
		       const struct sp_wait_thresholds *wait)
{
	return !r->is_state && is_known(v, r->cost) && is_known(v, r->sign) &&
	       value_of(v, r->cost) >= thresholds_of(v, r, wait).moderate &&
	       value_of(v, r->sign) >= r->least_sign;
}

static enum sp_verdict_id find_state(const struct sp_verdict *v)
{
	if (!is_known(v, SP_MEASURE_steps))
		return v->evidence.has_loader_calls ? SP_VERDICT_no_steps : SP_VERDICT_no_trainer;
	return value_of(v, SP_MEASURE_steps) < STEPS_MIN ? SP_VERDICT_too_few_steps : SP_VERDICTS;
}

/* The rule of the greatest cost among those that stand for themselves; compute only by itself. */
static enum sp_verdict_id find_worst(const struct sp_verdict *v)
{
	enum sp_verdict_id worst = SP_VERDICT_compute;

	for (int i = 0; i < SP_VERDICTS; i++) {
		if (i == SP_VERDICT_compute || !v->holds[i] || (int)rules[i].refines != i)
			continue;
		if (worst == SP_VERDICT_compute ||
		    value_of(v, rules[i].cost) > value_of(v, rules[worst].cost))
			worst = (enum sp_verdict_id)i;
	}
	if (worst == SP_VERDICT_compute && value_of(v, SP_MEASURE_other_share) >= OTHER_MOST)
		worst = SP_VERDICT_unknown;
	return worst;
}

static enum sp_verdict_id refine(const struct sp_verdict *v, enum sp_verdict_id base)
{
	enum sp_verdict_id told = base;

	for (int i = 0; i < SP_VERDICTS; i++)
		if (v->holds[i] && rules[i].refines == base)
			told = (enum sp_verdict_id)i;
	return told;
}

static bool is_near(double value, double threshold)
{
	return value > threshold * (1 - NEAR) && value < threshold * (1 + NEAR);
}

static bool has_rival(const struct sp_verdict *v)
{
	for (int i = 0; i < SP_VERDICTS; i++)
		if (v->holds[i] && i != SP_VERDICT_compute &&
		    rules[i].cost != rules[v->id].cost && v->cost < 1 &&
		    value_of(v, rules[i].cost) >= RIVAL * v->cost)
			return true;
	return false;
}

static void doubt(struct sp_verdict *v, const struct sp_wait_thresholds *wait)
{
	const struct sp_rule *r = &rules[v->id];
	bool by_wait = r->cost == SP_MEASURE_lost_wait_share;
	int doubts = 0;

	v->doubts[SP_DOUBT_few_steps] =
		!r->is_state && value_of(v, SP_MEASURE_steps) < STEPS_ENOUGH;
	v->doubts[SP_DOUBT_lost] = v->evidence.events_lost != 0;
	v->doubts[SP_DOUBT_unknown_events] = v->evidence.events_unknown != 0;
	v->doubts[SP_DOUBT_unread] = v->evidence.files_unread != 0;
	v->doubts[SP_DOUBT_near] =
		v->id == SP_VERDICT_compute
			? is_near(value_of(v, SP_MEASURE_lost_wait_share), wait->moderate)
			: !r->is_state && is_near(v->cost, thresholds_of(v, r, wait).moderate);
	v->doubts[SP_DOUBT_rival] = v->id != SP_VERDICT_compute && has_rival(v);
	v->doubts[SP_DOUBT_queue] = by_wait && v->evidence.has_device && !v->evidence.is_queue_known;
	v->doubts[SP_DOUBT_outsiders] =
		value_of(v, SP_MEASURE_contention_share) >= rules[SP_VERDICT_contention].severe &&
		is_known(v, SP_MEASURE_wanted_per_core) &&
		value_of(v, SP_MEASURE_wanted_per_core) < WANTED_ALONE;
	v->doubts[SP_DOUBT_work_unseen] = by_wait && v->id != SP_VERDICT_handover && !is_known(v, SP_MEASURE_decode_work_share);
	v->doubts[SP_DOUBT_rare_input] = by_wait && 2 * value_of(v, SP_MEASURE_rare_own_input_share) > v->cost;
	v->doubts[SP_DOUBT_unfed] = v->id == SP_VERDICT_compute && v->evidence.is_unfed;
	for (int i = 0; i < SP_DOUBTS; i++)
		doubts += v->doubts[i];
	v->confidence = doubts >= 2 ? SP_CONFIDENCE_LOW : (enum sp_confidence)(SP_CONFIDENCE_HIGH - doubts);
}

static void rest_on(struct sp_verdict *v, enum sp_measure_id measure)
{
	for (uint32_t i = 0; i < v->rests_on_count; i++)
		if (v->rests_on[i] == measure)
			return;
	if (is_known(v, measure) && v->rests_on_count < SP_VERDICT_EVIDENCE_MAX)
		v->rests_on[v->rests_on_count++] = measure;
}

static void rest_on_part(void *context, const char *words, size_t bytes, enum sp_measure_id measure)
{
	(void)words, (void)bytes;
	if (measure < SP_MEASURES)
		rest_on(context, measure);
}

static void gather_evidence(struct sp_verdict *v)
{
	const struct sp_rule *r = &rules[v->id];

	if (!r->is_state) {
		rest_on(v, r->cost);
		if (r->sign != SP_MEASURE_steps)
			rest_on(v, r->sign);
	}
	read_template(r->sentence, v, rest_on_part);
	if (r->cost == SP_MEASURE_lost_wait_share)
		rest_on(v, SP_MEASURE_loader_wait_share);
	rest_on(v, SP_MEASURE_steps);
	rest_on(v, SP_MEASURE_step_ns);
}

static void check_part(void *context, const char *words, size_t bytes, enum sp_measure_id measure)
{
	struct {
		const struct sp_verdict *v;
		bool all;
	} *check = context;

	(void)words, (void)bytes;
	if (measure < SP_MEASURES && !is_known(check->v, measure))
		check->all = false;
}

static bool applies(const struct sp_verdict *v, const struct sp_advice_rule *a)
{
	struct {
		const struct sp_verdict *v;
		bool all;
	} check = {v, true};

	if (!v->holds[a->verdict] || !is_known(v, a->measure) ||
	    value_of(v, a->measure) < a->least || value_of(v, a->measure) > a->most)
		return false;
	read_template(a->text, &check, check_part);
	return check.all;
}

/* What holds besides compute makes it no advice to buy a faster device. */
static bool is_of(const struct sp_verdict *v, const struct sp_advice_rule *a, bool told)
{
	bool same = rules[a->verdict].cost == rules[v->id].cost;

	return same == told && (a->verdict != SP_VERDICT_compute || v->id == SP_VERDICT_compute);
}

static void advise(struct sp_verdict *v)
{
	for (int told = 1; told >= 0; told--)
		for (int i = 0; i < SP_ADVICES; i++)
			if (is_of(v, &advices[i], told) && applies(v, &advices[i]))
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
	}
	if (!rules[v->id].is_state) {
		v->cost = value_of(v, rules[v->id].cost);
		v->is_severe = v->cost >= thresholds_of(v, &rules[v->id], wait).severe;
		advise(v);
	}
	doubt(v, wait);
	gather_evidence(v);
	fill(&v->evidence, _(rules[v->id].sentence), v->text, sizeof(v->text));
}

int sp_verdict_make(struct sp_verdict *v, const struct sp_report *report,
		    const struct sp_wait_thresholds *wait)
{
	int r;

	*v = (struct sp_verdict){.cost = 0};
	r = sp_evidence_gather(&v->evidence, report);
	if (r == 0)
		sp_verdict_judge(v, wait);
	return r;
}
