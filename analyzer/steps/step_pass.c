/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/step_pass.h"

#include <string.h>

#include "analyzer/base/each.h"
#include "analyzer/base/grow.h"
#include "analyzer/steps/step_machine.h"
#include "analyzer/steps/step_order.h"

#define NONE UINT32_MAX
#define OPEN_MAX 64u /* passes that may be under way at once */

/* A pass that goes on among many short ones, such as a batch of validation after each step, is soon
 * none of the last OPEN_MAX: those that were asked for are remembered. */
static void remember(struct sp_steps *s, uint32_t pass)
{
	if (!SP_ANY(i, SP_PASSES_ON, s->passes_on[i] == pass))
		s->passes_on[s->passes_on_next++ % SP_PASSES_ON] = pass;
}

static uint32_t find_remembered(const struct sp_steps *s, int64_t iterator)
{
	uint32_t newest = 0;

	for (uint32_t i = 0; i < SP_PASSES_ON; i++) {
		uint32_t pass = s->passes_on[i];

		if (pass > newest && s->passes[pass - 1].iterator == iterator)
			newest = pass;
	}
	return newest;
}

static struct sp_pass *find_open(struct sp_steps *s, int64_t iterator)
{
	uint32_t least = s->pass_count > OPEN_MAX ? s->pass_count - OPEN_MAX : 0;
	uint32_t pass = s->pass_count;

	while (pass > least && s->passes[pass - 1].iterator != iterator)
		pass--;
	if (pass == least)
		pass = find_remembered(s, iterator);
	return pass && !s->passes[pass - 1].is_over ? &s->passes[pass - 1] : NULL;
}

static struct sp_pass *add(struct sp_steps *s, int64_t iterator)
{
	struct sp_pass *pass = SP_LIST_ADD(s->passes, s->pass_count, s->pass_room);

	s->is_out_of_memory |= !pass;
	if (pass)
		pass->iterator = iterator;
	return pass;
}

void sp_pass_note(struct sp_steps *s, struct sp_phase_interval *interval)
{
	struct sp_pass *pass = find_open(s, interval->iterator);

	/* Workers that live on keep their iterator, which begins again. */
	if (interval->kind == SP_INTERVAL_LOADER_BEGIN && pass)
		pass->is_over = true;
	if (interval->kind == SP_INTERVAL_LOADER_BEGIN || !pass)
		pass = add(s, interval->iterator);
	if (!pass)
		return;
	interval->pass = (uint32_t)(pass - s->passes) + 1;
	if (interval->pass < s->pass_count)
		remember(s, interval->pass);
	s->has_batches |= interval->kind == SP_INTERVAL_LOADER;
	if (interval->kind == SP_INTERVAL_LOADER && pass->batches++ == 0)
		pass->first = s->optimizer_count;
	pass->last = s->optimizer_count;
	pass->has_end |= interval->kind == SP_INTERVAL_LOADER_END;
	pass->is_over |= pass->has_end;
}

/* list->count: it is not in the list. */
static uint32_t find_pass(const struct sp_pass_list *list, uint32_t pass)
{
	uint32_t i = 0;

	while (i < list->count && list->pass[i] != pass)
		i++;
	return i;
}

static bool contains(const struct sp_pass_list *list, uint32_t pass)
{
	return find_pass(list, pass) < list->count;
}

/* Keeps the last passes where there are more than the list holds, because the step is made of their
 * batches. */
static void put(struct sp_pass_list *list, uint32_t pass)
{
	if (contains(list, pass))
		return;
	if (list->count == SP_STEP_PASSES)
		memmove(list->pass, &list->pass[1], --list->count * sizeof(list->pass[0]));
	list->pass[list->count++] = pass;
}

static struct sp_pass_list list_batches(const struct sp_cutter *c, uint32_t n)
{
	struct sp_pass_list list = {.count = 0};

