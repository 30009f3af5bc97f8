/*
 * The exclusive account: where the wall time of a training thread went, each nanosecond once. Two
 * rules: the innermost of copies, syncs and collectives is taken out of what it lies in; time that
 * nothing covers belongs to the part that it leads to.
 */
#ifndef STAGEPROF_ANALYZER_ACCOUNT_H
#define STAGEPROF_ANALYZER_ACCOUNT_H

#include <stdint.h>

enum sp_account_part {
#define SP_ACCOUNT(name, title, missing) SP_ACCOUNT_##name,
#include "analyzer/account.def"
#undef SP_ACCOUNT
	SP_ACCOUNT_PARTS
};

/* Where the time of a part is known from; the greatest one seen is what is told. */
enum sp_source_kind {
	SP_FROM_NOTHING,
	SP_FROM_OBSERVED, /* a hook, or a framework's own marker */
	SP_FROM_WRAPPED,  /* a known call of Python */
	SP_FROM_RESIDUAL, /* what is left between two others */
};

struct sp_account {
	uint64_t ns[SP_ACCOUNT_PARTS];
};

const char *sp_account_name(enum sp_account_part part);    /* the contract of JSON and CSV */
const char *sp_account_title(enum sp_account_part part);   /* for people, in their language */
const char *sp_account_missing(enum sp_account_part part); /* why a run has none */
const char *sp_source_name(enum sp_source_kind source);    /* NULL for SP_FROM_NOTHING */

static inline void sp_account_merge(struct sp_account *into, const struct sp_account *from)
{
	for (int i = 0; i < SP_ACCOUNT_PARTS; i++)
		into->ns[i] += from->ns[i];
}

static inline uint64_t sp_account_total(const struct sp_account *account)
{
	uint64_t total = 0;

	for (int i = 0; i < SP_ACCOUNT_PARTS; i++)
		total += account->ns[i];
	return total;
}

#endif
