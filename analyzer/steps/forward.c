/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/forward.h"

#include "analyzer/base/intervals.h"
#include "analyzer/steps/step_machine.h"

/*
 * Learners with several optimizers step one of them after a target network's call: with three of
 * them that is a third of the steps, and fewer where some are stepped less often.
 */
#define USUAL_SHARE 4u

/*
 * A batch's calls without gradients of the model that trains, for each with gradients: beyond so
 * many they make the batch (text that is generated and then learned from). Where they are many, as
 * the words of a text are, half as many for each are enough: a batch that is embedded in parts,
 * first without gradients, has one for each.
 */
#define MAKES_BATCH 4u
#define MAKES_LONG_BATCH 2u
#define LONG_BATCH 12u

#define ALIKE 2u /* times: stretches of the same work */

/* As it is seen from the last interval to the first. */
struct judge {
	bool has_backward;    /* of this step, later on */
	bool has_environment; /* before that backward */
	bool has_loader;      /* before that backward: earlier intervals are not of its batch */
	bool is_fed;	      /* the backward's batch came from a loader */
	bool is_usual;	      /* many steps so far had another model's forward without gradients */
	bool has_no_grad;     /* this one has */
	bool makes_batch;     /* calls of the model that trains make what it trains on */
	bool has_optimizer;   /* of this step, later on */
	bool has_none; /* no backward so far in the whole run: gradients come from elsewhere */
	bool is_guess; /* calls without gradients, and no loader shows their purpose */
};

static bool is_training(struct judge *j, const struct sp_phase_interval *p)
{
	if (j->has_none && j->has_optimizer) {
		j->is_guess = true;
		return true;
	}
	if (!j->has_backward || j->has_environment)
		return false;
	if (p->kind == SP_INTERVAL_FORWARD)
		return true;
	j->is_guess |= !j->is_fed || j->makes_batch;
	if (p->kind == SP_INTERVAL_LEARNER)
		return !j->has_loader && j->is_fed && !j->makes_batch;
	j->has_no_grad |= !j->has_loader;
	return !j->has_loader && (j->is_fed || j->is_usual);
}

static bool is_fed(const struct sp_cutter *c, uint32_t backward)
{
	uint32_t n = sp_interval_last(c->intervals, backward, T(LOADER) | T(BACKWARD));

	return n && c->intervals[n - 1].kind == SP_INTERVAL_LOADER;
}

/* A call without gradients that none of the step's own is. */
static enum sp_phase_interval_kind evaluated_kind(const struct judge *j,
						  const struct sp_phase_interval *p)
{
	bool makes = p->kind == SP_INTERVAL_LEARNER && j->has_backward && j->is_fed &&
		     j->makes_batch && !j->has_loader && !j->has_environment;

	return makes ? SP_INTERVAL_GENERATION : SP_INTERVAL_EVALUATION;
}

static void judge_one(struct judge *j, struct sp_cutter *c, uint32_t i)
{
	struct sp_phase_interval *p = &c->intervals[i];

	switch (p->kind) {
	case SP_INTERVAL_BACKWARD:
		j->has_environment = j->has_loader = false;
		j->has_backward = true;
		j->is_fed = is_fed(c, i);
		break;
	case SP_INTERVAL_OPTIMIZER:
	case SP_INTERVAL_UPDATE:
		j->has_backward = false;
		j->has_optimizer = !p->is_round; /* no call before a round belongs to it */
		break;
	case SP_INTERVAL_LOADER:
	case SP_INTERVAL_LOADER_END:
		j->has_loader = true;
		break;
	case SP_INTERVAL_ENVIRONMENT:
		j->has_environment = true;
		break;
	case SP_INTERVAL_FORWARD:
	case SP_INTERVAL_NO_GRAD:
	case SP_INTERVAL_LEARNER:
		p->has_gradients = p->kind == SP_INTERVAL_FORWARD;
		p->kind = is_training(j, p) ? SP_INTERVAL_FORWARD : evaluated_kind(j, p);
		break;
	default:
		break;
	}
}

/* The calls between a loader's last batch and the last backward. */
struct batch_calls {
	uint32_t forwards, learners;
};

static struct batch_calls find_batch_calls(const struct sp_cutter *c)
{
	struct batch_calls calls = {0};
	bool has_backward = false;

	for (uint32_t i = c->count; i > 0; i--) {
		enum sp_phase_interval_kind kind = c->intervals[i - 1].kind;

		has_backward |= kind == SP_INTERVAL_BACKWARD;
		if (has_backward && kind == SP_INTERVAL_LOADER)
			break;
		calls.forwards += kind == SP_INTERVAL_FORWARD;
		calls.learners += has_backward && kind == SP_INTERVAL_LEARNER;
	}
	return calls;
}

