/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/account.h"

#include "analyzer/base/each.h"
#include "analyzer/text/translate.h"

static const struct {
	const char *name, *title, *missing;
	unsigned is;
} table[SP_ACCOUNT_PHASES] = {
#define SP_ACCOUNT(name, title, missing, is) {#name, title, missing, is},
#include "analyzer/steps/account.def"
#undef SP_ACCOUNT
};

static const char *const sources[] = {
	[SP_FROM_OBSERVED] = N_("observed"),
	[SP_FROM_WRAPPED] = N_("wrapped"),
	[SP_FROM_RESIDUAL] = N_("residual"),
};

const char *sp_account_name(enum sp_account_phase phase)
{
	return table[phase].name;
}

const char *sp_account_title(enum sp_account_phase phase)
{
	return _(table[phase].title);
}

const char *sp_account_missing(enum sp_account_phase phase)
{
	return _(table[phase].missing);
}

bool sp_account_is(enum sp_account_phase phase, unsigned is)
{
	return table[phase].is & is;
}

const char *sp_source_name(enum sp_source_kind source)
{
	return _(sources[source]);
}

uint32_t sp_account_end_rows(void)
{
	uint32_t rows = 0;

	for (int i = 0; i < SP_ACCOUNT_PHASES; i++)
		rows |= table[i].is & SP_IS_BOUNDED ? 1u << i : 0;
	return rows;
}

uint64_t sp_account_sum(const struct sp_account *account, unsigned is)
{
	return SP_SUM(uint64_t, i, SP_ACCOUNT_PHASES, table[i].is & is ? account->ns[i] : 0);
}

struct sp_account sp_account_at_end(const struct sp_account *pause)
{
	struct sp_account kept = {.ns = {0}};

	for (int i = 0; i < SP_ACCOUNT_PHASES; i++)
		kept.ns[i] = table[i].is & SP_IS_BOUNDED ? pause->ns[i] : 0;
	return kept;
}
