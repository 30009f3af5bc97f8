/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/step_classify.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/add_up.h"
#include "analyzer/base/each.h"
#include "analyzer/base/select.h"
#include "analyzer/steps/step_pass.h"
#include "analyzer/steps/step_machine.h"
#include "analyzer/steps/thread_feed.h"

/*
 * More optimizer steps for each batch are not several optimizers, but several updates from one
 * batch.
 */
#define OPTIMIZERS_MAX 4u
#define SERIES_LEAST (2 * OPTIMIZERS_MAX) /* steps in a row that have no batch are a stage */

/*
 * A first step is warm while it takes more than 3/2 of the median; a last one is short below 4/5 of
 * it.
 */
#define WARM_NUMERATOR 3u
#define WARM_DENOMINATOR 2u
#define SHORT_NUMERATOR 4u
#define SHORT_DENOMINATOR 5u

/* A loader or a replay memory gave a batch for it. */
static bool has_batch(const struct sp_step *step)
{
	return step->has_loader || step->has_sample;
}

/* One is a step by itself, wherever its batch came from. */
static bool is_whole(const struct sp_step *step)
{
	return step->is_round || step->account.ns[SP_ACCOUNT_update] != 0;
}

/*
 * True where the thread takes so few optimizer steps from a batch that they are one step of
 * training.
 */
static bool steps_by_batch(const struct sp_steps *s)
{
	uint32_t parts = SP_SUM(uint32_t, i, s->count, !is_whole(&s->steps[i]));
	uint32_t batches =
		SP_SUM(uint32_t, i, s->count, !is_whole(&s->steps[i]) && has_batch(&s->steps[i]));

	return batches && parts / OPTIMIZERS_MAX <= batches;
}

static bool has_backward(const struct sp_steps *s)
{
	return SP_ANY(i, s->count, s->steps[i].has_backward);
}

/* Steps in a row that have no batch, or one step that has. */
struct step_group {
	uint32_t end;
	bool is_stage;
};

static void note_group(const struct sp_steps *s, uint32_t i, struct step_group *group)
{
	uint32_t end = i;

	if (i < group->end)
		return;
	while (end < s->count && !has_batch(&s->steps[end]) && !is_whole(&s->steps[end]))
		end++;
	group->is_stage = end - i >= SERIES_LEAST;
	group->end = end > i ? end : i + 1;
}

static void join_loaders(struct sp_step *last, const struct sp_step *step)
{
	for (uint32_t i = 0; i < SP_STEP_PASSES; i++)
		last->loader_ns[i] += step->loader_ns[i];
	last->loaders = step->loaders > last->loaders ? step->loaders : last->loaders;
}

/* Optimizer steps after one backward, or of one batch, are one step. */
static void join_steps(struct sp_steps *s)
{
	bool by_batch = steps_by_batch(s),
	     by_backward = has_backward(s) && s->end != SP_STEP_BY_GRAPH;
	uint32_t kept = 0, pause = 0;
	struct step_group group = {0};

	for (uint32_t i = 0; i < s->count; i++) {
		struct sp_step *step = &s->steps[i], *last = &s->steps[kept ? kept - 1 : 0];
		bool is_first = i == 0;

		note_group(s, i, &group);
		for (; pause < s->pause_count && s->pauses[pause].step == i; pause++) {
			s->pauses[pause].step = kept;
			is_first = true;
		}
		if (is_first || is_whole(step) ||
		    !((by_batch && !group.is_stage && !has_batch(step)) ||
		      (by_backward && !step->has_backward))) {
			s->steps[kept++] = *step;
			continue;
		}
		last->end_ns = step->end_ns;
		last->has_backward |= step->has_backward;
		for (int sum = 0; sum < SP_STEP_SUMS; sum++)
			last->sum[sum] += step->sum[sum];
		join_loaders(last, step);
		last->is_skipped &= step->is_skipped;
		SP_ADD_UP(&last->account, &step->account);
	}
	for (; pause < s->pause_count; pause++)
		s->pauses[pause].step = kept;
	s->count = kept;
}