/*
 * Without a call with gradients the calls without them are the forward: solvers of differential
 * equations, reversible blocks and reentrant checkpointing call the model again in backward.
 */
static bool makes_batch(const struct batch_calls *calls)
{
	uint32_t times = calls->learners >= LONG_BATCH ? MAKES_LONG_BATCH : MAKES_BATCH;

	return calls->forwards && calls->learners > times * calls->forwards;
}

/* Calls of the model that follow each other and that no backward follows. */
struct evaluation {
	uint32_t before, first; /* after the structure before its first call; that call */
	uint32_t since;		/* the interval after its last call so far; 0: there is no call */
	uint32_t pieces;	/* of work between two calls */
	uint64_t lead_ns;	/* before its first call */
	uint64_t ns, most_ns;	/* all pieces; the longest */
	uint8_t row;		/* of the account, of its last call */
};

/* The time before interval i, from the end of interval from - 1 on; of the first one, from the end
 * of the step before. */
static uint64_t time_before(const struct sp_cutter *c, uint32_t from, uint32_t i)
{
	int64_t from_ns = from ? c->intervals[from - 1].end_ns : c->from_ns;

	return from || c->has_from ? sp_interval_ns(from_ns, c->intervals[i].start_ns) : 0;
}

/* The intervals [from, i), before one of structure, are the evaluation's. */
static void claim(struct sp_cutter *c, uint32_t from, uint32_t i, uint8_t row)
{
	for (uint32_t k = from; k < i; k++)
		c->intervals[k].evaluated = row;
	c->intervals[i].is_led_by_evaluation = true;
}

static void evaluate(struct evaluation *e, struct sp_cutter *c, uint32_t before, uint32_t i)
{
	uint8_t row = (uint8_t)sp_phase_interval_phase(c->intervals[i].kind);
	uint64_t ns = time_before(c, before, i);

	if (!e->since) {
		*e = (struct evaluation){before, i, i + 1, .lead_ns = ns, .row = row};
		return;
	}
	e->pieces++;
	e->ns += ns;
	e->most_ns = ns > e->most_ns ? ns : e->most_ns;
	for (; e->since < i; e->since++)
		c->intervals[e->since].evaluated = e->row;
	e->since = i + 1;
	e->row = row;
}

/* As long as a piece of the evaluation's work: one may be longer than usual, and calls of two
 * models follow each other at once. */
static bool is_piece(const struct evaluation *e, uint64_t ns)
{
	return ns && ns * ALIKE * e->pieces >= e->ns && ns <= ALIKE * e->most_ns;
}

/* Where the calls are led by what they are made of, the first one is; where each but the last is
 * followed by work (a step of an environment), so is the last one. */
static void end_evaluation(struct evaluation *e, struct sp_cutter *c, uint32_t i)
{
	if (e->since && e->row == SP_ACCOUNT_evaluation && is_piece(e, e->lead_ns))
		claim(c, e->before, e->first, e->row);
	else if (e->since && is_piece(e, time_before(c, e->since, i)))
		claim(c, e->since, i, e->row);
	e->since = 0;
}

static void mark_evaluated(struct sp_cutter *c)
{
	struct evaluation e = {.since = 0};
	uint32_t before = 0, i = 0; /* before: after the last interval of structure */

	for (; (i = sp_interval_next(c->intervals, i, c->count, STRUCTURE)) < c->count; i++) {
		if (sp_interval_is(&c->intervals[i], EVALUATED))
			evaluate(&e, c, before, i);
		else
			end_evaluation(&e, c, i);
		before = i + 1;
	}
}

void sp_forward_judge(struct sp_cutter *c)
{
	struct batch_calls calls = find_batch_calls(c);
	struct judge j = {
		.is_usual = c->no_grad_steps &&
			    c->no_grad_steps >= c->steps->optimizer_count / USUAL_SHARE,
		.makes_batch = makes_batch(&calls),
		.has_none = !c->steps->has_backward && c->steps->end == SP_STEP_BY_OPTIMIZER,
		.is_guess = calls.learners && !calls.forwards,
	};

	for (uint32_t i = c->count; i > 0; i--)
		judge_one(&j, c, i - 1);
	c->no_grad_steps += j.has_no_grad;
	c->steps->is_forward_guessed |= j.is_guess;
	mark_evaluated(c);
}
