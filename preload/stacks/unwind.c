/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The libgcc_s functions that the compiler calls for the cleanups in our hooks (SP_SPAN), without
 * a NEEDED entry for libgcc_s, because hosts without C++ may not have it. They run only while a
 * host unwinds, and pass the call on to the library that unwinds. If that library cannot be
 * found, the cleanup is skipped: the span stays open.
 *
 * The prototypes are our own, because <unwind.h> would export these names. Itanium C++ ABI,
 * "Exception Handling", 1.2 and 1.6.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "preload/sys/libdl.h"

#define CONTINUE_UNWIND 8 /* _URC_CONTINUE_UNWIND */

int __gcc_personality_v0(int version, int actions, uint64_t class, void *exception, void *context);
void _Unwind_Resume(void *exception);

static void *find(const char *name, void **kept)
{
	void *found = __atomic_load_n(kept, __ATOMIC_ACQUIRE), *library;

	if (found)
		return found;
	library = sp_dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
	found = library ? dlsym(library, name) : NULL;
	__atomic_store_n(kept, found, __ATOMIC_RELEASE);
	return found;
}

int __gcc_personality_v0(int version, int actions, uint64_t class, void *exception, void *context)
{
	static void *kept;
	__typeof__(&__gcc_personality_v0) real = find("__gcc_personality_v0", &kept);

	return real ? real(version, actions, class, exception, context) : CONTINUE_UNWIND;
}

/* Only a cleanup calls this, after the function above has found the library. */
void _Unwind_Resume(void *exception)
{
	static void *kept;
	__typeof__(&_Unwind_Resume) real = find("_Unwind_Resume", &kept);

	if (real)
		real(exception);
	abort();
}