/* True where the training thread makes the batches of this pause's loader, as its steps show. */
static bool is_fetched_here(const struct sp_steps *s, const struct sp_pause *p)
{
	return s->count && s->steps[p->step < s->count ? p->step : s->count - 1].has_fetch;
}

static bool any_forked(const struct sp_steps *s)
{
	return SP_ANY(i, s->pause_count,
		      s->pauses[i].step &&
			      (s->pauses[i].forked_before || s->pauses[i].forked_after));
}

/* Trainers that take batches from several loaders for each step pause at each. */
static bool has_several_loaders(const struct sp_steps *s)
{
	uint32_t pauses = 0;

	for (uint32_t i = 0; i < s->pause_count; i++) {
		const struct sp_pause *p = &s->pauses[i];

		if (p->forked_before || p->forked_after || (is_fetched_here(s, p) && !p->has_fetch))
			continue;
		pauses += p->step && p->step < s->count;
	}
	return s->count > 2 && 2 * (uint64_t)pauses > s->count;
}

/*
 * Validation by a batch or some that stand between a few of the steps. Where they stand between
 * most, they may be a second loader's batches that are trained on.
 */
static bool validates_now_and_then(const struct sp_steps *s)
{
	uint64_t pauses = SP_SUM(uint64_t, i, s->pause_count,
				 s->pauses[i].has_passes && s->pauses[i].is_validation);

	return 2 * pauses <= s->count;
}

#define ROW(phase) (1u << SP_ACCOUNT_##phase)

/*
 * Calls of a model after the last batch of a pass that is left early, and ahead of the batch that
 * is trained on, are the pass's. With gradients they look like forward, because a backward comes
 * later.
 */
static void validate_passes(struct sp_steps *s, struct sp_pause *p, bool now_and_then)
{
	p->validation_wait_ns = sp_pass_label(s, p);
	if (now_and_then)
		sp_thread_timeline_relabel(&s->timeline, p->first_start_ns, p->end_ns,
					   ROW(forward) | ROW(loss), SP_ACCOUNT_validation);
}

static void validate_batches(struct sp_steps *s, struct sp_pause *p)
{
	p->validation_wait_ns =
		sp_thread_timeline_validate(&s->timeline, p->first_end_ns, p->last_end_ns);
	if (!p->is_restart)
		sp_thread_timeline_relabel(&s->timeline, p->first_start_ns, p->first_end_ns, ~0u,
					   SP_ACCOUNT_validation);
}

/* Labels the timeline of the pause, and asks it for the account. */
static void sum_pause(struct sp_steps *s, struct sp_pause *p, bool now_and_then)
{
	struct sp_thread_timeline *t = &s->timeline;
	bool waits_for_steps = s->has_whole_calls && p->step == s->count;
	int64_t from_ns = p->start_pass_ns ? p->last_end_ns : p->start_ns;

	if (p->is_validation && p->has_passes)
		validate_passes(s, p, now_and_then);
	else if (p->is_validation)
		validate_batches(s, p);
	p->account = sp_thread_timeline_account(t, from_ns, p->end_ns);
	if (!p->step || p->step == s->count)
		sp_thread_timeline_relabel(t, from_ns, p->end_ns,
					   ~(sp_account_end_rows() |
					     (waits_for_steps ? ROW(sync_wait) : 0)),
					   SP_NO_PHASE);
}

/* Facts that rows of step.def ask for, beside a pause and its steps. */
struct pause_facts {
	bool is_head, is_tail; /* before the first step, after the last one */
	struct sp_pass_facts passes;
	/* Calls of loaders do not name their iterators, and are none of several loaders. */
	bool is_ordered;
	bool is_fetched_here, forks;
};

