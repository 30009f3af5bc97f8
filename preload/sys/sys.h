/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls without libc: no errno, no PLT (so none of our own hooks), no cancellation point.
 * Each returns the kernel's value, -errno on failure. Async-signal-safe, usable in a vfork child.
 */
#ifndef STAGEPROF_PRELOAD_SYS_H
#define STAGEPROF_PRELOAD_SYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "preload/sys/fault.h"

#if defined(__x86_64__)
static inline long sp_sys6(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}
#elif defined(__aarch64__)
static inline long sp_sys6(long n, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = n;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}
#else
#error "stageprof knows the system calls of x86-64 and aarch64"
#endif

/* The recorder's own calls go through this function, so that a test build can make the Nth of them
 * fail. */
static inline long sp_sys(long n, long a, long b, long c, long d, long e, long f)
{
	long failed = sp_fault_syscall(n);

	return failed ? failed : sp_sys6(n, a, b, c, d, e, f);
}

#define SP_SYS1(n, a) sp_sys(n, (long)(a), 0, 0, 0, 0, 0)
#define SP_SYS2(n, a, b) sp_sys(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define SP_SYS3(n, a, b, c) sp_sys(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define SP_SYS4(n, a, b, c, d) sp_sys(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define SP_SYS5(n, a, b, c, d, e)                                                                  \
	sp_sys(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)
#define SP_SYS6(n, a, b, c, d, e, f)                                                               \
	sp_sys(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* mmap returns an address or -errno in one word. */
static inline int sp_sys_failed(long ret)
{
	return (unsigned long)ret > -4096UL;
}

#endif
