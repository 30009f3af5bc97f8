/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/step_cut.h"

#include <string.h>

#include "analyzer/base/each.h"
#include "analyzer/base/grow.h"
#include "analyzer/steps/interval_nest.h"
#include "analyzer/steps/step_machine.h"

#define ANSWER_LONG 4		 /* times the bytes that were sent: an answer with data */
#define LOADS_RARE 8u		 /* steps for one with a load of weights, or more */
#define OWN_WAIT_LEAST_NS 100000 /* of intervals that are kept: shorter ones may be many */

struct sp_pause *sp_cut_pause(struct sp_steps *s)
{
	struct sp_pause *pause = SP_LIST_ADD(s->pauses, s->pause_count, s->pause_room);

	s->is_out_of_memory |= !pause;
	if (pause)
		pause->step = s->count;
	return pause;
}

static void add_wait(struct sp_steps *s, const struct sp_phase_interval *p)
{
	struct sp_interval *wait = SP_LIST_ADD(s->waits, s->wait_count, s->wait_room);

	s->is_out_of_memory |= !wait;
	if (wait)
		*wait = (struct sp_interval){p->start_ns, p->end_ns, 0};
}

/* The first interval of structure from i on; NULL: there is none. */
static const struct sp_phase_interval *next_structure(const struct sp_cutter *c, uint32_t i)
{
	i = sp_interval_next(c->intervals, i, c->count, STRUCTURE);
	return i < c->count ? &c->intervals[i] : NULL;
}

/* A model's call since the last batch or optimizer step, and since the last backward. */
struct calls {
	bool has_any, has_new;
};

static void note_call(struct calls *calls, enum sp_phase_interval_kind kind)
{
	if (kind == SP_INTERVAL_FORWARD)
		*calls = (struct calls){true, true};
	else if (kind == SP_INTERVAL_BACKWARD)
		calls->has_new = false;
	else if (kind == SP_INTERVAL_LOADER || kind == SP_INTERVAL_OPTIMIZER ||
		 kind == SP_INTERVAL_UPDATE)
		*calls = (struct calls){false, false};
}

/* Where uncovered time lies. */
struct gap {
	struct calls calls;
	uint8_t last, previous;		      /* the kinds of the structure before it */
	const struct sp_phase_interval *next; /* the structure that it leads to */
};

#define GUARD(name, when)                                                                          \
	static bool guard_##name(const struct gap *gap)                                            \
	{                                                                                          \
		(void)gap;                                                                         \
		return when;                                                                       \
	}

GUARD(always, true)
GUARD(has_call, gap->calls.has_any)
GUARD(has_open_call, gap->calls.has_new)
GUARD(is_evaluated, gap->next->is_led_by_evaluation)
GUARD(follows_evaluation, gap->last == SP_INTERVAL_EVALUATION)
GUARD(follows_restart,
      gap->last == SP_INTERVAL_LOADER_BEGIN && gap->previous == SP_INTERVAL_LOADER_END)
GUARD(is_generated,
      gap->last == SP_INTERVAL_GENERATION &&
	      (gap->next->kind == SP_INTERVAL_GENERATION || gap->next->is_led_by_evaluation))