static void judge_pause(struct sp_steps *s, struct sp_pause *p, bool forks, bool several)
{
	bool is_tail = p->step == s->count, is_head = !p->step;
	const struct pause_facts k = {
		.is_head = is_head,
		.is_tail = is_tail,
		.passes = sp_pass_facts(s, p),
		.is_ordered = !p->has_passes && (!several || is_head || is_tail),
		.is_fetched_here = is_fetched_here(s, p),
		.forks = forks,
	};
	bool is_start = false, is_validation = false, is_restart = false;

#define SP_PAUSE(what, when, why, suite, test)                                                     \
	is_##what |= (when) && SP_ROW_pause_##what##_##test != sp_step_row_off;
#include "analyzer/steps/step.def"
	p->is_validation = is_validation && !is_start;
	p->is_restart = is_restart;
	if (is_start)
		sp_pass_leave_out(s, p);
}

/* Batches that were skipped, or of a second loader, belong to the step that follows. */
static bool belongs_to_step(const struct sp_steps *s, const struct sp_pause *p)
{
	return p->step && p->step < s->count && !p->is_restart && !p->is_validation;
}

static void classify_pauses(struct sp_steps *s)
{
	bool forks = any_forked(s), several = has_several_loaders(s);
	bool now_and_then;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->pause_count; i++)
		judge_pause(s, &s->pauses[i], forks, several);
	now_and_then = validates_now_and_then(s);
	for (uint32_t i = 0; i < s->pause_count; i++) {
		struct sp_pause *p = &s->pauses[i];

		sum_pause(s, p, now_and_then);
		if (belongs_to_step(s, p)) {
			s->steps[p->step].start_ns = p->start_ns;
			s->steps[p->step].sum[SP_STEP_SUM_load] += p->load_ns;
			SP_ADD_UP(&s->steps[p->step].account, &p->account);
		} else {
			s->pauses[kept++] = *p;
		}
	}
	s->pause_count = kept;
}

static void number_epochs(struct sp_steps *s)
{
	uint32_t epoch = 0, pause = 0;

	if (s->has_batches) {
		sp_pass_number_epochs(s);
		return;
	}
	if (s->feed) {
		sp_feed_number_epochs(s->feed, s);
		return;
	}
	for (uint32_t i = 0; i < s->count; i++) {
		for (; pause < s->pause_count && s->pauses[pause].step <= i; pause++)
			epoch += s->pauses[pause].is_restart && s->pauses[pause].step;
		s->steps[i].epoch = epoch;
	}
	s->epoch_count = s->count ? epoch + 1 : 0;
}

/*
 * Validation comes before training in each epoch where it does in the first, and none follows the
 * last.
 */
static bool validates_first(const struct sp_steps *s)
{
	const struct sp_pause *first, *last;

	if (s->pause_count == 0)
		return false;
	first = &s->pauses[0];
	last = &s->pauses[s->pause_count - 1];
	return first->step == 0 && first->is_validation &&
	       !(last->step == s->count && last->is_validation);
}

static void span_epoch(struct sp_epoch *e, int64_t start_ns, int64_t end_ns)
{
	if (e->end_ns == 0 || start_ns < e->start_ns)
		e->start_ns = start_ns;
	if (e->end_ns == 0 || end_ns > e->end_ns)
		e->end_ns = end_ns;
}

static void add_wait(struct sp_epoch *e, uint64_t ns)
{
	e->wait_ns += ns;
	e->training_ns += ns;
}

static void add_validation(struct sp_epoch *e, const struct sp_pause *p)
{
	e->validation_ns += p->account.ns[SP_ACCOUNT_validation];
	e->validation_wait_ns += p->validation_wait_ns;
}

/* At an instant between two steps one epoch ends and the next begins. */
static void split_pause(struct sp_steps *s, const struct sp_pause *p, int64_t at_ns,
			uint64_t wait_before_ns)
{
	struct sp_epoch *before = &s->epochs[s->steps[p->step - 1].epoch];
	struct sp_epoch *after = &s->epochs[s->steps[p->step].epoch];

	span_epoch(before, p->start_ns, at_ns);
	span_epoch(after, at_ns, p->end_ns);
	add_wait(before, wait_before_ns);
	add_wait(after, p->account.ns[SP_ACCOUNT_loader_wait] - wait_before_ns);
}