	for (uint32_t i = 0; i < n; i++)
		if (c->intervals[i].pass && c->intervals[i].kind == SP_INTERVAL_LOADER)
			put(&list, c->intervals[i].pass);
	return list;
}

/* True for a pass that gave a batch before the last step ended. */
static bool is_under_way(const struct sp_steps *s, uint32_t pass)
{
	return s->passes[pass - 1].batches && s->passes[pass - 1].first < s->optimizer_count;
}

/* An empty range has all passes. */
static bool lies_in(const struct sp_pass_range *range, uint32_t pass)
{
	return range->first ? pass >= range->first && pass <= range->last : pass > 0;
}

static uint32_t last_of(const struct sp_cutter *c, uint32_t n, const struct sp_pass_range *range)
{
	while (n > 0 && !lies_in(range, c->intervals[n - 1].pass))
		n--;
	return n ? n - 1 : NONE;
}

static uint32_t last_call(const struct sp_cutter *c, uint32_t n)
{
	return last_of(c, n, &(struct sp_pass_range){0, 0});
}

/*
 * The batch that is trained on: the last one, those that its loader gave with it (some trainers
 * take the batches of several backwards ahead), and those that other loaders under way gave for the
 * same step. NONE: the step has no batch of a loader, or took it before the step before ended.
 */
static uint32_t find_batch(const struct sp_cutter *c, uint32_t n)
{
	uint32_t at = last_call(c, n), i = at;
	struct sp_pass_list met = {.count = 0};

	if (at == NONE || c->intervals[at].kind != SP_INTERVAL_LOADER)
		return NONE;
	put(&met, c->intervals[at].pass);
	while ((i = last_call(c, i)) != NONE) {
		const struct sp_phase_interval *p = &c->intervals[i];

		if (p->kind != SP_INTERVAL_LOADER)
			break;
		if (!contains(&met, p->pass) && !is_under_way(c->steps, p->pass))
			break;
		put(&met, p->pass);
		at = i;
	}
	return at;
}

/* The passes before interval n that are neither under way nor the one that is trained on. */
static struct sp_pass_range find_foreign(const struct sp_cutter *c, uint32_t n, uint32_t trained)
{
	struct sp_pass_range range = {.first = 0};

	for (uint32_t i = 0; i < n; i++) {
		uint32_t pass = c->intervals[i].pass;

		if (!pass || pass == trained || !c->steps->passes[pass - 1].batches ||
		    is_under_way(c->steps, pass))
			continue;
		range.first = range.first && range.first < pass ? range.first : pass;
		range.last = range.last > pass ? range.last : pass;
	}
	return range;
}

static uint32_t first_of(const struct sp_cutter *c, uint32_t n, const struct sp_pass_range *range)
{
	for (uint32_t i = 0; i < n; i++)
		if (lies_in(range, c->intervals[i].pass))
			return i;
	return NONE;
}

/* The last loader that begins in the pause is that of the steps that follow:
 * an epoch begins there. */
static void note_begin(const struct sp_cutter *c, uint32_t n, struct sp_pause *p)
{
	for (uint32_t i = n; i > 0 && !p->begin_ns; i--) {
		const struct sp_phase_interval *interval = &c->intervals[i - 1];

		if (sp_interval_is(interval, LOADERS))
			p->begin_wait_ns += (uint64_t)(interval->end_ns - interval->start_ns);
		if (interval->kind == SP_INTERVAL_LOADER_BEGIN)
			p->begin_ns = interval->start_ns;
	}
}

/*
 * A loader that asks for the next batch ahead of giving one ends its pass before the model is
 * called for the last batch: that evaluation is still the validation's. Returns the last interval.
 */
static uint32_t last_validated(const struct sp_cutter *c, uint32_t first, uint32_t last, uint32_t n)
{
	uint32_t batches = 0, calls = 0, i = first;

	for (; i <= last; i++) {
		batches += c->intervals[i].kind == SP_INTERVAL_LOADER;
		calls += sp_interval_is(&c->intervals[i], EVALUATED);
	}
	i = sp_interval_next(c->intervals, last + 1, n, STRUCTURE);
	return batches == calls + 1 && i < n && sp_interval_is(&c->intervals[i], EVALUATED) ? i
											    : last;
}

