/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of another libc (musl) must start with this library preloaded, or every static-minded
 * tool of a job would end with status 127. A name that only glibc has is therefore weak. Without
 * glibc nothing is recorded.
 */
#ifndef STAGEPROF_PRELOAD_GLIBC_H
#define STAGEPROF_PRELOAD_GLIBC_H

#include <gnu/libc-version.h>
#include <stddef.h>

#pragma weak gnu_get_libc_version

static inline int sp_has_glibc(void)
{
	return gnu_get_libc_version != NULL;
}

#endif
