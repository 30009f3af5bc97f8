/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/training/life.h"

#include "analyzer/base/intervals.h"
#include "analyzer/text/translate.h"
#include "analyzer/totals/process_end.h"
#include "analyzer/training/training_account.h"

static const struct {
	const char *name, *title;
} parts[SP_LIFE_PARTS] = {
#define SP_LIFE(name, title) {#name, title},
#include "analyzer/training/life.def"
#undef SP_LIFE
};

const char *sp_life_name(enum sp_life_part part)
{
	return parts[part].name;
}

const char *sp_life_title(enum sp_life_part part)
{
	return _(parts[part].title);
}

/* Waiting for the first batch begins where its loader does. */
static uint64_t wait_ahead(const struct sp_steps *s)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < s->pause_count && s->pauses[i].step == 0; i++)
		ns += s->pauses[i].account.ns[SP_ACCOUNT_loader_wait];
	return ns;
}

/* Before the first step a loader's begin is part of the first batch: see wait_ahead(). */
static uint64_t at_end(const struct sp_steps *s, uint32_t step)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < s->pause_count; i++) {
		struct sp_account kept = sp_account_at_end(&s->pauses[i].account);

		if (s->pauses[i].step != step)
			continue;
		if (!step)
			kept.ns[SP_ACCOUNT_loader_wait] = 0;
		ns += sp_account_total(&kept);
	}
	return ns;
}

static uint64_t passes_ahead(const struct sp_steps *s)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < s->pause_count && s->pauses[i].step == 0; i++)
		ns += s->pauses[i].start_pass_ns;
	return ns;
}

static void add_steps(struct sp_life *life, const struct sp_trainer *trainer, int64_t begin_ns,
		      int64_t end_ns)
{
	const struct sp_steps *s = &trainer->steps;
	struct sp_step_span span = sp_trainer_span(trainer);
	uint64_t start_ns = sp_interval_ns(begin_ns, span.first_start_ns);
	uint64_t ahead_ns = sp_least_ns(wait_ahead(s), start_ns), steps_ns = span.in_steps_ns;
	uint64_t wait_ns = sp_least_ns(span.first_wait_ns, steps_ns);

	uint64_t after_ns = sp_interval_ns(span.last_end_ns, end_ns);
	uint64_t before_ends_ns = sp_least_ns(at_end(s, 0), start_ns - ahead_ns);
	uint64_t after_ends_ns = sp_least_ns(at_end(s, s->count), after_ns);

	life->ns[SP_LIFE_start_up] += start_ns - ahead_ns - before_ends_ns;
	life->passes_ns += sp_least_ns(passes_ahead(s), start_ns - ahead_ns - before_ends_ns);
	life->ns[SP_LIFE_first_batch] += ahead_ns + wait_ns;
	life->ns[SP_LIFE_steps] += steps_ns - wait_ns;
	life->ns[SP_LIFE_between] +=
		sp_interval_ns((int64_t)steps_ns,
			       (int64_t)sp_interval_ns(span.first_start_ns, span.last_end_ns));
	life->ns[SP_LIFE_ends] += before_ends_ns + after_ends_ns;
	life->ns[SP_LIFE_after] += after_ns - after_ends_ns;
}

/* To its end where somebody saw that: a process that hangs or exits makes no events. */
static void process_life(const struct sp_training *training, const struct sp_totals *totals,
			 uint32_t image, int64_t *ret_begin_ns, int64_t *ret_end_ns)
{
	const struct sp_index *index = &training->run->index;
	struct sp_process_end end;

	*ret_begin_ns = INT64_MAX;
	*ret_end_ns = INT64_MIN;
	for (uint32_t i = sp_index_first_stream(index, image);
	     i < index->stream_count && index->streams[i]->image == image; i++) {
		int64_t begin_ns, end_ns;

		sp_stream_life(training->run, totals, i, &begin_ns, &end_ns);
		*ret_begin_ns = begin_ns < *ret_begin_ns ? begin_ns : *ret_begin_ns;
		*ret_end_ns = end_ns > *ret_end_ns ? end_ns : *ret_end_ns;
	}
	if (training->run->selection.to_ns != INT64_MAX)
		return;
	end = sp_process_end_of(training->run, totals, image);
	*ret_end_ns = end.at_ns > *ret_end_ns ? end.at_ns : *ret_end_ns;
}

struct sp_life sp_training_life(const struct sp_training *training, const struct sp_totals *totals)
{
	struct sp_life life = {.total_ns = 0};
	uint32_t last_image = UINT32_MAX;

	for (uint32_t t = 0; t < training->count; t++) {
		const struct sp_trainer *trainer = &training->trainers[t];
		uint32_t image = training->run->index.streams[trainer->stream]->image;
		int64_t begin_ns, end_ns;

		if (image == last_image || !trainer->steps.count)
			continue;
		last_image = image;
		life.processes++;
		process_life(training, totals, image, &begin_ns, &end_ns);
		add_steps(&life, trainer, begin_ns, end_ns);
	}
	for (int part = 0; part < SP_LIFE_PARTS; part++)
		life.total_ns += life.ns[part];
	return life;
}
