/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/resolve/dlsym_next.h"

#include <dlfcn.h>
#include <stddef.h>

#include "preload/sys/elf_symbols.h"

void *(*sp_dlsym_target)(void *handle, const char *name);

/* A program of a glibc before 2.34 without libdl: it has no dlsym, and loads no plugin. */
static void *without_libdl(void *handle, const char *name)
{
	return handle == RTLD_NEXT || handle == RTLD_DEFAULT ? sp_symbol_after_us(name) : NULL;
}

void *sp_dlsym_target_find(void)
{
	void *found = sp_symbol_after_us("dlsym");

	if (!found)
		found = (void *)without_libdl;
	__atomic_store_n((void **)&sp_dlsym_target, found, __ATOMIC_RELAXED);
	return found;
}

void *sp_dlsym_next(void *handle, const char *name)
{
	if (!__atomic_load_n((void **)&sp_dlsym_target, __ATOMIC_RELAXED))
		sp_dlsym_target_find();
	return sp_dlsym_target(handle, name);
}
