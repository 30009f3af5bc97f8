/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This library's place among the loaded objects. Copies of it in one process: an installed one and
 * one of a build tree, both in LD_PRELOAD. Each call would be recorded twice.
 */
#ifndef STAGEPROF_PRELOAD_DUPLICATE_PRELOAD_H
#define STAGEPROF_PRELOAD_DUPLICATE_PRELOAD_H

/* The path of a copy whose hooks are called before ours, or NULL. Constructor. */
const char *sp_duplicate_preload_first(void);

/* Returns 1 if libc was loaded first, as where a running program loads this library: libc's own
 * functions are then called before the hooks, or in place of them. Constructor. */
int sp_preload_is_late(void);

#endif
