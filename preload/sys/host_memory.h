/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the host that may be unmapped: the kernel reads it for us, so that a wrong address is
 * an error, not a crash. Safe in signal handlers and vfork children; errno is kept. Not in a
 * frozen process.
 */
#ifndef STAGEPROF_PRELOAD_HOST_MEMORY_H
#define STAGEPROF_PRELOAD_HOST_MEMORY_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "preload/sys/sys.h"

/* Copies the readable part of n chunks, in order. Returns the bytes before the first unreadable
 * byte, or -errno; -EFAULT: none is readable. */
static inline long sp_host_memory_read(void *to, const struct iovec *chunks, size_t n)
{
	struct iovec whole = {to, 0};

	for (size_t i = 0; i < n; i++)
		whole.iov_len += chunks[i].iov_len;
	return SP_SYS6(SYS_process_vm_readv, SP_SYS1(SYS_getpid, 0), &whole, 1, chunks, n, 0);
}

/* The chunk from `at`, of `most` bytes or to the end of its page: readable as a whole if its first
 * byte is. */
static inline struct iovec sp_host_memory_chunk(const void *at, size_t most)
{
	size_t rest = 4096 - ((uintptr_t)at & 4095);

	return (struct iovec){(void *)(uintptr_t)at, rest < most ? rest : most};
}

/* Tests the page without touching it: the kernel reads a signal set before it finds that it knows
 * no such way to change the mask. A set at NULL is none, so the first page counts as unreadable. */
static inline int sp_host_memory_is_readable(uintptr_t at)
{
	uintptr_t page = at & ~(uintptr_t)4095;

	return page && SP_SYS4(SYS_rt_sigprocmask, -1, page, 0, sizeof(unsigned long)) != -EFAULT;
}

#endif
