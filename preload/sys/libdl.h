/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that glibc 2.34 moved from libdl and libpthread into libc. An older glibc has them in
 * these two libraries, and a program may have loaded neither. The library must not load them: a
 * program with libpthread takes slower paths, and a program with libdl is started later. Each
 * function is therefore found by its name in the loaded objects, and is missing where no object has
 * it: a program without libdl loads no plugin, and one without libpthread has no thread.
 */
#ifndef STAGEPROF_PRELOAD_LIBDL_H
#define STAGEPROF_PRELOAD_LIBDL_H

#include <dlfcn.h>
#include <pthread.h>

struct sp_libdl {
	__typeof__(&dlopen) dlopen;
	__typeof__(&dlvsym) dlvsym;
	__typeof__(&dladdr) dladdr;
	__typeof__(&dladdr1) dladdr1;
	__typeof__(&dlerror) dlerror;
};

/* Finds the functions at the first call. errno is kept. */
const struct sp_libdl *sp_libdl(void);

/* As dlopen, dlvsym, dladdr and dladdr1, and these fail where the function is missing. */
void *sp_dlopen(const char *path, int flags);
void *sp_dlvsym(void *handle, const char *name, const char *version);
int sp_dladdr(const void *address, Dl_info *ret);
int sp_dladdr1(const void *address, Dl_info *ret, void **ret_extra, int flags);

/* Forgets the last failure, because the host must not see a failure of ours. */
void sp_dlerror_clear(void);

/* ENOSYS where no loaded object has the function. */
int sp_pthread_key_create(pthread_key_t *ret, void (*destructor)(void *));
int sp_pthread_setspecific(pthread_key_t key, const void *value);

#endif
