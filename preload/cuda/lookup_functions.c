/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/cuda/lookup_functions.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "preload/resolve/lookup_slots.h"
#include "preload/recorder/process.h"
#include "preload/sys/elf_symbols.h"
#include "preload/sys/hidden.h"

/* SP_LOOKUP_HOOK puts them there, one by one. */
extern const struct sp_lookup_function *const __start_sp_lookup[] SP_HIDDEN;
extern const struct sp_lookup_function *const __stop_sp_lookup[] SP_HIDDEN;

struct sp_later_lookups sp_later_lookups;

static const struct sp_lookup_function *find(const char *name)
{
	for (const struct sp_lookup_function *const *at = __start_sp_lookup; at < __stop_sp_lookup;
	     at++)
		if (!strcmp((*at)->name, name))
			return *at;
	return NULL;
}

int sp_lookup_knows(const char *name)
{
	return find(name) || (sp_later_lookups.knows && sp_later_lookups.knows(name));
}

static int is_ours(const struct sp_lookup_function *listed, const void *function)
{
	for (unsigned i = 0; i < listed->count; i++)
		if (listed->wrappers[i] == function)
			return 1;
	return sp_symbol_of_ours(listed->name) == function;
}

/* Others may call meanwhile: they find what was there, or no range. */
static void inner_store(struct sp_object_range *inner, const void *function)
{
	struct sp_object_range range = sp_object_range_of(function);

	if (inner->begin == range.begin && inner->bytes == range.bytes)
		return;
	__atomic_store_n(&inner->bytes, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&inner->begin, range.begin, __ATOMIC_RELEASE);
	__atomic_store_n(&inner->bytes, range.bytes, __ATOMIC_RELEASE);
}

void *sp_lookup_wrap(const char *name, void *function)
{
	const struct sp_lookup_function *listed = sp_process ? find(name) : NULL;
	void *wrapper = function;
	int kept = errno;

	if (sp_process && !listed && sp_later_lookups.wrap) {
		wrapper = sp_later_lookups.wrap(name, function);
		errno = kept;
		return wrapper;
	}
	if (!listed || is_ours(listed, function))
		return function;
	for (unsigned i = 0; wrapper == function && i < listed->count; i++)
		if (sp_lookup_slot_take(&listed->copies[i].function, function)) {
			inner_store(&listed->copies[i].inner, function);
			wrapper = listed->wrappers[i];
		}
	if (wrapper != function)
		sp_cuda_coverage_found(listed->group, function);
	errno = kept;
	return wrapper;
}