static const struct {
	uint64_t tokens;
	bool (*guard)(const struct gap *gap);
	enum sp_account_phase phase;
	enum sp_step_rule row;
} gaps[] = {
#define SP_GAP(token, guard, phase, why, suite, test)                                              \
	{token, guard_##guard, SP_ACCOUNT_##phase, SP_ROW_gap_##phase##_##guard},
#include "analyzer/steps/step.def"
};

/* The phase that time before interval i belongs to. */
static enum sp_account_phase phase_towards(const struct sp_cutter *c, uint32_t i, struct gap *gap)
{
	uint64_t tokens;

	gap->next = next_structure(c, i);
	tokens = gap->next ? sp_interval_tokens(gap->next) : 0;
	for (uint32_t k = 0; k < sizeof(gaps) / sizeof(gaps[0]); k++)
		if ((gaps[k].tokens & tokens) && gaps[k].guard(gap) &&
		    gaps[k].row != sp_step_row_off)
			return gaps[k].phase;
	return SP_ACCOUNT_other;
}

/* The time to end_ns of a segment. */
static void charge(const struct sp_cutter *c, struct sp_phase_segment segment, int64_t end_ns,
		   struct sp_account *account)
{
	if (account)
		account->ns[segment.phase] += (uint64_t)(end_ns - segment.start_ns);
	if (!account || c->steps->keeps_timeline)
		sp_thread_timeline_add(&c->steps->timeline, segment, end_ns);
}

static void charge_gap(const struct sp_cutter *c, enum sp_account_phase phase, int64_t from_ns,
		       int64_t to_ns, struct sp_account *account)
{
	uint8_t *source = &c->steps->sources[phase];

	charge(c,
	       (struct sp_phase_segment){.start_ns = from_ns,
					 .phase = (uint8_t)phase,
					 .within = (uint8_t)phase,
					 .source = SP_FROM_RESIDUAL},
	       to_ns, account);
	if (to_ns > from_ns && (phase == SP_ACCOUNT_forward || phase == SP_ACCOUNT_loss))
		*source = SP_FROM_RESIDUAL;
}

/* The phase of an interval's own time; `rest`: where its kind has none. */
static enum sp_account_phase phase_of(const struct sp_phase_interval *p, enum sp_account_phase rest)
{
	enum sp_account_phase phase = sp_phase_interval_phase(p->kind);

	if (p->is_round)
		return SP_ACCOUNT_update;
	if (p->is_own)
		return SP_ACCOUNT_loader_wait;
	if (phase != SP_ACCOUNT_other)
		return phase;
	if (p->evaluated)
		return p->evaluated;
	return p->kind == SP_INTERVAL_UNMAP || p->is_message ? SP_ACCOUNT_other : rest;
}

/* Copies and waits go on within what surrounds them. */
static bool is_within(enum sp_account_phase phase)
{
	return phase == SP_ACCOUNT_h2d_copy || phase == SP_ACCOUNT_sync_wait ||
	       phase == SP_ACCOUNT_grad_sync;
}

static void charge_interval(const struct sp_cutter *c, const struct sp_phase_interval *p,
			    enum sp_account_phase rest, struct sp_account *account)
{
	enum sp_account_phase phase = phase_of(p, rest);
	struct sp_phase_segment own = {.start_ns = p->start_ns,
				       .pass = p->pass,
				       .file = p->file,
				       .phase = (uint8_t)phase,
				       .within = (uint8_t)(is_within(phase) ? rest : phase),
				       .cause = p->kind,
				       .source = p->source};

	for (uint32_t i = p->apart_at; i < p->apart_at + p->apart_count; i++) {
		const struct sp_apart *part = &c->aparts.list[i];
		struct sp_phase_segment inner = own;

		charge(c, own, part->start_ns, account);
		inner.start_ns = part->start_ns;
		inner.phase = part->phase;
		inner.within = is_within(part->phase) ? own.within : part->phase;
		inner.cause = part->kind;
		inner.source = part->source;
		charge(c, inner, part->end_ns, account);
		own.start_ns = part->end_ns;
	}
	charge(c, own, p->end_ns, account);
}

/* The time between a request for data and its answers belongs to them. */
static bool asks_on(const struct sp_cutter *c, uint32_t i)
{
	const struct sp_phase_interval *p = &c->intervals[i];

	return p->is_own && p->is_exchange && i + 1 < c->count && p[1].is_own && p[1].is_exchange;
}

/* The loader's calls right before interval i, which may be of the part before. */
static struct gap gap_after(const struct sp_cutter *c, uint32_t i)
{
	struct gap gap = {.last = SP_INTERVAL_NONE, .previous = SP_INTERVAL_NONE};

	for (; i > 0 && gap.previous == SP_INTERVAL_NONE; i--) {
		const struct sp_phase_interval *p = &c->intervals[i - 1];

		if (sp_interval_is(p, LOADERS))
			*(gap.last ? &gap.previous : &gap.last) = p->kind;
		else if (sp_interval_is(p, STRUCTURE))
			break;
	}
	return gap;
}

void sp_cut_charge(const struct sp_cutter *c, uint32_t i, uint32_t n, int64_t from_ns,
		   int64_t to_ns, struct sp_account *account)
{
	struct gap before = gap_after(c, i);
	enum sp_account_phase phase = phase_towards(c, i, &before), gap = phase;

	c->steps->timeline.is_cut = true;
	for (; i < n; i++) {
		struct sp_phase_interval *p = &c->intervals[i];

		p->is_in_other = phase == SP_ACCOUNT_other;
		p->loop_ns = gap == SP_ACCOUNT_other ? (uint64_t)(p->start_ns - from_ns) : 0;
		charge_gap(c, gap, from_ns, p->start_ns, account);
		c->steps->timeline.is_cut |= !account; /* calls of a pause get labels later */
		charge_interval(c, p, phase, account);
		from_ns = p->end_ns;
		note_call(&before.calls, p->kind);
		if (sp_interval_is(p, STRUCTURE)) {
			before.previous = before.last;
			before.last = p->kind;
			phase = phase_towards(c, i + 1, &before);
		}
		gap = p->optimizer_follows ? SP_ACCOUNT_optimizer
		      : asks_on(c, i)	   ? SP_ACCOUNT_loader_wait
					   : phase;
	}
	charge_gap(c, gap, from_ns, to_ns, account);
}

uint64_t sp_cut_loads(const struct sp_cutter *c, uint32_t i, uint32_t n)
{
	const struct sp_phase_interval *p = &c->intervals[i];

	return SP_SUM(uint64_t, k, n - i,
		      p[k].is_load && p[k].kind == SP_INTERVAL_CHECKPOINT
			      ? (uint64_t)(p[k].end_ns - p[k].start_ns)
			      : 0);
}

static void note_sources(const struct sp_cutter *c, const struct sp_phase_interval *p)
{
	struct sp_steps *s = c->steps;
	enum sp_account_phase phase =
		p->is_own ? SP_ACCOUNT_loader_wait : sp_phase_interval_phase(p->kind);
	uint8_t *source = &s->sources[phase];

	if (phase != SP_ACCOUNT_other && p->source > *source)
		*source = p->source;
	for (uint32_t i = p->apart_at; i < p->apart_at + p->apart_count; i++) {
		const struct sp_apart *part = &c->aparts.list[i];

		source = &s->sources[part->phase];
		*source = part->source > *source ? part->source : *source;
	}
}

static bool has_loader(const struct sp_cutter *c, uint32_t i)
{
	const struct sp_phase_interval *p = &c->intervals[i];

	return SP_ANY(k, c->count - i,
		      p[k].kind == SP_INTERVAL_LOADER ||
			      sp_interval_apart_ns(&p[k], &c->aparts, SP_ACCOUNT_loader_wait));
}

/* The intervals [i, result) are one exchange: sends, and then answers. */
static uint32_t end_of_exchange(const struct sp_cutter *c, uint32_t i, int64_t *ret_sent,
				int64_t *ret_answered)
{
	*ret_sent = *ret_answered = 0;
	for (; i < c->count && c->intervals[i].is_exchange; i++) {
		const struct sp_phase_interval *p = &c->intervals[i];

		if (p->kind == SP_INTERVAL_SEND && *ret_answered)
			break;
		*(p->kind == SP_INTERVAL_SEND ? ret_sent : ret_answered) += p->bytes;
	}
	return i;
}

/* Logs and metrics that are sent to a server: the answers are short. A request for a batch is
 * shorter than the batch. */
static void note_messages(struct sp_cutter *c, uint32_t first)
{
	for (uint32_t i = first, next; i<c->count; i = next> i ? next : i + 1) {
		int64_t sent, answered;

		next = end_of_exchange(c, i, &sent, &answered);
		for (uint32_t k = i; k < next; k++)
			c->intervals[k].is_message = sent && answered / ANSWER_LONG < sent;
	}
}

static void note_calls(struct sp_cutter *c, uint32_t first)
{
	struct calls calls = {false, false};

	for (uint32_t i = first; i < c->count; i++) {
		c->intervals[i].follows_call = calls.has_new;
		note_call(&calls, c->intervals[i].kind);
	}
}

/*
 * Weights are loaded once or now and then. A load in one step of LOADS_RARE and more often, where
 * no loader makes batches, reads the batches.
 */
static void note_loads(struct sp_cutter *c, uint32_t first)
{
	bool has_load = false;

	for (uint32_t i = first; i < c->count && !c->steps->is_fed; i++)
		has_load |= c->intervals[i].is_load;
	c->loading_steps += has_load;
	if (!has_load || c->loading_steps < 2 || c->loading_steps * LOADS_RARE < c->steps->count)
		return;
	for (uint32_t i = first; i < c->count; i++)
		if (c->intervals[i].is_load)
			c->intervals[i].kind = SP_INTERVAL_INPUT;
}

/*
 * Other reads and waits are no batch once a loader has fed a step. Reads and waits that follow the
 * model's call are no batch, up to its next call: they belong to the loss, or a log. After a step's
 * last backward they are a server of parameters, or gradients that others hand over.
 */
static void note_own_input(struct sp_cutter *c, uint32_t first)
{
	bool has_backward = !c->steps->has_backward, is_ahead = has_backward;

	c->steps->is_fed |= has_loader(c, first);
	note_loads(c, first);
	note_messages(c, first);
	note_calls(c, first);
	for (uint32_t i = c->count; i > first; i--) {
		struct sp_phase_interval *p = &c->intervals[i - 1];

		has_backward |= p->kind == SP_INTERVAL_BACKWARD;
		if (p->kind == SP_INTERVAL_BACKWARD)
			is_ahead = !p->follows_call;
		is_ahead |= has_backward && sp_interval_is(p, MODELS);
		p->is_own = !c->steps->is_fed && is_ahead && !p->evaluated && !p->is_message &&
			    (sp_interval_is(p, T(AWAIT) | T(INPUT)) || p->kind == SP_INTERVAL_SEND);
	}
}

/* Hooks run between the nodes of the graph; without any node, nothing says what ran. */
static uint64_t hook_ns(const struct sp_phase_interval *p)
{
	uint64_t all_ns = sp_phase_interval_ns(p), known_ns = p->node_ns + p->apart_ns;

	if (p->kind != SP_INTERVAL_BACKWARD || p->is_node || !p->node_ns || known_ns > all_ns)
		return 0;
	return all_ns - known_ns;
}

/* A write to a pipe or a terminal waits for its reader. */
static bool waits_in_loop(const struct sp_phase_interval *p)
{
	if (!p->is_in_other || p->is_own || p->is_message)
		return false;
	return p->kind == SP_INTERVAL_AWAIT || (p->kind == SP_INTERVAL_WRITE && !p->file);
}

/* A log, or another report of the loop: calls that write, send, or wait for others. */
static bool is_log(const struct sp_phase_interval *p)
{
	return p->is_in_other && !p->is_own &&
	       (p->is_message || p->kind == SP_INTERVAL_AWAIT || p->kind == SP_INTERVAL_WRITE ||
		p->kind == SP_INTERVAL_FSYNC);
}

/* The code right before and after such calls makes what they write or send, and reads the answers.
 * It takes no longer than they do. */
static uint64_t log_code_ns(const struct sp_cutter *c, uint32_t first)
{
	uint64_t code_ns = 0, calls_ns = 0;

	for (uint32_t i = first; i < c->count; i++) {
		const struct sp_phase_interval *p = &c->intervals[i];

		if (is_log(p) || (i > first && is_log(p - 1)))
			code_ns += p->loop_ns;
		if (is_log(p))
			calls_ns += (uint64_t)(p->end_ns - p->start_ns);
	}
	return code_ns < calls_ns ? code_ns : calls_ns;
}

/* The time after a backward, up to the next call of the model, as far as it is "other". */
struct stretch {
	uint64_t ns;
	bool is_open, is_cleared;
};

static void go_on(struct stretch *s, const struct sp_phase_interval *p)
{
	s->ns += p->loop_ns;
	if (p->is_in_other && !sp_interval_is(p, STRUCTURE) &&
	    sp_phase_interval_phase(p->kind) == SP_ACCOUNT_other && !p->is_own)
		s->ns += sp_phase_interval_own_ns(p);
	s->is_cleared |= p->kind == SP_INTERVAL_ZERO_GRAD;
}

struct own_update {
	uint64_t cleared_ns, between_ns;
};

/*
 * The code of a loop between two backwards of one step, where no batch is taken: two rounds of a
 * step (sharpness-aware minimization, adversarial examples), or gradients that accumulate. It may
 * be an optimizer's work that has no class of its own. Gradients that are cleared there were used
 * by that code; in such a step what lies between the last backward and the optimizer counts, too.
 */
static struct own_update find_own_update(const struct sp_cutter *c, uint32_t first)
{
	struct own_update own = {0, 0};
	struct stretch s = {.is_open = false};

	for (uint32_t i = first; i < c->count; i++) {
		const struct sp_phase_interval *p = &c->intervals[i];

		if (s.is_open)
			go_on(&s, p);
		if (!sp_interval_is(p, STRUCTURE))
			continue;
		if (p->kind == SP_INTERVAL_FORWARD)
			*(s.is_cleared ? &own.cleared_ns : &own.between_ns) += s.ns;
		else if (p->kind == SP_INTERVAL_OPTIMIZER && own.cleared_ns)
			own.cleared_ns += s.ns;
		s = (struct stretch){.is_open = p->kind == SP_INTERVAL_BACKWARD};
	}
	return own;
}

/* Autograd's own threads call NCCL while the training thread waits for them in backward. */
static uint64_t take_nccl(struct sp_cutter *c, uint32_t first)
{
	uint64_t sum = 0;

	for (uint32_t i = first; c->steps->nccl && i < c->count; i++)
		if (c->intervals[i].kind == SP_INTERVAL_BACKWARD)
			sum += sp_interval_cut_collectives(&c->intervals[i], &c->aparts,
							   c->steps->nccl);
	return sum;
}

static void count_kind(struct sp_cutter *c, const struct sp_step *step)
{
	struct sp_steps *s = c->steps;

	if (c->intervals[c->count - 1].kind == SP_INTERVAL_UPDATE) {
		s->call_steps++;
		c->has_called = true;
	} else if (step->has_backward) {
		s->parted_steps++;
		s->mixed_steps += c->has_called;
		c->has_called = false;
	}
}

/* Waits before the first step and in a pause are none of a step's, which has no room for them. */
static uint64_t take_locked(struct sp_cutter *c, uint64_t wall_ns)
{
	uint64_t ns = c->locks.all_ns + c->locks.unseen_ns;

	c->locks.all_ns = c->locks.unseen_ns = 0;
	return ns < wall_ns ? ns : wall_ns;
}

static void add_sums(struct sp_step *step, const struct sp_phase_interval *p)
{
#define SP_STEP_SUM(name, when, ns) step->sum[SP_STEP_SUM_##name] += (when) ? (ns) : 0;
#define SP_STEP_SUM_WHOLE(name, ns)
#include "analyzer/steps/step_sum.def"
#undef SP_STEP_SUM
#undef SP_STEP_SUM_WHOLE
}

/* After the account is charged. */
static void set_whole_sums(struct sp_cutter *c, uint32_t first, struct sp_step *step,
			   uint64_t nccl_ns)
{
	const struct own_update own = find_own_update(c, first);

#define SP_STEP_SUM(name, when, ns)
#define SP_STEP_SUM_WHOLE(name, ns) step->sum[SP_STEP_SUM_##name] = (ns);
#include "analyzer/steps/step_sum.def"
#undef SP_STEP_SUM
#undef SP_STEP_SUM_WHOLE
}

static void take_interval(struct sp_cutter *c, struct sp_step *step,
			  const struct sp_phase_interval *p)
{
	step->has_loader |= p->kind == SP_INTERVAL_LOADER || p->kind == SP_INTERVAL_LOADER_END;
	step->has_backward |= p->kind == SP_INTERVAL_BACKWARD;
	step->has_fetch |= p->kind == SP_INTERVAL_LOADER && p->has_fetch;
	step->has_sample |= p->is_sample;
	step->is_round |= p->is_round;
	c->steps->has_whole_calls |= p->kind == SP_INTERVAL_UPDATE;
	if (p->kind == SP_INTERVAL_LOADER ||
	    (p->is_own && sp_phase_interval_ns(p) >= OWN_WAIT_LEAST_NS))
		add_wait(c->steps, p);
	add_sums(step, p);
	note_sources(c, p);
}

struct sp_step *sp_cut_step(struct sp_cutter *c, uint32_t first, int64_t from_ns)
{
	struct sp_steps *s = c->steps;
	struct sp_step *step = SP_LIST_ADD(s->steps, s->count, s->room);
	uint64_t nccl_ns = take_nccl(c, first);

	s->is_out_of_memory |= !step;
	if (!step)
		return NULL;
	step->start_ns = from_ns;
	step->end_ns = c->intervals[c->count - 1].end_ns;
	step->optimizer = c->steps->optimizer_count++;
	step->unrecorded = c->steps->unrecorded;
	note_own_input(c, first);
	sp_cut_charge(c, first, c->count, from_ns, step->end_ns, &step->account);
	set_whole_sums(c, first, step, nccl_ns);
	for (uint32_t i = first; i < c->count; i++)
		take_interval(c, step, &c->intervals[i]);
	step->is_skipped = c->intervals[c->count - 1].is_skipped;
	c->steps->rounds += step->is_round;
	count_kind(c, step);
	return step;
}

/*
 * Calls that make whole steps return ahead of the device: a wait for it right after the last step
 * is for that step, if it is longer than what lies between. Returns the end of that wait.
 */
static uint32_t end_of_last_wait(const struct sp_cutter *c)
{
	int64_t before_ns;
	uint32_t i = 0;

	while (i < c->count && sp_interval_is(&c->intervals[i], LOADERS))
		i++;
	before_ns = i ? c->intervals[i - 1].end_ns : c->from_ns;
	if (!c->steps->has_whole_calls || i == c->count ||
	    c->intervals[i].kind != SP_INTERVAL_SYNC ||
	    c->intervals[i].end_ns - c->intervals[i].start_ns <
		    c->intervals[i].start_ns - before_ns)
		return 0;
	return i + 1;
}

uint32_t sp_cut_end_of_known(const struct sp_cutter *c)
{
	uint32_t n = sp_interval_last(c->intervals, c->count, T(CHECKPOINT) | EVALUATED),
		 waited = end_of_last_wait(c);

	return n > waited ? n : waited;
}

static bool is_called(const struct sp_cutter *c, uint32_t first, uint32_t label)
{
	const struct sp_phase_interval *p = &c->intervals[first];

	return SP_ANY(i, c->count - first, p[i].kind == SP_INTERVAL_FORWARD && p[i].label == label);
}

/*
 * One call of a model without gradients, where the first step calls others alone: a constructor
 * tries a part of the model, or shapes are found. It evaluates nothing that trains.
 */
static bool is_trial(const struct sp_cutter *c, uint32_t from, uint32_t n, uint32_t first)
{
	return n == from + 1 && c->intervals[from].label && c->steps->has_forward &&
	       !is_called(c, first, c->intervals[from].label) && !is_called(c, first, 0);
}

/* A pause that begins at from_ns, and is the intervals [from, n). */
static void put_known(struct sp_cutter *c, uint32_t from, uint32_t n, int64_t from_ns)
{
	struct sp_pause *p = sp_cut_pause(c->steps);

	if (!p)
		return;
	p->has_passes = true;
	p->start_ns = from_ns;
	p->end_ns = c->intervals[n - 1].end_ns;
	p->load_ns = sp_cut_loads(c, from, n);
	sp_cut_charge(c, from, n, p->start_ns, p->end_ns, NULL);
}

/* The time between a load and the first loader is set-up. */
static void put_checkpoints(struct sp_cutter *c, uint32_t from, uint32_t n)
{
	for (uint32_t i = from; i < n; i++)
		if (c->intervals[i].kind == SP_INTERVAL_CHECKPOINT)
			put_known(c, i, i + 1, c->intervals[i].start_ns);
}

void sp_cut_head(struct sp_cutter *c, uint32_t first, bool takes_checkpoints)
{
	uint32_t n = sp_interval_last(c->intervals, first, EVALUATED | T(ENVIRONMENT)),
		 from = sp_interval_next(c->intervals, 0, n, EVALUATED);

	if (!n || is_trial(c, from, n, first))
		from = n = first;
	if (takes_checkpoints)
		put_checkpoints(c, 0, from);
	if (from < n)
		put_known(c, from, n, c->intervals[from].start_ns);
	if (takes_checkpoints)
		put_checkpoints(c, n, first);
}

void sp_cut_unfinished(struct sp_cutter *c, uint32_t n)
{
	n = sp_interval_last(c->intervals, n, T(BACKWARD));
	if (n == 0)
		return;
	c->from_ns = c->intervals[n - 1].end_ns;
	c->count -= n;
	memmove(c->intervals, &c->intervals[n], c->count * sizeof(*c->intervals));
}

void sp_cut_known(struct sp_cutter *c)
{
	uint32_t n = sp_cut_end_of_known(c);

	if (n)
		put_known(c, 0, n, c->from_ns);
}
