/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/training/step_stats.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/text/translate.h"
#include "analyzer/training/training_account.h"

static bool has_part(const struct sp_trainer *trainer, unsigned phase)
{
	return phase == SP_STEP_WALL || trainer->steps.sources[phase] != SP_FROM_NOTHING;
}

static uint64_t value_of(const struct sp_step *step, unsigned phase)
{
	return phase == SP_STEP_WALL ? (uint64_t)(step->end_ns - step->start_ns)
				     : step->account.ns[phase];
}

static uint64_t gather(const struct sp_training *training, unsigned phase, unsigned kinds,
		       uint64_t *values)
{
	uint64_t n = 0;

	for (uint32_t t = 0; t < training->count; t++) {
		const struct sp_trainer *trainer = &training->trainers[t];

		for (uint32_t i = 0; has_part(trainer, phase) && i < trainer->steps.count; i++) {
			const struct sp_step *step = &trainer->steps.steps[i];

			if ((kinds >> step->kind & 1) && sp_step_is_selected(training, trainer, i))
				values[n++] = value_of(step, phase);
		}
	}
	return n;
}

static int compare_ns(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The value of rank ceil(n * permille / 1000). */
static uint64_t quantile(const uint64_t *sorted, uint64_t n, uint32_t permille)
{
	return n ? sorted[(n * permille + 999) / 1000 - 1] : 0;
}

int sp_step_values(const struct sp_training *training, unsigned phase, unsigned kinds,
		   uint64_t **ret_values, uint64_t *ret_count)
{
	uint64_t room = 1, *values;

	for (uint32_t t = 0; t < training->count; t++)
		room += training->trainers[t].steps.count;
	values = malloc(room * sizeof(*values));
	if (!values)
		return -ENOMEM;
	*ret_count = gather(training, phase, kinds, values);
	*ret_values = values;
	return 0;
}

int sp_step_stats(const struct sp_training *training, unsigned phase, unsigned kinds,
		  struct sp_step_stats *ret)
{
	uint64_t *values;
	int r;

	*ret = (struct sp_step_stats){.count = 0};
	r = sp_step_values(training, phase, kinds, &values, &ret->count);
	if (r < 0)
		return r;
	for (uint64_t i = 0; i < ret->count; i++)
		ret->total_ns += values[i];
	qsort(values, ret->count, sizeof(*values), compare_ns);
	ret->p50_ns = quantile(values, ret->count, 500);
	ret->p95_ns = quantile(values, ret->count, 950);
	ret->p99_ns = quantile(values, ret->count, 990);
	ret->max_ns = quantile(values, ret->count, 1000);
	free(values);
	return 0;
}

static struct sp_step_mean mean_of(const struct sp_training *training, unsigned kinds)
{
	struct sp_step_mean mean = {.of_steady = kinds != SP_STEP_KINDS_ALL};

	for (uint32_t t = 0; t < training->count; t++) {
		const struct sp_trainer *trainer = &training->trainers[t];

		for (uint32_t i = 0; i < trainer->steps.count; i++) {
			const struct sp_step *step = &trainer->steps.steps[i];

			if (!(kinds >> step->kind & 1) ||
			    !sp_step_is_selected(training, trainer, i))
				continue;
			mean.count++;
			mean.total_ns += value_of(step, SP_STEP_WALL);
			sp_account_merge(&mean.account, &step->account);
		}
	}
	return mean;
}

struct sp_step_mean sp_step_mean(const struct sp_training *training)
{
	struct sp_step_mean mean = mean_of(training, 1u << SP_STEP_STEADY);

	return mean.count ? mean : mean_of(training, SP_STEP_KINDS_ALL);
}

const char *sp_step_kind_name(enum sp_step_kind kind)
{
	static const char *const names[] = {
		[SP_STEP_STEADY] = N_("steady"),
		[SP_STEP_WARMUP] = N_("warm-up"),
		[SP_STEP_CHECKPOINT] = N_("checkpoint"),
		[SP_STEP_EPOCH_FIRST] = N_("epoch first"),
		[SP_STEP_TAIL] = N_("tail"),
		[SP_STEP_INTERRUPTED] = N_("interrupted"),
	};

	return _(names[kind]);
}

enum sp_step_end sp_training_end(const struct sp_training *training)
{
	for (uint32_t t = 0; t < training->count; t++)
		if (training->trainers[t].steps.end != SP_STEP_BY_OPTIMIZER)
			return training->trainers[t].steps.end;
	return SP_STEP_BY_OPTIMIZER;
}

enum sp_source_kind sp_training_source(const struct sp_training *training,
				       enum sp_account_phase phase)
{
	enum sp_source_kind source = SP_FROM_NOTHING;

	for (uint32_t t = 0; t < training->count; t++)
		if (training->trainers[t].steps.sources[phase] > source)
			source = (enum sp_source_kind)training->trainers[t].steps.sources[phase];
	return source;
}
