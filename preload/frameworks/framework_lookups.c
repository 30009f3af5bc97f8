/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/frameworks/framework_lookups.h"

#include "preload/cuda/lookup_functions.h"
#include "preload/frameworks/hooks_c_api.h"
#include "preload/frameworks/pjrt.h"

static int knows(const char *name)
{
	return sp_pjrt_knows(name) || sp_c_api_knows(name);
}

static void *wrap(const char *name, void *function)
{
	return sp_pjrt_knows(name) ? sp_pjrt_wrap(function) : sp_c_api_wrap(name, function);
}

void sp_framework_lookups_init(void)
{
	sp_later_lookups.knows = knows;
	sp_later_lookups.wrap = wrap;
}
