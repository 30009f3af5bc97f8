/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests if one series of step times is slower than another by more than chance: a bootstrap
 * interval of the ratio of their medians.
 *
 * Neighbouring steps are alike (a cache fills, another job starts), so the bootstrap draws blocks
 * of ceil(sqrt(n)) consecutive steps and not single steps: the circular block bootstrap (Politis
 * and Romano, 1992) with a percentile interval. The interval covers variation within the runs, not
 * variation between runs. The seed is fixed, so the same traces give the same interval.
 */
#ifndef STAGEPROF_ANALYZER_SIGNIFICANCE_H
#define STAGEPROF_ANALYZER_SIGNIFICANCE_H

#include <stdint.h>

#define SP_COMPARED_STEPS_MIN 10u /* of each series; fewer steps do not show their spread */

struct sp_ratio {
	double value;	  /* median of the second series divided by the median of the first */
	double low, high; /* 95% interval */
};

/*
 * The series are in the order of time, have at least SP_COMPARED_STEPS_MIN steps each, and no
 * median of 0. Makes at most about 40 million draws, and at least 200 resamples. Returns 0, -EINVAL
 * where a series is too short or has no median, or -ENOMEM.
 */
int sp_ratio_of_medians(const uint64_t *first, uint64_t first_count, const uint64_t *second,
			uint64_t second_count, struct sp_ratio *ret);

#endif
