/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The native stack of the calling thread, by libunwind, step by step, ended at the first code
 * without unwind information. unw_backtrace() (1.6) would continue through such code by the value
 * in %rbp. It checks that the address is mapped, not that it can be read, and so kills processes
 * whose generated code keeps a device address there (tests/cuda/generated.c). It also maps 256
 * KiB for each thread.
 *
 * libunwind is found by dlopen: linking it would rebind the _Unwind_* functions of the host's C++
 * runtime.
 */
#ifndef STAGEPROF_PRELOAD_NATIVE_STACK_H
#define STAGEPROF_PRELOAD_NATIVE_STACK_H

#include <stdint.h>

/* Loads libunwind, once. Not on the path of a recorded call. dlerror() is cleared. */
void sp_native_stack_open(void);

/* Returns 1 if libunwind was found. */
int sp_native_stack_is_open(void);

/* The name of the libunwind that was opened or, without one, of the machine's. */
const char *sp_native_stack_library(void);

/*
 * Takes return addresses, innermost first, from the first that is outside this library. `known`
 * has `places` words, zeroed at first: addresses whose unwind information was seen, as of
 * `generation`. Blocks no signal: the caller blocks those whose handlers come here. Returns their
 * number, at most `frames`.
 */
unsigned sp_native_stack_take(uintptr_t *ret, unsigned frames, uint64_t *known, unsigned places,
			      uint32_t generation);

#endif
