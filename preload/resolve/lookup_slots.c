/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/resolve/lookup_slots.h"
#include "preload/sys/libdl.h"

#include <dlfcn.h>

int sp_lookup_is_loaded(const void *address)
{
	Dl_info info;

	return sp_dladdr(address, &info) != 0;
}

int sp_lookup_slot_take(void **place, void *function)
{
	void *before = __atomic_load_n(place, __ATOMIC_ACQUIRE);

	if (before == function)
		return 1;
	if (before && sp_lookup_is_loaded(before))
		return 0;
	return __atomic_compare_exchange_n(place, &before, function, 0, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE) ||
	       before == function;
}