/* Validation that the next epoch begins with: what lies before it belongs to the epoch before. */
static void add_validation_ahead(struct sp_steps *s, const struct sp_pause *p)
{
	struct sp_epoch *before = &s->epochs[s->steps[p->step - 1].epoch];
	struct sp_epoch *after = &s->epochs[s->steps[p->step].epoch];
	struct sp_account lead =
		sp_thread_timeline_account(&s->timeline, p->start_ns, p->first_start_ns);
	uint64_t saved_ns = lead.ns[SP_ACCOUNT_checkpoint];

	add_validation(after, p);
	before->checkpoint_ns += saved_ns;
	after->checkpoint_ns += p->account.ns[SP_ACCOUNT_checkpoint] - saved_ns;
	split_pause(s, p, p->first_start_ns, lead.ns[SP_ACCOUNT_loader_wait]);
}

static void add_pause(struct sp_steps *s, const struct sp_pause *p)
{
	struct sp_epoch *e = &s->epochs[s->steps[p->step ? p->step - 1 : 0].epoch];
	uint64_t wait_ns = p->account.ns[SP_ACCOUNT_loader_wait];
	bool is_inner = p->step && p->step < s->count;

	add_validation(e, p);
	e->checkpoint_ns += p->account.ns[SP_ACCOUNT_checkpoint];
	if (is_inner && p->begin_ns && p->begin_wait_ns <= wait_ns) {
		split_pause(s, p, p->begin_ns, wait_ns - p->begin_wait_ns);
		return;
	}
	span_epoch(e, p->start_ns, p->end_ns);
	add_wait(e, wait_ns);
}

static void add_pauses(struct sp_steps *s)
{
	bool first = validates_first(s);

	for (uint32_t i = 0; i < s->pause_count; i++) {
		const struct sp_pause *p = &s->pauses[i];

		if (first && p->is_validation && p->step && p->step < s->count)
			add_validation_ahead(s, p);
		else
			add_pause(s, p);
	}
}

static int make_epochs(struct sp_steps *s)
{
	s->epochs = calloc(s->epoch_count + 1u, sizeof(*s->epochs));
	if (!s->epochs)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->count; i++) {
		const struct sp_step *step = &s->steps[i];
		struct sp_epoch *e = &s->epochs[step->epoch];

		e->first_step = e->steps ? e->first_step : i;
		e->steps++;
		e->training_ns += sp_step_wall_ns(step);
		e->wait_ns += step->account.ns[SP_ACCOUNT_loader_wait];
		e->checkpoint_ns += step->account.ns[SP_ACCOUNT_checkpoint];
		span_epoch(e, step->start_ns, step->end_ns);
	}
	if (s->count)
		add_pauses(s);
	return 0;
}

/* Returns 0 or -ENOMEM. */
static int find_median(const struct sp_steps *s, uint64_t *ret_ns)
{
	int64_t *walls = malloc((s->count + 1u) * sizeof(*walls));

	if (!walls)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->count; i++)
		walls[i] = (int64_t)sp_step_wall_ns(&s->steps[i]);
	*ret_ns = (uint64_t)sp_select(walls, s->count, s->count / 2);
	free(walls);
	return 0;
}

static bool is_long(const struct sp_step *step, uint64_t median_ns)
{
	return sp_step_wall_ns(step) * WARM_DENOMINATOR > median_ns * WARM_NUMERATOR;
}

/* Some steps have what most have not, and are longer for it. */
static bool is_interrupted(const struct sp_step *step, uint64_t median_ns)
{
	const uint64_t *ns = step->account.ns;
	uint64_t more = ns[SP_ACCOUNT_evaluation] + ns[SP_ACCOUNT_generation] +
			ns[SP_ACCOUNT_environment] + ns[SP_ACCOUNT_compile];

	return more * WARM_DENOMINATOR > median_ns && is_long(step, median_ns);
}