/*
 * A pass that is left early ends where its iterator is dropped. Returns that interval, or else
 * `last`, the last one that is known of the pass.
 */
static uint32_t with_drop(const struct sp_cutter *c, uint32_t pass, uint32_t last, uint32_t n)
{
	if (!pass || c->steps->passes[pass - 1].has_end)
		return last;
	for (uint32_t i = last + 1; i < n && !c->intervals[i].pass; i++) {
		if (c->intervals[i].kind == SP_INTERVAL_LOADER_STOP)
			return i;
		if (c->intervals[i].kind == SP_INTERVAL_CHECKPOINT)
			break;
	}
	return last;
}

/* The intervals of each foreign pass among [0, n). */
static void find_extents(const struct sp_cutter *c, uint32_t n, const struct sp_pass_range *foreign)
{
	struct sp_pass *passes = c->steps->passes;

	for (uint32_t pass = foreign->first; pass && pass <= foreign->last; pass++)
		passes[pass - 1].begin = passes[pass - 1].end = 0;
	for (uint32_t i = 0; foreign->first && i < n; i++) {
		uint32_t pass = c->intervals[i].pass;

		if (!lies_in(foreign, pass))
			continue;
		if (!passes[pass - 1].end)
			passes[pass - 1].begin = i;
		passes[pass - 1].end = i + 1;
	}
}

/* In a pass; of one that is left early, also right after its last batch. */
static bool has_call(const struct sp_cutter *c, const struct sp_pass *pass, uint32_t n)
{
	uint32_t end = pass->has_end ? pass->end
				     : sp_interval_next(c->intervals, pass->end, n, STRUCTURE) + 1;

	end = end < n ? end : n;
	return sp_interval_next(c->intervals, pass->begin, end, MODELS) < end;
}

/* Finds the foreign passes that evaluate; one that no model is called in reads its data. Returns
 * the first interval of the first one; NONE: there is none. */
static uint32_t find_evaluated(const struct sp_cutter *c, uint32_t n,
			       const struct sp_pass_range *foreign)
{
	uint32_t first = NONE;

	find_extents(c, n, foreign);
	for (uint32_t i = foreign->first; i && i <= foreign->last; i++) {
		struct sp_pass *pass = &c->steps->passes[i - 1];

		if (!pass->end || !pass->batches || is_under_way(c->steps, i)) {
			pass->end = 0;
			continue;
		}
		pass->end = last_validated(c, pass->begin, pass->end - 1, n);
		pass->end = with_drop(c, i, pass->end, n) + 1;
		pass->has_call = has_call(c, pass, n);
		pass->is_evaluation = pass->has_call || !c->steps->has_forward;
		if (pass->is_evaluation && pass->begin < first)
			first = pass->begin;
	}
	return first;
}

/* The end of the passes where none evaluates. */
static int64_t end_of_reads(const struct sp_cutter *c, uint32_t n,
			    const struct sp_pass_range *foreign)
{
	uint32_t last = last_of(c, n, foreign);

	return c->intervals[with_drop(c, c->intervals[last].pass, last, n)].end_ns;
}

/* The bounds of the passes that evaluate, as instants. */
static void bound_passes(const struct sp_cutter *c, uint32_t first, struct sp_pause *p)
{
	for (uint32_t i = p->foreign.first; i && i <= p->foreign.last; i++) {
		struct sp_pass *pass = &c->steps->passes[i - 1];

		if (!pass->is_evaluation || pass->end <= first)
			continue;
		pass->start_ns =
			pass->begin < first ? p->last_end_ns : c->intervals[pass->begin].start_ns;
		p->last_end_ns = pass->end_ns = c->intervals[pass->end - 1].end_ns;
		first = pass->end;
	}
}

