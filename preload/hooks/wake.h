/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A step of an upper room that must run soon, on any thread: hooks of rare calls run it at their
 * end. The upper room sets the pointer in the constructor and clears it when the step is done.
 */
#ifndef STAGEPROF_PRELOAD_WAKE_H
#define STAGEPROF_PRELOAD_WAKE_H

#include <stddef.h>

#include "preload/sys/hidden.h"

/* NULL: there is no step. The step keeps errno. */
extern void (*sp_wake_step)(void) SP_HIDDEN;

static inline void sp_wake(void)
{
	void (*step)(void) = __atomic_load_n(&sp_wake_step, __ATOMIC_RELAXED);

	if (__builtin_expect(step != NULL, 0))
		step();
}

#endif
