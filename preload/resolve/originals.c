/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/resolve/originals.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#include "preload/sys/glibc.h"
#include "preload/sys/libdl.h"

void *sp_originals[SP_ORIGINALS];

/* Texts, not pointers, which would be in each process's own memory: the loader stores to them. */
static const struct {
	char name[24], version[16];
} names[SP_ORIGINALS] = {
#define SP_ORIGINAL(name, version) [SP_ORIGINAL_##name] = {#name, version},
#include "preload/resolve/originals.def"
#undef SP_ORIGINAL
};

static long not_in_this_libc(void)
{
	errno = ENOSYS;
	return -1;
}

void *sp_original_find(enum sp_original which)
{
	void *found = NULL;
	int kept = errno;

	if (names[which].version[0] && sp_has_glibc())
		found = sp_dlvsym(RTLD_NEXT, names[which].name, names[which].version);
	if (!found)
		found = dlsym(RTLD_NEXT, names[which].name);
	if (!found) {
		sp_dlerror_clear(); /* the host must not see our failure */
		found = (void *)not_in_this_libc;
	}
	__atomic_store_n(&sp_originals[which], found, __ATOMIC_RELAXED);
	errno = kept;
	return found;
}

void sp_originals_find(void)
{
	for (unsigned i = 0; i < SP_ORIGINALS; i++)
		sp_original_find((enum sp_original)i);
}
