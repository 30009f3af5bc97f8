/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of boosters, decoders and TensorFlow that programs find by dlsym (boosters.def,
 * device_decoders.def, tensorflow_c.def). */
#ifndef STAGEPROF_PRELOAD_HOOKS_C_API_H
#define STAGEPROF_PRELOAD_HOOKS_C_API_H

/* 1 where calls of that name are hooked. */
int sp_c_api_knows(const char *name);

/* The wrapper for what a lookup of `name` gave, or `function` itself: not hooked, another copy of
 * the library, or ours already. Safe in threads. Takes the loader's lock. */
void *sp_c_api_wrap(const char *name, void *function);

#endif
