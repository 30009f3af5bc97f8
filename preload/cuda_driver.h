/*
 * The CUDA driver, libcuda.so.1, as it is reached: by linking (our exported names), by dlsym
 * (dlsym_stub.h) and by cuGetProcAddress, which is hooked itself. A function that was looked up has an
 * original of its own for each address that a lookup gave: forms for per-thread default streams are other
 * addresses of the same ABI.
 */
#ifndef STAGEPROF_PRELOAD_CUDA_DRIVER_H
#define STAGEPROF_PRELOAD_CUDA_DRIVER_H

#include <stdint.h>

#define SP_DRIVER_FORMS 6u /* two that are exported, and as many addresses as lookups give */

struct sp_driver_function {
	const char *name;	   /* what cuGetProcAddress is asked for */
	int since;		   /* CUDA version as of which it has the wrapper's ABI: 11060 is 11.6 */
	const char *exported[2];   /* names with that ABI; the second for per-thread default streams */
	void *const *wrappers;	   /* SP_DRIVER_FORMS */
	void **originals;	   /* likewise; 0 and 1: of the exported names, NULL until called */
	uint8_t *per_thread;	   /* likewise: a NULL stream is the calling thread's own */
};

/* 1 where an exported name of the driver is hooked. */
int sp_cuda_driver_knows(const char *exported);

/* The wrapper for what a lookup gave, or `function` itself: not hooked, too many forms, or ours already.
 * Safe in threads; errno is kept. */
void *sp_cuda_driver_wrap_exported(const char *exported, void *function);
/*
 * The same for what cuGetProcAddress gave for `name` and `version`. What was asked for at a version
 * that is newer than SP_CUDA_CHECKED, or not told, may have any ABI: the driver is asked for the
 * versions that are known, and where none gives the same address, the function is left as it is, and
 * coverage names it. Takes the loader's lock.
 */
#define SP_DRIVER_ANY_VERSION 0
void *sp_cuda_driver_wrap(const char *name, int version, int per_thread, void *function);

static inline int sp_cuda_driver_is_per_thread(const struct sp_driver_function *function,
					       void *const *original)
{
	return function->per_thread[original - function->originals];
}

/* A library was closed: what exported names stood for and is gone is looked for anew. errno is kept. */
void sp_cuda_driver_forget(void);

/* The original of an exported name, for its first call. Never NULL: without a driver, a function that
 * returns CUDA_ERROR_NOT_INITIALIZED. */
void *sp_cuda_driver_find(const struct sp_driver_function *function, void **original);

#endif
