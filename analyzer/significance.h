/*
 * Whether one series of step times is slower than another by more than chance: a bootstrap interval of the
 * ratio of their medians.
 *
 * Steps beside each other are alike (a cache fills, a neighbour comes), so stretches of ceil(sqrt n)
 * consecutive steps are drawn, not single ones: the circular block bootstrap (Politis and Romano,
 * 1992), percentile interval. It knows what varied within the runs; what varies from run to run it
 * cannot know. The seed is fixed: the same traces give the same interval.
 */
#ifndef STAGEPROF_ANALYZER_SIGNIFICANCE_H
#define STAGEPROF_ANALYZER_SIGNIFICANCE_H

#include <stdint.h>

#define SP_COMPARED_STEPS_MIN 10u /* of each series; fewer say nothing of their spread */

struct sp_ratio {
	double value;	  /* median of the second series by that of the first */
	double low, high; /* 95 % interval */
};

/*
 * In the order of time; each of SP_COMPARED_STEPS_MIN or more, none with a median of 0. Some
 * 40 million draws at most, and 200 resamples at least. Returns 0, -EINVAL where a series is too
 * short or has no median, or -ENOMEM.
 */
int sp_ratio_of_medians(const uint64_t *first, uint64_t first_count, const uint64_t *second,
			uint64_t second_count, struct sp_ratio *ret);

#endif
