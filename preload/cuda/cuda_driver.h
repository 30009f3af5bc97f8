/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA driver, libcuda.so.1, by each way to reach it: linking (our exported names), dlsym
 * (dlsym_stub.c) and cuGetProcAddress, which is hooked itself. A function that was looked up has
 * an original for each address that lookups returned: forms for per-thread default streams are
 * other addresses of the same ABI.
 */
#ifndef STAGEPROF_PRELOAD_CUDA_DRIVER_H
#define STAGEPROF_PRELOAD_CUDA_DRIVER_H

#include <stdint.h>

#define SP_DRIVER_FORMS 6u /* two exported addresses, and the addresses that lookups return */

struct sp_driver_function {
	const char *name; /* the name for cuGetProcAddress */
	int since; /* the CUDA version from which on it has the wrapper's ABI: 11060 is 11.6 */
	const char
		*exported[2];  /* names with that ABI; the second for per-thread default streams */
	void *const *wrappers; /* SP_DRIVER_FORMS */
	void **originals; /* SP_DRIVER_FORMS; 0 and 1: of the exported names, NULL until called */
	/* SP_DRIVER_FORMS; 1: a NULL stream is the calling thread's own. The second form is always
	 * like that, and says 0 here, so that nothing is in the process's own memory. */
	uint8_t *per_thread;
};

/* Returns 1 if an exported name of the driver is hooked. */
int sp_cuda_driver_knows(const char *exported);

/* The wrapper for the result of a lookup, or `function` itself: not hooked, too many forms, or
 * already ours. Thread-safe; errno is kept. */
void *sp_cuda_driver_wrap_exported(const char *exported, void *function);
/*
 * The same for a result of cuGetProcAddress for `name` and `version`. A version that is newer
 * than SP_CUDA_CHECKED, or missing, may have any ABI: the driver is then asked for the known
 * versions. If none has the same address, the function is left unhooked and coverage names it.
 * Takes the loader's lock.
 */
#define SP_DRIVER_ANY_VERSION 0
void *sp_cuda_driver_wrap(const char *name, int version, int per_thread, void *function);

static inline int sp_cuda_driver_is_per_thread(const struct sp_driver_function *function,
					       void *const *original)
{
	return original - function->originals == 1 ||
	       function->per_thread[original - function->originals];
}

/* A library was closed: originals of exported names that are gone are looked up again. errno is
 * kept. */
void sp_cuda_driver_invalidate(void);

/* Finds the original of an exported name at the first call of the name. Never NULL: without a
 * driver, the result is a function that returns CUDA_ERROR_NOT_INITIALIZED. */
void *sp_cuda_driver_find(const struct sp_driver_function *function, void **original);

#endif
