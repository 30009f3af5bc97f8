/*
 * The original behind a hook of a library that the host loads by itself, often RTLD_LOCAL and in several
 * copies: for such a name there is no one original, and RTLD_NEXT finds none of them.
 *
 * The original is the function that the dynamic linker would have bound the caller to without us. In
 * this order:
 *
 *  1. `maker`, an address inside the library that the object of the call belongs to, where the hook
 *     knows one: that library's function. It holds for tail calls and for objects that are handed on.
 *  2. The library that the caller's other imports of the same family (jpeg_…) are bound to.
 *  3. The global scope (RTLD_NEXT), with the symbol version that the caller requires.
 *  4. The caller's own libraries. Not the scope of whoever loaded the caller: libc does not tell it.
 *  5. The caller's own: a library that calls what it defines itself.
 *  6. Where the return address is in no importer (a tail call, a pointer from dlsym, generated code):
 *     1 to 5 for the first loaded object that imports the name, then any library that defines it.
 *
 * Our own wrapper is never the answer. Where there is none, the call fails as the dynamic linker fails a
 * call of an undefined symbol: a line on stderr and exit status 127. Loading is never disturbed.
 *
 * Found once per maker or call site and remembered: lock-free, async-signal-safe. Finding takes the
 * dynamic linker's lock and may allocate; errno is kept; a pending dlerror of the host is lost.
 */
#ifndef STAGEPROF_PRELOAD_RESOLVE_H
#define STAGEPROF_PRELOAD_RESOLVE_H

#include <stdint.h>

#define SP_FOREIGN_SITES 16u /* a power of two; more call sites than that find anew */

struct sp_foreign_site {
	uint32_t sequence;   /* odd while it is written */
	uint32_t generation; /* of sp_resolve_generation when it was found */
	const void *key;
	void *function;
};

/* One hooked name. Static, zeroed but for the first three. */
struct sp_foreign {
	const char *name;
	const char *family;
	const void *wrapper;
	struct sp_foreign_site sites[SP_FOREIGN_SITES];
};

extern uint32_t sp_resolve_generation __attribute__((visibility("hidden")));

/* A library was closed: nothing that was found before holds. Async-signal-safe. */
void sp_resolve_forget(void);

/* maker may be NULL. Never returns NULL. */
void *sp_foreign_find(struct sp_foreign *foreign, const void *maker, const void *caller);

static inline struct sp_foreign_site *sp_foreign_site(struct sp_foreign *foreign, const void *key)
{
	return &foreign->sites[((uintptr_t)key >> 2 ^ (uintptr_t)key >> 9) % SP_FOREIGN_SITES];
}

static inline void *sp_foreign_get(struct sp_foreign *foreign, const void *maker, const void *caller)
{
	const void *key = maker ? maker : caller;
	struct sp_foreign_site *site = sp_foreign_site(foreign, key);
	uint32_t before = __atomic_load_n(&site->sequence, __ATOMIC_ACQUIRE);
	const void *found_for = __atomic_load_n(&site->key, __ATOMIC_RELAXED);
	void *function = __atomic_load_n(&site->function, __ATOMIC_RELAXED);
	uint32_t generation = __atomic_load_n(&site->generation, __ATOMIC_RELAXED);

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__builtin_expect(found_for == key && !(before & 1) && function &&
			     generation == __atomic_load_n(&sp_resolve_generation, __ATOMIC_RELAXED) &&
			     __atomic_load_n(&site->sequence, __ATOMIC_RELAXED) == before, 1))
		return function;
	return sp_foreign_find(foreign, maker, caller);
}

/* In a hook's body: the real function for this call. `names` is the family, a prefix of names. */
#define SP_FOREIGN(hooked, names, maker)                                                           \
	({                                                                                         \
		static struct sp_foreign sp_foreign_##hooked = {                                   \
			#hooked, names, (const void *)sp_wrap_##hooked, {{0, 0, 0, 0}}};           \
		(__typeof__(&hooked))sp_foreign_get(&sp_foreign_##hooked, maker,                   \
						    __builtin_return_address(0));                  \
	})

/* Another function of the library that `real` lies in; it is not hooked. The library must have it. */
#define SP_FOREIGN_BESIDE(name, real)                                                              \
	({                                                                                         \
		static struct sp_foreign sp_beside_##name = {#name, #name, NULL, {{0, 0, 0, 0}}};  \
		(__typeof__(&name))sp_foreign_get(&sp_beside_##name, (const void *)(real), NULL);  \
	})

#endif
