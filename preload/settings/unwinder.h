/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libunwind, which takes native stacks: a wheel has its own in a folder beside the library, and
 * elsewhere the machine may have one.
 */
#ifndef STAGEPROF_PRELOAD_UNWINDER_H
#define STAGEPROF_PRELOAD_UNWINDER_H

#define SP_UNWINDER_BESIDE "stageprof/unwinder.so" /* from the library's folder */

#endif
