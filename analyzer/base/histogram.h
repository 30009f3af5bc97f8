/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log-linear histogram of durations, in integers. Adding and merging commute, so any order and
 * any number of threads or machines give the same bytes.
 */
#ifndef STAGEPROF_ANALYZER_HISTOGRAM_H
#define STAGEPROF_ANALYZER_HISTOGRAM_H

#include <stdint.h>

/*
 * A number's bin is its exponent and the five bits after its leading bit, which are the top bits of
 * a floating-point number, so several bins can be computed at once (duration.c). Bins are in the
 * order of numbers. A bin is at most 1/32 of its number wide. Some bins of numbers below 32 stay
 * empty.
 */
#define SP_HIST_STEPS 32u /* bins in a power of two */
#define SP_HIST_BINS (SP_HIST_STEPS * 65u)

struct sp_hist {
	uint64_t bins[SP_HIST_BINS];
};

static inline uint32_t sp_hist_bin(uint64_t x)
{
	unsigned zeros;

	if (x == 0)
		return 0;
	zeros = (unsigned)__builtin_clzll(x);
	return (63 - zeros) * SP_HIST_STEPS + (uint32_t)(x << zeros >> 58);
}

static inline void sp_hist_add(struct sp_hist *h, uint64_t x)
{
	h->bins[sp_hist_bin(x)]++;
}

void sp_hist_merge(struct sp_hist *into, const struct sp_hist *from);

/*
 * The value of rank ceil(count * permille / 1000), as the middle of its bin: within 1/64 of the
 * true value. 0 where the histogram is empty. permille <= 1000.
 */
uint64_t sp_hist_quantile(const struct sp_hist *h, uint32_t permille);

#endif
