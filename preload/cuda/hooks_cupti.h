/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrappers of the calls by which another user of CUPTI begins.
 */
#ifndef STAGEPROF_PRELOAD_HOOKS_CUPTI_H
#define STAGEPROF_PRELOAD_HOOKS_CUPTI_H

/* The wrapper for a name passed to dlsym; NULL: none, or CUPTI is not wanted. */
void *sp_cupti_wrapper(const char *name);

#endif
