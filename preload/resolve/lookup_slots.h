/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that a lookup (dlsym, cuGetProcAddress) gave to the host. Several copies of a library
 * may be loaded, and each call must reach the copy that was asked. So each address gets a wrapper
 * of its own: a slot holds the address, and the host gets the slot's wrapper. Async-signal-safe
 * except for the dynamic linker's lock.
 */
#ifndef STAGEPROF_PRELOAD_LOOKUP_SLOTS_H
#define STAGEPROF_PRELOAD_LOOKUP_SLOTS_H

/* Returns 1 if the slot holds `function`, from now on or already. The slot of a closed library is
 * reused. */
int sp_lookup_slot_take(void **place, void *function);

/* Returns 1 if a loaded object has the address. */
int sp_lookup_is_loaded(const void *address);

#endif
