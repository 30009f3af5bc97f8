/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole calls of C APIs: of XGBoost and LightGBM, where a round of boosting is a step and the
 * making of a data set is a range, of TensorFlow, and of decoders that use a device. Programs reach
 * these functions by their exported names or by dlsym (Julia, C#, ctypes). The functions catch
 * every exception.
 */
#include "preload/frameworks/hooks_c_api.h"

#include <string.h>

#include "preload/frameworks/loaded_frameworks.h"
#include "preload/frameworks/python_call.h"
#include "preload/frameworks/range_stack.h"
#include "preload/hooks/hook.h"
#include "preload/waits/step_rusage.h"
#include "preload/resolve/lookup_slots.h"
#include "preload/resolve/resolve.h"
#include "trace/events.h"
#include "trace/frameworks.h"

static __thread uint32_t depth __attribute__((tls_model("initial-exec")));

#define SP_FRAMEWORK_none (-1)

/* One function of a library may call another, and Python's call of a round is a step by itself. */
static struct sp_range outermost_begin(uint32_t phase)
{
	if (depth++ || (phase == SP_PHASE_round && sp_python_is_in_outermost()))
		return (struct sp_range){0, 0};
	return sp_range_begin();
}

static void outermost_end(struct sp_range range, int framework, uint32_t phase, const char *label,
			  int ret)
{
	int kept;

	depth--;
	if (!range.image || ret)
		return;
	sp_framework_call_end(framework, range, phase, label, strlen(label));
	if (phase != SP_PHASE_round)
		return;
	kept = errno;
	sp_rusage_define_step();
	errno = kept;
}

#define RETURN_CALL(real, framework, phase, label, arguments)                                      \
	struct sp_range range = outermost_begin(SP_PHASE_##phase);                                 \
	int ret = real arguments;                                                                  \
                                                                                                   \
	outermost_end(range, SP_FRAMEWORK_##framework, SP_PHASE_##phase, label, ret);              \
	return ret;

#define CALL(real, framework, phase, label, arguments)                                             \
	struct sp_range range = outermost_begin(SP_PHASE_##phase);                                 \
                                                                                                   \
	real arguments;                                                                            \
	outermost_end(range, SP_FRAMEWORK_##framework, SP_PHASE_##phase, label, 0);

/* The exported name, and the wrapper of what a lookup found. */
#define UNPACK(...) __VA_ARGS__
#define WRAP(type, body, name, prefix, framework, phase, label, parameters, arguments)             \
	static void *found_##name;                                                                 \
	SP_HOOK(type, name, UNPACK parameters)                                                     \
	{                                                                                          \
		__typeof__(&name) real = SP_ORIGINAL_FOR_CALLER(name, prefix, NULL);               \
		body(real, framework, phase, label, arguments)                                     \
	}                                                                                          \
	static type looked_up_##name parameters                                                    \
	{                                                                                          \
		__typeof__(&name) real =                                                           \
			(__typeof__(&name))__atomic_load_n(&found_##name, __ATOMIC_ACQUIRE);       \
		body(real, framework, phase, label, arguments)                                     \
	}
#define SP_C_CALL(...) WRAP(int, RETURN_CALL, __VA_ARGS__)
#define SP_C_VOID(...) WRAP(void, CALL, __VA_ARGS__)
#include "preload/frameworks/boosters.def"
#include "preload/frameworks/device_decoders.def"
#include "preload/frameworks/tensorflow_c.def"
#undef SP_C_CALL
#undef SP_C_VOID

/* A second copy of a library stays as it is. */
static void *wrapped(void **place, void *function, void *exported, void *wrapper)
{
	int is_taken = function != exported && sp_lookup_slot_take(place, function);

	return is_taken ? wrapper : function;
}

int sp_c_api_knows(const char *name)
{
#define SP_C_CALL(hooked, ...)                                                                     \
	if (strcmp(name, #hooked) == 0)                                                            \
		return 1;
#define SP_C_VOID SP_C_CALL
#include "preload/frameworks/boosters.def"
#include "preload/frameworks/device_decoders.def"
#include "preload/frameworks/tensorflow_c.def"
#undef SP_C_CALL
#undef SP_C_VOID
	return 0;
}

void *sp_c_api_wrap(const char *name, void *function)
{
#define SP_C_CALL(hooked, ...)                                                                     \
	if (strcmp(name, #hooked) == 0)                                                            \
		return wrapped(&found_##hooked, function, (void *)sp_wrap_##hooked,                \
			       (void *)looked_up_##hooked);
#define SP_C_VOID SP_C_CALL
#include "preload/frameworks/boosters.def"
#include "preload/frameworks/device_decoders.def"
#include "preload/frameworks/tensorflow_c.def"
#undef SP_C_CALL
#undef SP_C_VOID
	return function;
}
