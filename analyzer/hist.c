#include "analyzer/hist.h"

void sp_hist_merge(struct sp_hist *into, const struct sp_hist *from)
{
	for (uint32_t i = 0; i < SP_HIST_BINS; i++)
		into->bins[i] += from->bins[i];
}

static uint64_t bin_middle(uint32_t bin)
{
	unsigned shift;

	if (bin < 2 * SP_HIST_STEPS)
		return bin;
	shift = bin / SP_HIST_STEPS - 1;
	return ((uint64_t)(SP_HIST_STEPS + bin % SP_HIST_STEPS) << shift) +
	       (UINT64_C(1) << shift) / 2;
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
