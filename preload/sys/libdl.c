/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/sys/libdl.h"

#include <errno.h>
#include <stddef.h>

#include "preload/sys/elf_symbols.h"

static struct sp_libdl libdl;
static int is_found;

static struct {
	__typeof__(&pthread_key_create) key_create;
	__typeof__(&pthread_setspecific) setspecific;
} libpthread;

/* Two threads that come here at once store the same values. */
const struct sp_libdl *sp_libdl(void)
{
	if (__atomic_load_n(&is_found, __ATOMIC_ACQUIRE))
		return &libdl;
#define FIND(name)                                                                                 \
	__atomic_store_n((void **)&libdl.name, sp_symbol_after_us(#name), __ATOMIC_RELAXED)
	FIND(dlopen);
	FIND(dlvsym);
	FIND(dladdr);
	FIND(dladdr1);
	FIND(dlerror);
#undef FIND
	__atomic_store_n(&is_found, 1, __ATOMIC_RELEASE);
	return &libdl;
}

void *sp_dlopen(const char *path, int flags)
{
	const struct sp_libdl *found = sp_libdl();

	return found->dlopen ? found->dlopen(path, flags) : NULL;
}

void *sp_dlvsym(void *handle, const char *name, const char *version)
{
	const struct sp_libdl *found = sp_libdl();

	return found->dlvsym ? found->dlvsym(handle, name, version) : NULL;
}

int sp_dladdr(const void *address, Dl_info *ret)
{
	const struct sp_libdl *found = sp_libdl();

	return found->dladdr ? found->dladdr(address, ret) : 0;
}

int sp_dladdr1(const void *address, Dl_info *ret, void **ret_extra, int flags)
{
	const struct sp_libdl *found = sp_libdl();

	return found->dladdr1 ? found->dladdr1(address, ret, ret_extra, flags) : 0;
}

void sp_dlerror_clear(void)
{
	const struct sp_libdl *found = sp_libdl();

	if (found->dlerror)
		found->dlerror();
}

int sp_pthread_key_create(pthread_key_t *ret, void (*destructor)(void *))
{
	if (!libpthread.setspecific)
		libpthread.setspecific = sp_symbol_after_us("pthread_setspecific");
	libpthread.key_create = sp_symbol_after_us("pthread_key_create");
	if (!libpthread.key_create || !libpthread.setspecific)
		return ENOSYS;
	return libpthread.key_create(ret, destructor);
}

int sp_pthread_setspecific(pthread_key_t key, const void *value)
{
	return libpthread.setspecific ? libpthread.setspecific(key, value) : ENOSYS;
}