/* A pause of the intervals below n, from from_ns to to_ns. In the head of a run it begins with its
 * first pass that evaluates. */
static void make_pause(struct sp_cutter *c, uint32_t n, const struct sp_pass_range *foreign,
		       int64_t from_ns, int64_t to_ns)
{
	uint32_t evaluated = find_evaluated(c, n, foreign);
	uint32_t first = evaluated == NONE ? first_of(c, n, foreign) : evaluated, from = 0;
	struct sp_pause *p;

	if (!c->has_from) {
		sp_cut_head(c, first, true);
		from = first;
		from_ns = c->intervals[first].start_ns;
	}
	p = sp_cut_pause(c->steps);
	if (!p)
		return;
	p->start_ns = from_ns;
	p->end_ns = to_ns;
	p->first_start_ns = p->first_end_ns = p->last_end_ns = c->intervals[first].start_ns;
	p->has_passes = true;
	p->foreign = *foreign;
	p->has_end = sp_interval_last(c->intervals, n, T(LOADER_BEGIN) | T(LOADER_END));
	note_begin(c, n, p);
	p->load_ns = sp_cut_loads(c, 0, n);
	sp_cut_charge(c, from, n, from_ns, to_ns, NULL);
	if (evaluated == NONE)
		p->last_end_ns = end_of_reads(c, n, foreign);
	else
		bound_passes(c, first, p);
}

/* The intervals below the result are a pause; it is made where there are any. */
static uint32_t pause_before(struct sp_cutter *c, uint32_t n)
{
	uint32_t batch = find_batch(c, n), trained = batch == NONE ? 0 : c->intervals[batch].pass;
	struct sp_pass_range foreign = find_foreign(c, batch == NONE ? n : batch, trained);
	uint32_t end = batch;
	int64_t to_ns;

	if (trained)
		c->steps->passes[c->intervals[last_call(c, n)].pass - 1].is_training = true;
	if (batch == NONE) {
		if (!foreign.first)
			return 0;
		end = last_of(c, n, &foreign) + 1;
		to_ns = c->intervals[end - 1].end_ns;
	} else {
		to_ns = c->intervals[end].start_ns;
	}
	if (last_call(c, end) == NONE)
		return c->has_from ? 0 : end;
	make_pause(c, end, &foreign, c->from_ns, to_ns);
	c->from_ns = to_ns;
	c->has_from = true;
	return end;
}

/* The first passes, where there are more than a step has room for. */
static void note_loaders(const struct sp_cutter *c, uint32_t first, struct sp_step *step)
{
	struct sp_pass_list met = {.count = 0};

	for (uint32_t i = first; i < c->count; i++) {
		const struct sp_phase_interval *p = &c->intervals[i];
		uint32_t at;

		if (p->kind != SP_INTERVAL_LOADER || !p->pass)
			continue;
		at = find_pass(&met, p->pass);
		if (at == met.count && at < SP_STEP_PASSES)
			met.pass[met.count++] = p->pass;
		if (at < met.count)
			step->loader_ns[at] += (uint64_t)(p->end_ns - p->start_ns);
	}
	step->loaders = met.count;
}

/* From interval i on gradients are cleared, and made again. */
static bool learns_anew(const struct sp_cutter *c, uint32_t i)
{
	i = sp_interval_next(c->intervals, i, c->count, T(ZERO_GRAD));
	return sp_interval_next(c->intervals, i, c->count, T(BACKWARD)) < c->count;
}

/* The intervals [from, n) hold a pass. */
struct whole_pass {
	uint32_t from, n;
};

/* The last pass that began since the last step and has ended; empty: there is none. */
static struct whole_pass find_whole(const struct sp_cutter *c)
{
	uint32_t n = c->count, pass;

