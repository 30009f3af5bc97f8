/*
 * How a hook of a system call returns. On AMD's processors before Zen 5 the kernel's safe returns leave addresses of its own
 * in the predictor of returns, so that each return behind a system call is foretold wrongly: libc's, the hook's, the
 * caller's. A jump to the return address has a predictor of its own. Where the kernel leaves the returns alone a jump
 * would spoil them for the caller instead: both are tried when the process begins, and the quicker one is taken.
 *
 * Not with a shadow stack (-fcf-protection), which such a jump would leave behind by one; and only where the compiler can
 * have its returns elsewhere.
 */
#ifndef STAGEPROF_PRELOAD_RETURNS_H
#define STAGEPROF_PRELOAD_RETURNS_H

#if defined(__x86_64__) && !defined(__CET__) && defined(__has_attribute)
#if __has_attribute(function_return)
#define SP_RETURNS_ARE_CHOSEN
#endif
#endif

/* Of a function that returns behind a system call. */
#ifdef SP_RETURNS_ARE_CHOSEN
#define SP_RETURNS_AS_CHOSEN __attribute__((function_return("thunk-extern")))
#else
#define SP_RETURNS_AS_CHOSEN
#endif

/* When the process begins: takes some 50 µs. Plain returns until then. */
void sp_returns_choose(void);

#endif
