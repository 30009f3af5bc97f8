/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of glibc 2.34 by the nearest calls of an older one, for victims that are built for an
 * older system's root. A victim counts the same there. Include it after libc's headers. */
#ifndef VICTIMS_OLD_LIBC_H
#define VICTIMS_OLD_LIBC_H

#include <signal.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_openat2
#define SYS_openat2 437 /* on every architecture */
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* The kernel needs so many bytes of an alternate stack. */
static inline size_t least_signal_stack(void)
{
#ifdef _SC_MINSIGSTKSZ
	return (size_t)sysconf(_SC_MINSIGSTKSZ);
#else
	enum { AT_MINSIGSTKSZ_NUMBER = 51 };
	size_t bytes = getauxval(AT_MINSIGSTKSZ_NUMBER);

	return bytes > MINSIGSTKSZ ? bytes : MINSIGSTKSZ;
#endif
}

#if !__GLIBC_PREREQ(2, 34)
#define _Fork fork

/* One event, as theirs are: the kernel closes the others. */
static inline int close_range(unsigned first, unsigned last, int flags)
{
	int result = close((int)first);

	if (first < last)
		result = (int)syscall(SYS_close_range, first + 1, last, flags);
	return result;
}

static inline void closefrom(int first)
{
	close_range((unsigned)first, ~0u, 0);
}
#endif

#endif
