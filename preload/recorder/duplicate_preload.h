/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of this library in one process: an installed one and one of a build tree, both in
 * LD_PRELOAD. Each call would be recorded twice.
 */
#ifndef STAGEPROF_PRELOAD_DUPLICATE_PRELOAD_H
#define STAGEPROF_PRELOAD_DUPLICATE_PRELOAD_H

/* The path of a copy whose hooks are called before ours, or NULL. Constructor. */
const char *sp_duplicate_preload_first(void);

#endif
