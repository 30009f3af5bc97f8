/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/stacks/native_stack.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "preload/settings/unwinder.h"
#include "preload/sys/object_range.h"
#include "preload/sys/libdl.h"

#define UNW_LOCAL_ONLY
#include <libunwind.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define OWN_FRAMES_MAX 8u
#define PATH_BYTES 1024u

/* libunwind.h renames its functions for each processor: these are the names to look up. */
#define NAME_OF(function) NAME_AS_IT_IS(function)
#define NAME_AS_IT_IS(function) #function

static struct {
	__typeof__(&unw_init_local) init_local;
	__typeof__(&unw_step) step;
	__typeof__(&unw_get_reg) get_reg;
	__typeof__(&unw_get_proc_info) get_proc_info;
#ifdef __x86_64__
	int (*getcontext)(unw_tdep_context_t *);
#endif
} unwinder;
static int is_open;
static const char *library_name = "libunwind.so.8";

static int find(void *library, const char *name, void *ret_function)
{
	void *found = dlsym(library, name);

	*(void **)ret_function = found;
	return found != NULL;
}

/* The wheel's own: NULL where there is none, or where the path is too long to try it. */
static void *open_beside(void)
{
	char path[PATH_BYTES];
	Dl_info info;
	const char *slash;
	size_t bytes;

	if (!sp_dladdr(&is_open, &info) || !info.dli_fname)
		return NULL;
	slash = strrchr(info.dli_fname, '/');
	bytes = slash ? (size_t)(slash + 1 - info.dli_fname) : 0;
	if (!bytes || bytes + sizeof(SP_UNWINDER_BESIDE) > sizeof(path))
		return NULL;
	memcpy(path, info.dli_fname, bytes);
	memcpy(path + bytes, SP_UNWINDER_BESIDE, sizeof(SP_UNWINDER_BESIDE));
	return sp_dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

void sp_native_stack_open(void)
{
	void *library = open_beside();

	library_name = library ? SP_UNWINDER_BESIDE : "libunwind.so.8";
	if (!library)
		library = sp_dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
	is_open = library && find(library, NAME_OF(unw_init_local), &unwinder.init_local) &&
		  find(library, NAME_OF(unw_step), &unwinder.step) &&
		  find(library, NAME_OF(unw_get_reg), &unwinder.get_reg) &&
		  find(library, NAME_OF(unw_get_proc_info), &unwinder.get_proc_info);
#ifdef __x86_64__
	is_open = is_open && find(library, NAME_OF(unw_tdep_getcontext), &unwinder.getcontext);
#endif
	sp_dlerror_clear();
}

int sp_native_stack_is_open(void)
{
	return is_open;
}

const char *sp_native_stack_library(void)
{
	return library_name;
}

/* An address without unwind information counts as a function of one byte. */
static int has_information(unw_cursor_t *cursor)
{
	unw_proc_info_t info;

	return unwinder.get_proc_info(cursor, &info) == 0 && info.end_ip - info.start_ip > 1;
}

/* The lookup walks all loaded objects: once for each address. */
static int may_step(unw_cursor_t *cursor, uintptr_t address, uint64_t *known, unsigned places,
		    uint32_t generation)
{
	const uint64_t key[] = {address, generation};
	uint64_t hash = XXH64(key, sizeof(key), 0) | 1, *place = &known[hash / 2 % places];

	if (__atomic_load_n(place, __ATOMIC_RELAXED) == hash)
		return 1;
	if (!has_information(cursor))
		return 0;
	__atomic_store_n(place, hash, __ATOMIC_RELAXED);
	return 1;
}

static int context_get(unw_context_t *context)
{
#ifdef __x86_64__
	return unwinder.getcontext(context);
#else
	return unw_getcontext(context);
#endif
}

unsigned sp_native_stack_take(uintptr_t *ret, unsigned frames, uint64_t *known, unsigned places,
			      uint32_t generation)
{
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t address;
	unsigned n = 0;

	if (context_get(&context) || unwinder.init_local(&cursor, &context))
		return 0;
	for (unsigned own = 0; n < frames && own < OWN_FRAMES_MAX;) {
		if (unwinder.get_reg(&cursor, UNW_REG_IP, &address) || !address)
			break;
		if (n == 0 && sp_is_own(address))
			own++;
		else
			ret[n++] = address;
		if (!may_step(&cursor, address, known, places, generation) ||
		    unwinder.step(&cursor) <= 0)
			break;
	}
	return n;
}