	while (n > 0 &&
	       (c->intervals[n - 1].kind != SP_INTERVAL_LOADER_END || !c->intervals[n - 1].pass ||
		!c->steps->passes[c->intervals[n - 1].pass - 1].batches ||
		is_under_way(c->steps, c->intervals[n - 1].pass)))
		n--;
	if (n == 0)
		return (struct whole_pass){0, 0};
	pass = c->intervals[n - 1].pass;
	return (struct whole_pass){first_of(c, n, &(struct sp_pass_range){pass, pass}), n};
}

/*
 * The end of a step's batches, after a whole pass that no step comes of: it has no backward, or its
 * gradients are cleared unused (validation against attacks, the weight of parameters). Before it
 * may be batches that an epoch had left over, too few for a step.
 */
static uint32_t end_of_batches(const struct sp_cutter *c)
{
	struct whole_pass whole = find_whole(c);
	uint32_t backward = sp_interval_next(c->intervals, whole.from, whole.n, T(BACKWARD));
	bool is_stepless = backward == whole.n || learns_anew(c, backward);

	return sp_interval_next(c->intervals, is_stepless ? whole.n : 0, c->count, ENDS);
}

void sp_pass_cut(struct sp_cutter *c)
{
	uint32_t n = end_of_batches(c);
	uint32_t first = pause_before(c, n);
	struct sp_step *step;

	if (!c->has_from && first == 0)
		first = sp_order_first_of_step(c);
	if (!c->has_from)
		sp_cut_head(c, first, false);
	step = sp_cut_step(c, first, c->has_from ? c->from_ns : c->intervals[first].start_ns);

	if (!step)
		return;
	step->passes = list_batches(c, c->count);
	note_loaders(c, first, step);
}

/*
 * A run that is stopped in a step leaves its batch, and a call of the model that kept gradients for
 * the backward that never came. Both are no validation. Returns the number of intervals before that
 * batch.
 */
static uint32_t before_unfinished(const struct sp_cutter *c)
{
	uint32_t at = last_call(c, c->count);
	bool has_gradients = false;

	if (at == NONE || c->intervals[at].kind != SP_INTERVAL_LOADER)
		return c->count;
	for (uint32_t i = at; i < c->count; i++) {
		const struct sp_phase_interval *p = &c->intervals[i];

		if ((sp_interval_is(p, MODELS) && !p->has_gradients) ||
		    p->kind == SP_INTERVAL_CHECKPOINT)
			return c->count;
		has_gradients |= p->has_gradients;
	}
	while (at > 0 && sp_interval_is(&c->intervals[at - 1], T(LOADER) | T(LOADER_BEGIN)))
		at--;
	return has_gradients ? at : c->count;
}

void sp_pass_cut_rest(struct sp_cutter *c)
{
	struct whole_pass whole;
	uint32_t n, last, saved;
	struct sp_pass_range foreign;

	if (!c->has_from)
		return;
	c->count = before_unfinished(c);
	whole = find_whole(c);
	n = sp_interval_next(c->intervals, whole.n, c->count, ENDS);
	if (n < c->count) {
		pause_before(c, n);
		sp_cut_unfinished(c, c->count);
	} else if (whole.n) {
		sp_cut_unfinished(c, whole.from);
	}
	n = c->count;
	foreign = find_foreign(c, n, 0);
	last = last_call(c, n);
	saved = sp_cut_end_of_known(c);
	if (last == NONE) {
		sp_cut_known(c);
		return;
	}
	last = with_drop(c, c->intervals[last].pass, saved > last ? saved - 1 : last, n);
	make_pause(c, last + 1, &foreign, c->from_ns, c->intervals[last].end_ns);
}

static bool trains(const struct sp_steps *s, uint32_t pass)
{
	const struct sp_pass *p = &s->passes[pass - 1];

	return p->is_training || p->last > p->first;
}

void sp_pass_count(struct sp_steps *s)
{
	for (uint32_t i = 1; i <= s->pass_count; i++) {
		const struct sp_pass *p = &s->passes[i - 1];

		if (!p->batches || !trains(s, i))
			continue;
		s->trained_passes++;
		s->single_passes += p->batches == 1 && !p->has_end;
	}
}

