/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/training/training_account.h"

#include "analyzer/base/add_up.h"
#include "analyzer/base/each.h"

static bool is_in_time(const struct sp_run *run, const struct sp_step *step)
{
	const struct sp_selection *s = &run->selection;
	int64_t at_ns = step->start_ns - run->begin_ns;

	return at_ns >= s->from_ns && at_ns < s->to_ns;
}

bool sp_step_is_selected(const struct sp_training *training, const struct sp_trainer *trainer,
			 uint32_t i)
{
	const struct sp_step_selection *s = &training->selection;
	const struct sp_step *step;
	uint32_t number;

	if (trainer->is_digested) /* a selection needs events */
		return true;
	step = &trainer->steps.steps[i];
	number = sp_step_number(&trainer->steps, i);
	return number >= s->from && number < s->to && (int64_t)number >= s->warmup &&
	       (s->epoch < 0 || s->epoch == step->epoch) && is_in_time(training->run, step);
}

void sp_step_cursor_init(struct sp_step_cursor *c, const struct sp_training *training,
			 const struct sp_trainer *trainer, uint64_t columns)
{
	c->training = training;
	c->trainer = trainer;
	c->columns = columns;
	c->next = c->filled = c->block = 0;
}

static const struct sp_step *next_of_series(struct sp_step_cursor *c)
{
	const struct sp_step_series *series = &c->trainer->series;

	for (; c->next == c->filled && c->block < series->block_count; c->block++) {
		if (sp_series_steps(series, c->block, c->columns, 0, c->room) < 0)
			return NULL; /* sp_series_read() has read these bytes */
		c->next = 0;
		c->filled = series->blocks[c->block].steps;
	}
	return c->next < c->filled ? &c->room[c->next++] : NULL;
}

const struct sp_step *sp_step_cursor_next(struct sp_step_cursor *c)
{
	const struct sp_steps *s = &c->trainer->steps;

	if (sp_trainer_is_folded(c->trainer))
		return next_of_series(c);
	while (c->next < s->count) {
		uint32_t i = c->next++;

		if (!c->training || sp_step_is_selected(c->training, c->trainer, i))
			return &s->steps[i];
	}
	return NULL;
}

bool sp_pause_is_selected(const struct sp_training *training, const struct sp_trainer *trainer,
			  const struct sp_pause *p)
{
	return (!p->step || sp_step_is_selected(training, trainer, p->step - 1)) &&
	       (p->step == trainer->steps.count || sp_step_is_selected(training, trainer, p->step));
}

static void merge_at_end(struct sp_account *sum, const struct sp_account *pause, bool has_sync)
{
	struct sp_account at_end = sp_account_at_end(pause);

	SP_ADD_UP(sum, &at_end);
	if (has_sync)
		sum->ns[SP_ACCOUNT_sync_wait] += pause->ns[SP_ACCOUNT_sync_wait];
}

/* Calls that make whole steps return ahead of the device, which still works on the last ones. */
static bool waits_for_steps(const struct sp_steps *steps, const struct sp_pause *pause)
{
	return steps->has_whole_calls && pause->step == steps->count;
}

/* True where the pause lies before the first step or after the last one. */
static bool is_at_end(const struct sp_steps *steps, const struct sp_pause *pause)
{
	return !pause->step || pause->step == steps->count;
}

static void merge_end_pauses(struct sp_account *sum, const struct sp_training *training,
			     const struct sp_trainer *trainer)
{
	const struct sp_steps *s = &trainer->steps;

	for (uint32_t i = 0; i < s->pause_count; i++)
		if (is_at_end(s, &s->pauses[i]) &&
		    sp_pause_is_selected(training, trainer, &s->pauses[i]))
			merge_at_end(sum, &s->pauses[i].account, waits_for_steps(s, &s->pauses[i]));
}

struct sp_account sp_trainer_account(const struct sp_training *training,
				     const struct sp_trainer *trainer)
{
	const struct sp_steps *s = &trainer->steps;
	struct sp_account sum = {.ns = {0}};

	if (trainer->is_digested)
		return trainer->account;
	for (uint32_t i = 0; i < s->count; i++)
		if (sp_step_is_selected(training, trainer, i))
			SP_ADD_UP(&sum, &s->steps[i].account);
	for (uint32_t i = 0; i < s->pause_count; i++)
		if (!is_at_end(s, &s->pauses[i]) &&
		    sp_pause_is_selected(training, trainer, &s->pauses[i]))
			SP_ADD_UP(&sum, &s->pauses[i].account);
	merge_end_pauses(&sum, training, trainer);
	return sum;
}

struct sp_account sp_training_account(const struct sp_training *training)
{
	struct sp_account sum = {.ns = {0}};

	for (uint32_t t = 0; t < training->count; t++) {
		struct sp_account one = sp_trainer_account(training, &training->trainers[t]);

		SP_ADD_UP(&sum, &one);
	}
	return sum;
}

struct sp_account sp_training_ends(const struct sp_training *training)
{
	struct sp_account sum = {.ns = {0}};

	for (uint32_t t = 0; t < training->count; t++)
		merge_end_pauses(&sum, training, &training->trainers[t]);
	return sum;
}

/* Validations between steps make those at the ends the first and the last of a series. */
static uint64_t lone_validation(const struct sp_training *training,
				const struct sp_trainer *trainer)
{
	const struct sp_steps *s = &trainer->steps;
	uint64_t between_ns = 0, lone_ns = 0, like_ns;
	uint32_t between = 0;

	for (uint32_t i = 0; i < s->pause_count; i++)
		if (!is_at_end(s, &s->pauses[i]) &&
		    s->pauses[i].account.ns[SP_ACCOUNT_validation] &&
		    sp_pause_is_selected(training, trainer, &s->pauses[i])) {
			between_ns += s->pauses[i].account.ns[SP_ACCOUNT_validation];
			between++;
		}
	like_ns = between ? between_ns / between : 0;
	for (uint32_t i = 0; i < s->pause_count; i++) {
		uint64_t ns = s->pauses[i].account.ns[SP_ACCOUNT_validation];

		if (is_at_end(s, &s->pauses[i]) && ns > like_ns &&
		    sp_pause_is_selected(training, trainer, &s->pauses[i]))
			lone_ns += ns - like_ns;
	}
	return lone_ns;
}

uint64_t sp_training_lone_validation(const struct sp_training *training)
{
	return SP_SUM(uint64_t, t, training->count,
		      lone_validation(training, &training->trainers[t]));
}

struct sp_step_span sp_trainer_span(const struct sp_trainer *trainer)
{
	struct sp_step_span span = {.in_steps_ns = 0};
	struct sp_step_cursor cursor;
	const struct sp_step *step;

	sp_step_cursor_init(&cursor, NULL, trainer,
			    1u << SP_SERIES_START | 1u << SP_SERIES_WALL |
				    1u << (SP_SERIES_PHASE + SP_ACCOUNT_loader_wait));
	for (bool is_first = true; (step = sp_step_cursor_next(&cursor)); is_first = false) {
		if (is_first) {
			span.first_start_ns = step->start_ns;
			span.first_wait_ns = step->account.ns[SP_ACCOUNT_loader_wait];
		}
		span.last_end_ns = step->end_ns;
		span.in_steps_ns += sp_interval_ns(step->start_ns, step->end_ns);
	}
	return span;
}
