/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The original functions of libc that our hooks call. They are found once, in the constructor of a
 * recording process, or at the first call if that comes earlier (another library's constructor) or
 * if the process is dormant. For functions of libraries that the host loads later, see resolve.h.
 */
#ifndef STAGEPROF_PRELOAD_ORIGINALS_H
#define STAGEPROF_PRELOAD_ORIGINALS_H

enum sp_original {
#define SP_ORIGINAL(name, version) SP_ORIGINAL_##name,
#include "preload/resolve/originals.def"
#include "preload/sys/hidden.h"
#undef SP_ORIGINAL
	SP_ORIGINALS
};

extern void *sp_originals[SP_ORIGINALS] SP_HIDDEN;

/* Looks one function up. Never returns NULL for a name that the running libc has. For any other
 * name it returns a function that returns -1 with errno ENOSYS. Calls dlsym: not for the event
 * path. */
void *sp_original_find(enum sp_original which);

/* Looks all of them up, in the constructor. */
void sp_originals_find(void);

static inline void *sp_original(enum sp_original which)
{
	void *found = sp_originals[which];

	return __builtin_expect(found != 0, 1) ? found : sp_original_find(which);
}

/* The real function, with the header's prototype. */
#define SP_REAL(name) ((__typeof__(&name))sp_original(SP_ORIGINAL_##name))

#endif
