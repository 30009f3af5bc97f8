/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The return instruction of hooks of system calls. On AMD processors before Zen 5 the kernel's
 * safe returns fill the return predictor with the kernel's addresses, so every return after a
 * system call is mispredicted: libc's, the hook's, the caller's. A jump to the return address
 * uses another predictor. On other kernels a jump would spoil the prediction of the caller's
 * return. Both ways are timed when a process first fills a window, and the faster way is used.
 *
 * Not with a shadow stack (-fcf-protection), because the jump would leave one entry on it; and
 * only if the compiler can replace the return.
 */
#ifndef STAGEPROF_PRELOAD_RETURNS_H
#define STAGEPROF_PRELOAD_RETURNS_H

#if defined(__x86_64__) && !defined(__CET__) && defined(__has_attribute)
#if __has_attribute(function_return)
#define SP_RETURNS_ARE_CHOSEN
#endif
#endif

/* For a function that returns after a system call. */
#ifdef SP_RETURNS_ARE_CHOSEN
#define SP_RETURNS_AS_CHOSEN __attribute__((function_return("thunk-extern")))
#else
#define SP_RETURNS_AS_CHOSEN
#endif

/* Takes about 50 µs, once for a process and its forked children. Plain returns until then. */
void sp_returns_choose(void);

#endif
