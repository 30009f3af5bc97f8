/*
 * Durations by size: a log-linear histogram in integers. Adding and merging commute, so that any
 * order and any number of threads or machines give the same bytes.
 */
#ifndef STAGEPROF_ANALYZER_HIST_H
#define STAGEPROF_ANALYZER_HIST_H

#include <stdint.h>

#define SP_HIST_STEPS 32u /* bins in a power of two: a bin is at most 1/32 of its value wide */
#define SP_HIST_BINS (SP_HIST_STEPS * 60u)

struct sp_hist {
	uint64_t bins[SP_HIST_BINS];
};

static inline uint32_t sp_hist_bin(uint64_t x)
{
	unsigned shift;

	if (x < SP_HIST_STEPS)
		return (uint32_t)x;
	shift = 58 - (unsigned)__builtin_clzll(x);
	return (shift << 5) + (uint32_t)(x >> shift);
}

static inline void sp_hist_add(struct sp_hist *h, uint64_t x)
{
	h->bins[sp_hist_bin(x)]++;
}

void sp_hist_merge(struct sp_hist *into, const struct sp_hist *from);

/*
 * The value of rank ceil(count * permille / 1000), as the middle of its bin: within 1/64 of the
 * true one. 0 where the histogram is empty. permille <= 1000.
 */
uint64_t sp_hist_quantile(const struct sp_hist *h, uint32_t permille);

#endif
