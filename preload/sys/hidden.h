/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations of what another file of the library defines: code reaches it directly, not through
 * the GOT. -fvisibility=hidden says so of definitions alone.
 */
#ifndef STAGEPROF_PRELOAD_HIDDEN_H
#define STAGEPROF_PRELOAD_HIDDEN_H

#define SP_HIDDEN __attribute__((visibility("hidden")))

#endif
