/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PJRT, by which JAX and other programs of XLA use a device: a plugin's GetPjrtApi, found by
 * dlsym, returns a table of functions. The program gets a copy of the table, in which the functions
 * that compile, execute, copy and wait are timed. A table of an unknown version is left alone, and
 * so is that of a third plugin.
 */
#ifndef STAGEPROF_PRELOAD_PJRT_H
#define STAGEPROF_PRELOAD_PJRT_H

/* 1 where lookups of that name are changed. */
int sp_pjrt_knows(const char *name);

/* The wrapper of the GetPjrtApi that a lookup found, or `function` itself. Safe in threads. Takes
 * the loader's lock. */
void *sp_pjrt_wrap(void *function);

#endif
