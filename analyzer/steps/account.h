/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exclusive account: the wall time of a training thread, divided among phases so that each
 * nanosecond counts once. Two rules divide it. The innermost of copies, syncs and collectives is
 * taken out of the phase that contains it. Time that no event covers belongs to the phase that
 * it leads to.
 */
#ifndef STAGEPROF_ANALYZER_ACCOUNT_H
#define STAGEPROF_ANALYZER_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/base/each.h"

enum sp_account_phase {
#define SP_ACCOUNT(name, title, missing, is) SP_ACCOUNT_##name,
#include "analyzer/steps/account.def"
#undef SP_ACCOUNT
	SP_ACCOUNT_PHASES
};

enum sp_account_is {
	SP_IS_MODEL = 1 << 0,	/* the model's own work */
	SP_IS_HOST = 1 << 1,	/* code of the host that may launch work of a device */
	SP_IS_SELDOM = 1 << 2,	/* for an input, or in few steps: later steps need not have it */
	SP_IS_BOUNDED = 1 << 3, /* sp_account_at_end() keeps it */
	SP_IS_RARE = 1 << 4,	/* few jobs have it: no row says that it is not there */
};

/* The source of a phase's time; the greatest source seen is reported. */
enum sp_source_kind {
	SP_FROM_NOTHING,
	SP_FROM_OBSERVED, /* a hook, or a framework's own marker */
	SP_FROM_WRAPPED,  /* a known call of Python */
	SP_FROM_RESIDUAL, /* what is left between two others */
};

struct sp_account {
	uint64_t ns[SP_ACCOUNT_PHASES];
};

const char *sp_account_name(enum sp_account_phase phase);    /* the contract of JSON and CSV */
const char *sp_account_title(enum sp_account_phase phase);   /* for people, in their language */
const char *sp_account_missing(enum sp_account_phase phase); /* why a run has none */
const char *sp_source_name(enum sp_source_kind source);	     /* NULL for SP_FROM_NOTHING */

static inline uint64_t sp_account_total(const struct sp_account *account)
{
	return SP_SUM(uint64_t, i, SP_ACCOUNT_PHASES, account->ns[i]);
}

/* `is`: bits of enum sp_account_is, of which a part has one at least. */
bool sp_account_is(enum sp_account_phase phase, unsigned is);
uint64_t sp_account_sum(const struct sp_account *account, unsigned is);

/*
 * The part of `pause` that counts where no step bounds the pause on one side. The phases kept have
 * bounds of their own: loader waits, validation, evaluation, generation, environments and
 * checkpoints. A phase that fills the time to the next event has none there, and is 0.
 */
struct sp_account sp_account_at_end(const struct sp_account *pause);

/* The phases that it keeps, a bit each. */
uint32_t sp_account_end_rows(void);

#endif
