/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests if one series of step times is slower than another by more than chance: a bootstrap
 * interval of the ratio of their means. The mean is throughput; the median of steps that alternate
 * (a loader with workers) is one of two times, by chance.
 *
 * Neighbouring steps are alike (a cache fills, another job starts) or take turns (each worker's
 * batch), so the bootstrap draws blocks of consecutive steps: the circular block bootstrap (Politis
 * and Romano, 1992). A block has ceil(sqrt(n)) steps or more, a whole number of periods. Few blocks
 * show too little of their spread, so the percentile interval is widened by Student's t. It covers
 * variation within the runs, not variation between runs. The seed is fixed, so the same traces give
 * the same interval.
 */
#ifndef STAGEPROF_ANALYZER_SIGNIFICANCE_H
#define STAGEPROF_ANALYZER_SIGNIFICANCE_H

#include <stdint.h>

#define SP_COMPARED_STEPS_MIN 10u /* of each series; fewer steps do not show their spread */

struct sp_step_times {
	const uint64_t *ns; /* in the order of time */
	uint64_t count;
	uint64_t period; /* steps after which times may repeat; 0: none is known */
};

struct sp_ratio {
	double value;	  /* mean of the second series divided by the mean of the first */
	double low, high; /* 95% interval */
};

/*
 * Each series has at least SP_COMPARED_STEPS_MIN steps, and no mean of 0. Returns 0, -EINVAL where
 * a series is too short or has no mean, or -ENOMEM.
 */
int sp_ratio_of_means(const struct sp_step_times *first, const struct sp_step_times *second,
		      struct sp_ratio *ret);

#endif
