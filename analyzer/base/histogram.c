/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/histogram.h"

void sp_hist_merge(struct sp_hist *into, const struct sp_hist *from)
{
	for (uint32_t i = 0; i < SP_HIST_BINS; i++)
		into->bins[i] += from->bins[i];
}

static uint64_t bin_middle(uint32_t bin)
{
	uint32_t exponent = bin / SP_HIST_STEPS - 1;
	uint64_t first = SP_HIST_STEPS + bin % SP_HIST_STEPS;

	if (bin < SP_HIST_STEPS) /* the bin of 0 is among these */
		return 0;
	if (exponent <= 5)
		return first >> (5 - exponent);
	return (first << (exponent - 5)) + (UINT64_C(1) << (exponent - 5)) / 2;
}

uint64_t sp_hist_quantile(const struct sp_hist *h, uint32_t permille)
{
	uint64_t count = 0, rank, below = 0;

	for (uint32_t i = 0; i < SP_HIST_BINS; i++)
		count += h->bins[i];
	if (count == 0)
		return 0;
	rank = (uint64_t)(((unsigned __int128)count * permille + 999) / 1000);
	rank = rank ? rank : 1;
	for (uint32_t i = 0; i < SP_HIST_BINS; i++) {
		below += h->bins[i];
		if (below >= rank)
			return bin_middle(i);
	}
	return 0;
}