/* Where most steps have a checkpoint, it is part of a usual step. */
static bool saves_often(const struct sp_steps *s)
{
	uint64_t saves =
		SP_SUM(uint64_t, i, s->count, s->steps[i].account.ns[SP_ACCOUNT_checkpoint] != 0);

	return 2 * saves > s->count;
}

/* Returns the kind of step i, by the rows of step.def. */
static enum sp_step_kind kind_of(const struct sp_steps *s, uint32_t i, uint64_t median_ns,
				 bool is_warm, bool saves_often)
{
	const struct sp_step *step = &s->steps[i];
	const struct sp_epoch *epoch = &s->epochs[step->epoch];
	bool saves = step->account.ns[SP_ACCOUNT_checkpoint] != 0;

#define SP_STEP_KIND(kind, when, why, suite, test)                                                 \
	if ((when) && SP_ROW_kind_##kind != sp_step_row_off)                                       \
		return SP_STEP_##kind;
#include "analyzer/steps/step.def"
	return SP_STEP_STEADY;
}

static int sort_by_kind(struct sp_steps *s)
{
	uint64_t median_ns = 0;
	bool warm = true, saves = saves_often(s);

	if (s->count == 0)
		return 0;
	if (find_median(s, &median_ns) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->count; i++) {
		warm = warm && i < s->count / 2 && is_long(&s->steps[i], median_ns);
		s->steps[i].kind = (uint8_t)kind_of(s, i, median_ns, warm, saves);
	}
	return 0;
}

/* A row of which only a part was observed. */
static void make_residual(struct sp_steps *s, enum sp_account_phase phase)
{
	if (s->sources[phase] != SP_FROM_NOTHING)
		s->sources[phase] = SP_FROM_RESIDUAL;
}

static void find_sources(struct sp_steps *s)
{
	static const enum sp_account_phase wrapped[] = {
		SP_ACCOUNT_checkpoint,
		SP_ACCOUNT_environment,
		SP_ACCOUNT_compile,
		SP_ACCOUNT_bookkeeping,
	};

	if (!s->has_forward && s->sources[SP_ACCOUNT_backward] != SP_FROM_NOTHING)
		s->sources[SP_ACCOUNT_forward] = SP_FROM_RESIDUAL;
	s->is_forward_left_over = s->sources[SP_ACCOUNT_forward] == SP_FROM_RESIDUAL;
	if (s->is_forward_guessed)
		make_residual(s, SP_ACCOUNT_forward);
	/* Waits for the interpreter's lock and for a core are in other rows. */
	if (s->is_fed_by_thread)
		make_residual(s, SP_ACCOUNT_loader_wait);
	make_residual(s, SP_ACCOUNT_evaluation);
	s->sources[SP_ACCOUNT_other] = SP_FROM_RESIDUAL;
	for (uint32_t i = 0; i < s->pause_count; i++) {
		const struct sp_pause *p = &s->pauses[i];

		for (size_t k = 0; k < sizeof(wrapped) / sizeof(wrapped[0]); k++)
			if (p->account.ns[wrapped[k]])
				s->sources[wrapped[k]] = SP_FROM_WRAPPED;
		if (p->account.ns[SP_ACCOUNT_evaluation])
			s->sources[SP_ACCOUNT_evaluation] = SP_FROM_RESIDUAL;
		if (p->is_validation)
			s->sources[SP_ACCOUNT_validation] = SP_FROM_RESIDUAL;
	}
}

static void sum_waits(struct sp_steps *s)
{
	for (uint32_t i = 1; i < s->wait_count; i++) {
		const struct sp_interval *last = &s->waits[i - 1];

		s->waits[i].before_ns = last->before_ns + (uint64_t)(last->end_ns - last->start_ns);
	}
}

int sp_steps_classify(struct sp_steps *s)
{
	if (s->is_out_of_memory || s->timeline.is_out_of_memory)
		return -ENOMEM;
	join_steps(s);
	classify_pauses(s);
	number_epochs(s);
	sp_pass_count(s);
	find_sources(s);
	sum_waits(s);
	if (make_epochs(s) < 0)
		return -ENOMEM;
	return sort_by_kind(s);
}
