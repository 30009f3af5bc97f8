/*
 * Whether a signal handler runs between two frames of the calling thread's stack. Async-signal-safe; only
 * reads the stack.
 */
#ifndef STAGEPROF_PRELOAD_HANDLER_H
#define STAGEPROF_PRELOAD_HANDLER_H

#include <stdint.h>

/*
 * True where the registers that the kernel saves for a handler lie in [low, high), both within the calling
 * thread's stack. They are known by the magic number of their floating point state (asm/sigcontext.h:
 * FP_XSTATE_MAGIC1 464 bytes into the 64-byte aligned fpstate of x86-64, FPSIMD_MAGIC and a size of 528 bytes on
 * aarch64). Remains of a handler that is gone may be taken for one; kernels and emulators without XSAVE leave
 * none, so a caller must not rely on "no" alone.
 */
int sp_handler_is_between(uintptr_t low, uintptr_t high);

#endif
