/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/training/step_stats.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/base/add_up.h"
#include "analyzer/base/each.h"
#include "analyzer/base/select.h"
#include "analyzer/base/spill.h"
#include "analyzer/text/translate.h"
#include "analyzer/training/training_account.h"

#define VALUES_TOGETHER (UINT64_C(1) << 18) /* in one list, in memory */

static bool has_part(const struct sp_trainer *trainer, unsigned phase)
{
	return phase == SP_STEP_WALL || trainer->steps.sources[phase] != SP_FROM_NOTHING;
}

/* At most INT64_MAX, which only hostile bytes exceed. */
static uint64_t value_of(const struct sp_step *step, unsigned phase)
{
	uint64_t ns = phase == SP_STEP_WALL ? sp_step_wall_ns(step) : step->account.ns[phase];

	return ns < INT64_MAX ? ns : INT64_MAX;
}

/* The values of one trainer. */
static uint64_t gather_of(const struct sp_training *training, const struct sp_trainer *trainer,
			  unsigned phase, unsigned kinds, uint64_t *values)
{
	int column = phase == SP_STEP_WALL ? SP_SERIES_WALL : SP_SERIES_PHASE + (int)phase;
	struct sp_step_cursor cursor;
	const struct sp_step *step;
	uint64_t n = 0;

	if (!has_part(trainer, phase))
		return 0;
	sp_step_cursor_init(&cursor, training, trainer,
			    1u << SP_SERIES_KIND | UINT64_C(1) << column);
	while ((step = sp_step_cursor_next(&cursor)))
		if (kinds >> step->kind & 1)
			values[n++] = value_of(step, phase);
	return n;
}

static uint64_t steps_of_all(const struct sp_training *training)
{
	return SP_SUM(uint64_t, t, training->count, training->trainers[t].steps.count);
}

/* The value of rank ceil(n * permille / 1000). The values before index `from` are the least, and
 * those before the result are afterwards; *ret_from is its index. */
static uint64_t quantile(uint64_t *values, uint64_t n, uint32_t permille, uint64_t from,
			 uint64_t *ret_from)
{
	uint64_t at = (n * permille + 999) / 1000 - 1;

	*ret_from = at;
	/* value_of() leaves no value above INT64_MAX. */
	return (uint64_t)sp_select((int64_t *)values + from, n - from, at - from);
}

static void read_quantiles(struct sp_step_stats *stats, uint64_t *values)
{
	uint64_t n = stats->count, at = 0;

	if (!n)
		return;
	stats->p50_ns = quantile(values, n, 500, at, &at);
	stats->p95_ns = quantile(values, n, 950, at, &at);
	stats->p99_ns = quantile(values, n, 990, at, &at);
	stats->max_ns = quantile(values, n, 1000, at, &at);
}

int sp_step_values(const struct sp_training *training, unsigned phase, unsigned kinds,
		   uint64_t **ret_values, uint64_t *ret_count)
{
	uint64_t *values = malloc((steps_of_all(training) + 1) * sizeof(*values));

	if (!values)
		return -ENOMEM;
	*ret_count = 0;
	for (uint32_t t = 0; t < training->count; t++)
		*ret_count += gather_of(training, &training->trainers[t], phase, kinds,
					values + *ret_count);
	*ret_values = values;
	return 0;
}

static int stats_together(const struct sp_training *training, unsigned phase, unsigned kinds,
			  struct sp_step_stats *ret)
{
	uint64_t *values;
	int r = sp_step_values(training, phase, kinds, &values, &ret->count);

	if (r < 0)
		return r;
	for (uint64_t i = 0; i < ret->count; i++)
		ret->total_ns += values[i];
	read_quantiles(ret, values);
	free(values);
	return 0;
}

/* Values of so many steps that they are kept by a spill of their own, a list a trainer. */
struct listed_values {
	struct sp_spill *spill;
	struct sp_select_list *lists;
	uint32_t count;
	uint64_t *counts; /* SP_SELECT_COUNTS */
};

static void listed_values_finish(struct listed_values *l)
{
	for (uint32_t i = 0; l->lists && i < l->count; i++)
		sp_spill_free(l->spill, (uint64_t *)l->lists[i].values);
	sp_spill_destroy(l->spill);
	free(l->lists);
	free(l->counts);
}

static int list_values(struct listed_values *l, const struct sp_training *training, unsigned phase,
		       unsigned kinds, struct sp_step_stats *ret)
{
	for (uint32_t t = 0; t < training->count; t++) {
		const struct sp_trainer *trainer = &training->trainers[t];
		uint64_t *values = malloc((trainer->steps.count + 1) * sizeof(*values)), n;

		if (!values)
			return -ENOMEM;
		n = gather_of(training, trainer, phase, kinds, values);
		ret->count += n;
		for (uint64_t i = 0; i < n; i++) {
			ret->total_ns += values[i];
			ret->max_ns = values[i] > ret->max_ns ? values[i] : ret->max_ns;
		}
		values = sp_spill_keep(l->spill, values, n * sizeof(*values));
		l->lists[l->count++] = (struct sp_select_list){values, n};
	}
	return 0;
}

static uint64_t listed_quantile(const struct listed_values *l, uint64_t n, uint32_t permille)
{
	return n ? sp_select_listed(l->lists, l->count, (n * permille + 999) / 1000 - 1, l->counts)
		 : 0;
}

static int stats_listed(const struct sp_training *training, unsigned phase, unsigned kinds,
			struct sp_step_stats *ret)
{
	struct listed_values l = {.spill = sp_spill_create(VALUES_TOGETHER * sizeof(uint64_t)),
				  .lists = calloc(training->count, sizeof(*l.lists)),
				  .counts = malloc(SP_SELECT_COUNTS * sizeof(*l.counts))};
	int r = l.lists && l.counts ? list_values(&l, training, phase, kinds, ret) : -ENOMEM;

	if (r == 0) {
		ret->p50_ns = listed_quantile(&l, ret->count, 500);
		ret->p95_ns = listed_quantile(&l, ret->count, 950);
		ret->p99_ns = listed_quantile(&l, ret->count, 990);
	}
	listed_values_finish(&l);
	return r;
}

int sp_step_stats(const struct sp_training *training, unsigned phase, unsigned kinds,
		  struct sp_step_stats *ret)
{
	*ret = (struct sp_step_stats){.count = 0};
	return steps_of_all(training) <= VALUES_TOGETHER
		       ? stats_together(training, phase, kinds, ret)
		       : stats_listed(training, phase, kinds, ret);
}

static struct sp_step_mean mean_of(const struct sp_training *training, unsigned kinds)
{
	struct sp_step_mean mean = {.of_steady = kinds != SP_STEP_KINDS_ALL};

	for (uint32_t t = 0; t < training->count; t++) {
		struct sp_step_cursor cursor;
		const struct sp_step *step;

		sp_step_cursor_init(&cursor, training, &training->trainers[t],
				    SP_SERIES_STEP & ~(UINT64_C(1) << SP_SERIES_START));
		while ((step = sp_step_cursor_next(&cursor))) {
			if (!(kinds >> step->kind & 1))
				continue;
			mean.count++;
			mean.total_ns += value_of(step, SP_STEP_WALL);
			SP_ADD_UP(&mean.account, &step->account);
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
