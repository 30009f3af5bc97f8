/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dlsym that comes after the exported dlsym of this library (preload/cuda/dlsym_stub.c) in the
 * search order. It never finds a wrapper of this library. The caller that libc sees is this
 * library.
 */
#ifndef STAGEPROF_PRELOAD_DLSYM_NEXT_H
#define STAGEPROF_PRELOAD_DLSYM_NEXT_H

#include "preload/sys/hidden.h"

/* For names of the driver and of NCCL; other names may be looked up by dlsym. */
void *sp_dlsym_next(void *handle, const char *name);

/* For the exported stub, which jumps there: NULL until sp_dlsym_target_find() has run. */
extern void *(*sp_dlsym_target)(void *handle, const char *name)SP_HIDDEN;
void *sp_dlsym_target_find(void) SP_HIDDEN;

#endif
