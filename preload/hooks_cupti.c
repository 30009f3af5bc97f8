/*
 * What another user of CUPTI calls first: before it, we withdraw. These are calls of a library that the program
 * is linked to (PyTorch is) or looks up; our own go to the library directly.
 */
#include <string.h>

#include "preload/config.h"
#include "preload/cupti.h"
#include "preload/hook.h"
#include "preload/resolve.h"

#define GUEST(name, parameters, arguments)                                                         \
	SP_HOOK(int, name, SP_UNPACK parameters)                                                   \
	{                                                                                          \
		int (*real) parameters = SP_FOREIGN(name, "cupti", NULL);                          \
                                                                                                   \
		sp_cupti_yield(#name);                                                             \
		return real arguments;                                                             \
	}
#define SP_UNPACK(...) __VA_ARGS__

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

	for (size_t i = 0; sp_config_is(sp_config.cupti, "1") && i < sizeof(wrappers) / sizeof(wrappers[0]); i++)
		if (!strcmp(wrappers[i].name, name))
			return wrappers[i].wrapper;
	return NULL;
}
