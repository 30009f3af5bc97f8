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

/* The linker's: where this library begins and ends. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

/* 1 where an address is in this library. */
static inline int sp_is_own(uintptr_t address)
{
	return address - (uintptr_t)__ehdr_start < (uintptr_t)_end - (uintptr_t)__ehdr_start;
}

#endif
