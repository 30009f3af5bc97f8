/*
 * What glibc has and musl has not. A program of another libc must start with us preloaded all the same, or
 * every static-minded tool of a job would end with status 127: these names are weak, and asked for
 * here first. Where it is not glibc nothing is recorded.
 */
#ifndef STAGEPROF_PRELOAD_GLIBC_H
#define STAGEPROF_PRELOAD_GLIBC_H

#include <dlfcn.h>
#include <stddef.h>

#pragma weak dladdr1
#pragma weak dlvsym

static inline int sp_has_glibc(void)
{
	return dladdr1 != NULL && dlvsym != NULL;
}

#endif
