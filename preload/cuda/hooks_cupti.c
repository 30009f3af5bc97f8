/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks of the calls with which another user of CUPTI begins: the recorder withdraws before them.
 * The calls come from a program that is linked to CUPTI (PyTorch is) or looks them up. The recorder
 * itself calls the library directly.
 */
#include <string.h>

#include "preload/settings/config.h"
#include "preload/cuda/abi_cupti.h"
#include "preload/cuda/cupti.h"
#include "preload/cuda/hooks_cupti.h"
#include "preload/hooks/hook.h"
#include "preload/resolve/resolve.h"

#define GUEST(name, parameters, arguments)                                                         \
	SP_HOOK(int, name, SP_UNPACK parameters)                                                   \
	{                                                                                          \
		int(*real) parameters = SP_ORIGINAL_FOR_CALLER(name, "cupti", NULL);               \
                                                                                                   \
		sp_cupti_yield(#name);                                                             \
		return real arguments;                                                             \
	}

GUEST(cuptiSubscribe, (void **subscriber, sp_cupti_callback callback, void *user),
      (subscriber, callback, user))
GUEST(cuptiSubscribe_v2,
      (void **subscriber, sp_cupti_callback callback, void *user, void *parameters),
      (subscriber, callback, user, parameters))
GUEST(cuptiActivityRegisterCallbacks, (sp_cupti_request request, sp_cupti_complete complete),
      (request, complete))
GUEST(cuptiFinalize, (void), ())

void *sp_cupti_wrapper(const char *name)
{
	static const struct {
		const char *name;
		void *wrapper;
	} wrappers[] = {
		{"cuptiSubscribe", (void *)sp_wrap_cuptiSubscribe},
		{"cuptiSubscribe_v2", (void *)sp_wrap_cuptiSubscribe_v2},
		{"cuptiActivityRegisterCallbacks", (void *)sp_wrap_cuptiActivityRegisterCallbacks},
		{"cuptiFinalize", (void *)sp_wrap_cuptiFinalize},
	};

	for (size_t i = 0;
	     sp_config_is(sp_config.cupti, "1") && i < sizeof(wrappers) / sizeof(wrappers[0]); i++)
		if (!strcmp(wrappers[i].name, name))
			return wrappers[i].wrapper;
	return NULL;
}
