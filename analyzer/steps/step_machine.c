/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/step_machine.h"

uint32_t sp_step_row_off = SP_STEP_ROWS;

static const uint64_t tokens_of[SP_INTERVAL_KINDS] = {
#define SP_INTERVAL(name, account, part, apart)                                                    \
	T(name) | EVERY | (SP_ACCOUNT_##account == SP_ACCOUNT_loader_wait ? LOADERS : 0) |         \
		(SP_ACCOUNT_##account != SP_ACCOUNT_other ? ROWS : 0) |                            \
		(SP_PART_##part == SP_PART_MODEL ? MODELS : 0) |                                   \
		(SP_PART_##part == SP_PART_MODEL || SP_PART_##part == SP_PART_LEARN ? COMPUTES     \
										    : 0) |         \
		(SP_PART_##part >= SP_PART_END ? ENDS : 0) |                                       \
		(SP_PART_##part != SP_PART_NONE ? STRUCTURE : 0),
#include "analyzer/steps/interval.def"
#undef SP_INTERVAL
};

uint64_t sp_interval_tokens(const struct sp_phase_interval *p)
{
	return tokens_of[p->kind];
}

uint32_t sp_interval_next(const struct sp_phase_interval *intervals, uint32_t i, uint32_t n,
			  uint64_t tokens)
{
	while (i < n && !(tokens_of[intervals[i].kind] & tokens))
		i++;
	return i;
}

uint32_t sp_interval_last(const struct sp_phase_interval *intervals, uint32_t n, uint64_t tokens)
{
	while (n > 0 && !(tokens_of[intervals[n - 1].kind] & tokens))
		n--;
	return n;
}
