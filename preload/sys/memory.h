/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of our own, from the kernel, never from the host's heap, and the order of loads from them.
 * Async-signal-safe; no errno.
 */
#ifndef STAGEPROF_PRELOAD_MEMORY_H
#define STAGEPROF_PRELOAD_MEMORY_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "preload/sys/sys.h"

/* ThreadSanitizer learns of new pages from libc's functions only; without them it reports a reused
 * page as shared. The preloaded library is never built so. */
#ifdef __SANITIZE_THREAD__
static inline long sp_pages_of_file(size_t bytes, int flags, long fd, uint64_t offset)
{
	long failed = sp_fault_syscall(SYS_mmap);
	void *p = failed ? MAP_FAILED
			 : mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, (int)fd, (off_t)offset);

	return failed ? failed : p == MAP_FAILED ? -errno : (long)p;
}

static inline void sp_pages_free(const void *pages, size_t bytes)
{
	if (pages)
		munmap((void *)(uintptr_t)pages, bytes);
}
#else
/* An address, or -errno (sp_sys_failed). */
static inline long sp_pages_of_file(size_t bytes, int flags, long fd, uint64_t offset)
{
	return SP_SYS6(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, flags, fd, offset);
}

static inline void sp_pages_free(const void *pages, size_t bytes)
{
	if (pages)
		SP_SYS2(SYS_munmap, pages, bytes);
}
#endif

/* Loads before it come before loads after it. ThreadSanitizer knows no fences. */
static inline void sp_fence_acquire(void)
{
#ifdef __SANITIZE_THREAD__
	__atomic_signal_fence(__ATOMIC_ACQUIRE);
#else
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}

/* Zeroed, private pages that the system provides at the first touch. NULL on failure. */
static inline void *sp_pages_make(size_t bytes)
{
	long p = sp_pages_of_file(bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return sp_sys_failed(p) ? NULL : (void *)p;
}

/* The pages lead to memory of nobody: a late store does no harm. They stay where this fails. */
static inline void sp_pages_detach(const void *pages, size_t bytes)
{
	if (pages)
		SP_SYS6(SYS_mmap, pages, bytes, PROT_READ | PROT_WRITE,
			MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* As sp_pages_make, and zero again in a forked child. NULL on Linux < 4.14, which cannot. */
static inline void *sp_pages_make_wiped(size_t bytes)
{
	void *p = sp_pages_make(bytes);

	if (p && SP_SYS3(SYS_madvise, p, bytes, MADV_WIPEONFORK) < 0) {
		sp_pages_free(p, bytes);
		return NULL;
	}
	return p;
}

#endif
