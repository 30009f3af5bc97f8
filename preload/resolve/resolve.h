/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The original function for a hook of a library that the host loads by itself, often RTLD_LOCAL
 * and in several copies. Such a name has no single original, and RTLD_NEXT finds none of them.
 *
 * The original is the function that the dynamic linker would have bound the caller to without this
 * library. The search order:
 *
 *  1. `library_addr`, an address inside the library of the call's object, if the hook knows one:
 *     that library's function. This also holds for tail calls and for objects that are passed on.
 *  2. The library that the caller's other imports with the same prefix (jpeg_…) are bound to.
 *  3. The global scope (RTLD_NEXT), with the symbol version that the caller requires.
 *  4. The caller's own libraries. The scope of the object that loaded the caller is not searched,
 *     because libc does not reveal it.
 *  5. The caller itself, for a library that calls its own function.
 *  6. If no importer holds the return address (a tail call, a pointer from dlsym, generated code):
 *     1 to 5 for the first loaded object that imports the name, then any library that defines it.
 *
 * Our own wrapper is never the result. If the search fails, the call fails as the dynamic linker
 * fails a call of an undefined symbol: a line on stderr and exit status 127. Loading is never
 * disturbed.
 *
 * The result is cached for each library_addr or call site: lock-free, async-signal-safe. A search
 * takes the dynamic linker's lock and may allocate; errno is kept; a pending dlerror of the host is
 * lost.
 */
#ifndef STAGEPROF_PRELOAD_RESOLVE_H
#define STAGEPROF_PRELOAD_RESOLVE_H

#include <stdint.h>

#include "preload/sys/hidden.h"

#define SP_CALLER_SITES 16u /* a power of two; further call sites repeat the search */

struct sp_caller_site {
	uint32_t sequence;   /* odd while it is written */
	uint32_t generation; /* the sp_resolve_generation of the search */
	const void *key;
	void *function;
};

/* One hooked name. Static. Only the sites are written, apart from the addresses that the loader
 * relocates: pages of names that the program never calls stay unwritten. */
struct sp_caller_original {
	const char *name;
	const char *symbol_prefix;
	const void *wrapper;
	struct sp_caller_site *sites; /* [SP_CALLER_SITES] */
};

extern uint32_t sp_resolve_generation SP_HIDDEN;

/* A library was closed: no earlier search result holds. Async-signal-safe. */
void sp_resolve_invalidate(void);

/* library_addr may be NULL. Never returns NULL. */
void *sp_caller_original_find(const struct sp_caller_original *original, const void *library_addr,
			      const void *caller);

static inline struct sp_caller_site *sp_caller_site(const struct sp_caller_original *original,
						    const void *key)
{
	return &original->sites[((uintptr_t)key >> 2 ^ (uintptr_t)key >> 9) % SP_CALLER_SITES];
}

static inline void *sp_caller_original_get(const struct sp_caller_original *original,
					   const void *library_addr, const void *caller)
{
	const void *key = library_addr ? library_addr : caller;
	struct sp_caller_site *site = sp_caller_site(original, key);
	uint32_t before = __atomic_load_n(&site->sequence, __ATOMIC_ACQUIRE);
	const void *found_for = __atomic_load_n(&site->key, __ATOMIC_RELAXED);
	void *function = __atomic_load_n(&site->function, __ATOMIC_RELAXED);
	uint32_t generation = __atomic_load_n(&site->generation, __ATOMIC_RELAXED);

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__builtin_expect(found_for == key && !(before & 1) && function &&
				     generation == __atomic_load_n(&sp_resolve_generation,
								   __ATOMIC_RELAXED) &&
				     __atomic_load_n(&site->sequence, __ATOMIC_RELAXED) == before,
			     1))
		return function;
	return sp_caller_original_find(original, library_addr, caller);
}

/* In a hook's body: the real function for this call. `symbol_prefix` is the common prefix of the
 * library's names. */
#define SP_ORIGINAL_FOR_CALLER(hooked, symbol_prefix, library_addr)                                \
	({                                                                                         \
		static struct sp_caller_site sp_caller_sites_##hooked[SP_CALLER_SITES];            \
		static const struct sp_caller_original sp_caller_original_##hooked =               \
			{#hooked, symbol_prefix, (const void *)sp_wrap_##hooked,                   \
			 sp_caller_sites_##hooked};                                                \
		(__typeof__(&hooked))sp_caller_original_get(&sp_caller_original_##hooked,          \
							    library_addr,                          \
							    __builtin_return_address(0));          \
	})

/* Another function of the library that holds `real`; it is not hooked. The library must have it. */
#define SP_ORIGINAL_FOR_CALLER_BESIDE(name, real)                                                  \
	({                                                                                         \
		static struct sp_caller_site sp_beside_sites_##name[SP_CALLER_SITES];              \
		static const struct sp_caller_original sp_beside_##name =                          \
			{#name, #name, NULL, sp_beside_sites_##name};                              \
		(__typeof__(&name))sp_caller_original_get(&sp_beside_##name, (const void *)(real), \
							  NULL);                                   \
	})

#endif
