#include "analyzer/account.h"

#include <stddef.h>

#include "analyzer/translate.h"

static const char *const names[SP_ACCOUNT_PARTS] = {
#define SP_ACCOUNT(name, title, missing) #name,
#include "analyzer/account.def"
#undef SP_ACCOUNT
};

static const char *const titles[SP_ACCOUNT_PARTS] = {
#define SP_ACCOUNT(name, title, missing) title,
#include "analyzer/account.def"
#undef SP_ACCOUNT
};

static const char *const missing[SP_ACCOUNT_PARTS] = {
#define SP_ACCOUNT(name, title, missing) missing,
#include "analyzer/account.def"
#undef SP_ACCOUNT
};

static const char *const sources[] = {
	[SP_FROM_OBSERVED] = N_("observed"),
	[SP_FROM_WRAPPED] = N_("wrapped"),
	[SP_FROM_RESIDUAL] = N_("residual"),
};

const char *sp_account_name(enum sp_account_part part)
{
	return names[part];
}

const char *sp_account_title(enum sp_account_part part)
{
	return _(titles[part]);
}

const char *sp_account_missing(enum sp_account_part part)
{
	return _(missing[part]);
}

const char *sp_source_name(enum sp_source_kind source)
{
	return _(sources[source]);
}
