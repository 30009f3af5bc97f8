/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The address range of the loaded object that holds an address. Takes the dynamic linker's lock:
 * not for the hook path.
 */
#ifndef STAGEPROF_PRELOAD_OBJECT_RANGE_H
#define STAGEPROF_PRELOAD_OBJECT_RANGE_H

#include <stdint.h>

#include "preload/sys/hidden.h"

struct sp_object_range {
	uintptr_t begin, bytes; /* 0, 0: none */
};

/* Generated code is in no object: the range is then the address alone. */
struct sp_object_range sp_object_range_of(const void *address);

static inline int sp_object_range_has(const struct sp_object_range *range, const void *address)
{
	return (uintptr_t)address - range->begin < range->bytes;
}

/* From the linker: the begin and the end of this library. */
extern const char __ehdr_start[] SP_HIDDEN;
extern const char _end[] SP_HIDDEN;

/* Returns 1 if an address is in this library. */
static inline int sp_is_own(uintptr_t address)
{
	return address - (uintptr_t)__ehdr_start < (uintptr_t)_end - (uintptr_t)__ehdr_start;
}

#endif
