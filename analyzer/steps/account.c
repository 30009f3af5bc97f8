/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/account.h"

#include <stddef.h>

#include "analyzer/text/translate.h"

static const char *const names[SP_ACCOUNT_PHASES] = {
#define SP_ACCOUNT(name, title, missing) #name,
#include "analyzer/steps/account.def"
#undef SP_ACCOUNT
};

static const char *const titles[SP_ACCOUNT_PHASES] = {
#define SP_ACCOUNT(name, title, missing) title,
#include "analyzer/steps/account.def"
#undef SP_ACCOUNT
};

static const char *const missing[SP_ACCOUNT_PHASES] = {
#define SP_ACCOUNT(name, title, missing) missing,
#include "analyzer/steps/account.def"
#undef SP_ACCOUNT
};

static const char *const sources[] = {
	[SP_FROM_OBSERVED] = N_("observed"),
	[SP_FROM_WRAPPED] = N_("wrapped"),
	[SP_FROM_RESIDUAL] = N_("residual"),
};

static const enum sp_account_phase at_end[] = {
	SP_ACCOUNT_loader_wait, SP_ACCOUNT_validation, SP_ACCOUNT_evaluation,
	SP_ACCOUNT_environment, SP_ACCOUNT_checkpoint,
};

const char *sp_account_name(enum sp_account_phase phase)
{
	return names[phase];
}

const char *sp_account_title(enum sp_account_phase phase)
{
	return _(titles[phase]);
}

const char *sp_account_missing(enum sp_account_phase phase)
{
	return _(missing[phase]);
}

const char *sp_source_name(enum sp_source_kind source)
{
	return _(sources[source]);
}

uint32_t sp_account_end_rows(void)
{
	uint32_t rows = 0;

	for (size_t i = 0; i < sizeof(at_end) / sizeof(at_end[0]); i++)
		rows |= 1u << at_end[i];
	return rows;
}

struct sp_account sp_account_at_end(const struct sp_account *pause)
{
	struct sp_account kept = {.ns = {0}};

	for (size_t i = 0; i < sizeof(at_end) / sizeof(at_end[0]); i++)
		kept.ns[at_end[i]] = pause->ns[at_end[i]];
	return kept;
}
