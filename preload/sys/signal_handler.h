/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A search for a signal handler's frame in a part of the calling thread's stack.
 * Async-signal-safe; only reads the stack.
 */
#ifndef STAGEPROF_PRELOAD_SIGNAL_HANDLER_H
#define STAGEPROF_PRELOAD_SIGNAL_HANDLER_H

#include <stdint.h>

/*
 * Returns 1 if the registers that the kernel saves for a handler lie in [low, high); the search
 * ends at the first page that nobody may read. They are recognized by the magic number of their
 * floating point state (asm/sigcontext.h: FP_XSTATE_MAGIC1 464 bytes into the 64-byte aligned
 * fpstate of x86-64, FPSIMD_MAGIC and a size of 528 bytes on aarch64). Remains of an earlier
 * handler may match; kernels and emulators without XSAVE leave no magic, so a caller must not rely
 * on 0 alone.
 */
int sp_handler_is_between(uintptr_t low, uintptr_t high);

#endif
