/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of NCCL and of HIP that programs find by dlsym (dlsym_stub.c) and do not link to:
 * Paddle, Triton, users of ctypes. Each function that a lookup finds has a wrapper of its own,
 * which calls exactly that function. The linked calls go to the exported name (cuda.h).
 */
#ifndef STAGEPROF_PRELOAD_LOOKUP_FUNCTIONS_H
#define STAGEPROF_PRELOAD_LOOKUP_FUNCTIONS_H

#include "preload/cuda/cuda.h"
#include "preload/cuda/cuda_coverage.h"
#include "preload/sys/hidden.h"
#include "preload/sys/object_range.h"

struct sp_lookup_copy {
	void *function;		      /* NULL: the place is free */
	struct sp_object_range inner; /* the library, whose own calls are no further events */
};

struct sp_lookup_function {
	const char *name;
	enum sp_cuda_group group;
	unsigned count;		       /* of the copies of a library that may be looked up */
	void *const *wrappers;	       /* [count] */
	struct sp_lookup_copy *copies; /* [count] */
};

/* 1 where calls of that name are hooked. */
int sp_lookup_knows(const char *name);

/* The wrapper for what a lookup of `name` gave, or `function` itself: not hooked, too many copies,
 * or ours already. Safe in threads; errno is kept. Takes the loader's lock. */
void *sp_lookup_wrap(const char *name, void *function);

/* Functions that a later room wraps: `knows` and `wrap` as above. NULL: none. */
struct sp_later_lookups {
	int (*knows)(const char *name);
	void *(*wrap)(const char *name, void *function);
};

extern struct sp_later_lookups sp_later_lookups SP_HIDDEN;

/* A hook of an exported name and of what lookups of it find, in up to three copies of the library
 * or in one. The parameters are those of SP_CUDA_HOOK. */
#define SP_LOOKUP_HOOK(name, symbol_prefix, group, layer, kind, arg, value, parameters, arguments) \
	SP_CUDA_HOOK(name, symbol_prefix, layer, kind, arg, value, parameters, arguments)          \
	static struct sp_lookup_copy sp_copies_##name[3];                                          \
	SP_LOOKUP_WRAPPER(name, 0, layer, kind, arg, value, parameters, arguments)                 \
	SP_LOOKUP_WRAPPER(name, 1, layer, kind, arg, value, parameters, arguments)                 \
	SP_LOOKUP_WRAPPER(name, 2, layer, kind, arg, value, parameters, arguments)                 \
	SP_LOOKUP_LIST(name, group, (void *)sp_copy0_##name, (void *)sp_copy1_##name,              \
		       (void *)sp_copy2_##name)
#define SP_LOOKUP_HOOK_ONE(name, symbol_prefix, group, layer, kind, arg, value, parameters,        \
			   arguments)                                                              \
	SP_CUDA_HOOK(name, symbol_prefix, layer, kind, arg, value, parameters, arguments)          \
	static struct sp_lookup_copy sp_copies_##name[1];                                          \
	SP_LOOKUP_WRAPPER(name, 0, layer, kind, arg, value, parameters, arguments)                 \
	SP_LOOKUP_LIST(name, group, (void *)sp_copy0_##name)

/* Lists the wrappers of sp_copies_NAME. */
#define SP_LOOKUP_LIST(name, group, ...)                                                           \
	static void *const sp_wrappers_##name[] = {__VA_ARGS__};                                   \
	static const struct sp_lookup_function sp_function_##name =                                \
		{#name, group, sizeof(sp_wrappers_##name) / sizeof(sp_wrappers_##name[0]),         \
		 sp_wrappers_##name, sp_copies_##name};                                            \
	static const struct sp_lookup_function *sp_listed_##name                                   \
		__attribute__((section("sp_lookup"), used)) = &sp_function_##name;

#define SP_LOOKUP_WRAPPER(name, copy, layer, kind, arg, value, parameters, arguments)              \
	static int sp_copy##copy##_##name parameters                                               \
	{                                                                                          \
		const void *caller = __builtin_return_address(0);                                  \
		void *real = __atomic_load_n(&sp_copies_##name[copy].function, __ATOMIC_ACQUIRE);  \
                                                                                                   \
		SP_CUDA_RETURN_REAL_CALL(real, caller, sp_copies_##name[copy].inner, layer, kind,  \
					 arg, value, parameters, arguments)                        \
	}

#endif
