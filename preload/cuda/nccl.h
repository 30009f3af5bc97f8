/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs reach NCCL by linking (our exported names, cuda.h) and by dlsym (dlsym_stub.c), as
 * Paddle and users of ctypes do. Each function that a lookup finds has a wrapper of its own, which
 * calls exactly that function.
 */
#ifndef STAGEPROF_PRELOAD_NCCL_H
#define STAGEPROF_PRELOAD_NCCL_H

#include "preload/sys/object_range.h"

#define SP_NCCL_COPIES 3u /* of NCCL in a process, whose functions were looked up */

struct sp_nccl_found {
	void *function;		      /* NULL: the place is free */
	struct sp_object_range inner; /* its library, whose own calls are no others */
};

struct sp_nccl_function {
	const char *name;
	void *const *wrappers; /* SP_NCCL_COPIES */
	struct sp_nccl_found *found;
};

/* 1 where calls of that name are hooked. */
int sp_nccl_knows(const char *name);

/* The wrapper for what a lookup of `name` gave, or `function` itself: not hooked, too many copies,
 * or ours already. Safe in threads; errno is kept. Takes the loader's lock. */
void *sp_nccl_wrap(const char *name, void *function);

#endif