void sp_pass_leave_out(struct sp_steps *s, struct sp_pause *p)
{
	sp_thread_timeline_relabel(&s->timeline, p->start_ns, p->last_end_ns, ~0u, SP_NO_PHASE);
	p->start_pass_ns = (uint64_t)(p->last_end_ns - p->first_start_ns);
	if (!sp_thread_timeline_account(&s->timeline, p->last_end_ns, p->end_ns)
		     .ns[SP_ACCOUNT_checkpoint])
		p->load_ns = 0;
	p->start_ns = p->begin_ns ? p->begin_ns : p->last_end_ns;
	p->first_start_ns = p->first_end_ns = p->start_ns;
}

struct sp_pass_facts sp_pass_facts(const struct sp_steps *s, const struct sp_pause *p)
{
	struct sp_pass_facts facts = {.reads = false};

	for (uint32_t i = p->foreign.first; i && i <= p->foreign.last; i++) {
		const struct sp_pass *pass = &s->passes[i - 1];

		facts.reads |= pass->batches && !trains(s, i);
		facts.calls |= pass->has_call;
		facts.evaluates |= pass->is_evaluation && !trains(s, i);
	}
	return facts;
}

uint64_t sp_pass_label(struct sp_steps *s, const struct sp_pause *p)
{
	uint64_t wait_ns = 0;

	for (uint32_t i = p->foreign.first; i && i <= p->foreign.last; i++) {
		const struct sp_pass *pass = &s->passes[i - 1];

		if (pass->is_evaluation)
			wait_ns += sp_thread_timeline_validate(&s->timeline, pass->start_ns,
							       pass->end_ns);
	}
	return wait_ns;
}

static bool goes_on(const struct sp_steps *s, const struct sp_step *step, uint32_t pass)
{
	return s->passes[pass - 1].last > step->optimizer;
}

/* True where `pass` gives over twice as many batches a step as `other`. */
static bool is_denser(const struct sp_steps *s, uint32_t pass, uint32_t other)
{
	const struct sp_pass *p = &s->passes[pass - 1], *q = &s->passes[other - 1];

	return (double)p->batches * (1 + q->last - q->first) >
	       2.0 * q->batches * (1 + p->last - p->first);
}

/* The pass that an epoch is counted by: it goes on, or else the first that trains and goes on. One
 * whose last batch came together with another loader's stays where neither goes on. */
static uint32_t main_pass(const struct sp_steps *s, const struct sp_step *step, uint32_t before)
{
	const struct sp_pass_list *list = &step->passes;
	uint32_t last = before;

	bool has_before = before && contains(list, before);

	if (has_before && goes_on(s, step, before))
		return before;
	for (uint32_t i = 0; i < list->count; i++) {
		if (!trains(s, list->pass[i]))
			continue;
		if (goes_on(s, step, list->pass[i]))
			return list->pass[i];
		last = list->pass[i];
	}
	return has_before ? before : last;
}

/*
 * A pass that is over ends an epoch, and one that never counted before begins the next. Loaders
 * that are asked in turns, a step each, go on beside the one that counts; a rare one hands over to
 * one that is asked more often.
 */
void sp_pass_number_epochs(struct sp_steps *s)
{
	uint32_t epoch = 0, pass = 0, newest = 0;

	for (uint32_t i = 0; i < s->count; i++) {
		const struct sp_step *step = &s->steps[i];
		uint32_t now = main_pass(s, step, pass);

		if (pass && now != pass && !goes_on(s, step, pass)) {
			epoch += now > newest;
			pass = now > newest ? now : pass;
		} else if (!pass || (now != pass && is_denser(s, now, pass))) {
			pass = now;
		}
		newest = newest > now ? newest : now;
		s->steps[i].epoch = epoch;
	}
	s->epoch_count = s->count ? epoch + 1 : 0;
}
