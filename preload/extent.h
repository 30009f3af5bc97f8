/*
 * Where the loaded object lies that an address is in. Takes the dynamic linker's lock: not for the hook path.
 */
#ifndef STAGEPROF_PRELOAD_EXTENT_H
#define STAGEPROF_PRELOAD_EXTENT_H

#include <stdint.h>

struct sp_extent {
	uintptr_t begin, bytes; /* 0, 0: nowhere */
};

/* Generated code is in no object: there it is the address alone. */
struct sp_extent sp_extent_of(const void *address);

static inline int sp_extent_has(const struct sp_extent *extent, const void *address)
{
	return (uintptr_t)address - extent->begin < extent->bytes;
}

#endif
