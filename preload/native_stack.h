/*
 * The native stack of the calling thread, by libunwind, step by step: unw_backtrace() goes on through code without
 * unwind information by what %rbp happens to hold, looks whether that is mapped, not whether it can be read (1.6), and so
 * ends processes whose generated code keeps a device's or a reserved address there (tests/cuda/generated.c). Here a stack
 * ends where the information does. And unw_backtrace() maps 256 KiB for each thread, and unmaps them as it ends.
 *
 * libunwind is found by dlopen: linking it would rebind the _Unwind_* of the host's C++ runtime.
 */
#ifndef STAGEPROF_PRELOAD_NATIVE_STACK_H
#define STAGEPROF_PRELOAD_NATIVE_STACK_H

#include <stdint.h>

/* Loads libunwind, once. Not on the path of a recorded call. dlerror() is cleared. */
void sp_native_stack_open(void);

/* 1 where it was found. */
int sp_native_stack_is_open(void);

/*
 * Return addresses, innermost first, from the first that is not this library's. `known` has `places` words, zeroed at
 * first: addresses whose unwind information was seen, as of `generation`. Blocks no signal: those whose handlers come
 * here must be blocked. Returns how many, at most `frames`.
 */
unsigned sp_native_stack_take(uintptr_t *ret, unsigned frames, uint64_t *known, unsigned places, uint32_t generation);

#endif
