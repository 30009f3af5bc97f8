/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/cuda/nccl.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "preload/cuda/cuda_coverage.h"
#include "preload/resolve/lookup_slots.h"
#include "preload/recorder/process.h"
#include "preload/sys/elf_symbols.h"

/* hooks_nccl.c puts them there, one by one. */
extern const struct sp_nccl_function *const __start_sp_nccl[] __attribute__((visibility("hidden")));
extern const struct sp_nccl_function *const __stop_sp_nccl[] __attribute__((visibility("hidden")));

static const struct sp_nccl_function *find(const char *name)
{
	for (const struct sp_nccl_function *const *at = __start_sp_nccl; at < __stop_sp_nccl; at++)
		if (!strcmp((*at)->name, name))
			return *at;
	return NULL;
}

int sp_nccl_knows(const char *name)
{
	return find(name) != NULL;
}

static int is_ours(const struct sp_nccl_function *nccl, const void *function)
{
	for (unsigned i = 0; i < SP_NCCL_COPIES; i++)
		if (nccl->wrappers[i] == function)
			return 1;
	return sp_symbol_of_ours(nccl->name) == function;
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

void *sp_nccl_wrap(const char *name, void *function)
{
	const struct sp_nccl_function *nccl = sp_process ? find(name) : NULL;
	void *wrapper = function;
	int kept = errno;

	if (!nccl || is_ours(nccl, function))
		return function;
	for (unsigned i = 0; wrapper == function && i < SP_NCCL_COPIES; i++)
		if (sp_lookup_slot_take(&nccl->found[i].function, function)) {
			inner_store(&nccl->found[i].inner, function);
			wrapper = nccl->wrappers[i];
		}
	if (wrapper != function)
		sp_cuda_coverage_found(SP_CUDA_NCCL, function);
	errno = kept;
	return wrapper;
}
