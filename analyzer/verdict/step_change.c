/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/verdict/step_change.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/metrics/input_sums.h"
#include "analyzer/training/step_stats.h"

enum { MADE_AHEAD = 2 }; /* batches of a worker: prefetch_factor of PyTorch, where it is not set */

static uint64_t period_of(const struct sp_report *report)
{
	struct sp_input_sums in = {.at_once = 0};

	sp_input_sums_read(&in, report);
	return (uint64_t)in.at_once * MADE_AHEAD;
}

static int compare_kinds(const struct sp_report *first, const struct sp_report *other,
			 unsigned kinds, struct sp_ratio *ret)
{
	uint64_t *a = NULL, *b = NULL, a_count, b_count;
	int r = sp_step_values(&first->training, SP_STEP_WALL, kinds, &a, &a_count);

	if (r == 0)
		r = sp_step_values(&other->training, SP_STEP_WALL, kinds, &b, &b_count);
	if (r == 0)
		r = sp_ratio_of_means(&(struct sp_step_times){a, a_count, period_of(first)},
				      &(struct sp_step_times){b, b_count, period_of(other)}, ret);
	free(a);
	free(b);
	return r;
}

/* Steady steps show a change best; short runs have few of them. */
int sp_step_change_find(const struct sp_report *first, const struct sp_report *other,
			struct sp_step_change *ret)
{
	int r = compare_kinds(first, other, 1u << SP_STEP_STEADY, &ret->ratio);

	ret->of_steady = r == 0;
	if (r == -EINVAL)
		r = compare_kinds(first, other, SP_STEP_KINDS_ALL, &ret->ratio);
	ret->change = r < 0		    ? SP_CHANGE_UNKNOWN
		      : ret->ratio.low > 1  ? SP_CHANGE_SLOWER
		      : ret->ratio.high < 1 ? SP_CHANGE_FASTER
					    : SP_CHANGE_SAME;
	return r == -EINVAL ? 0 : r;
}
