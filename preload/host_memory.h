/*
 * Memory of the host that may not be there: the kernel reads it for us, so that a wrong address is an error and
 * no crash. Safe in signal handlers and vfork children; errno stays. Not where system calls are forbidden
 * (sp_process_is_frozen()).
 */
#ifndef STAGEPROF_PRELOAD_HOST_MEMORY_H
#define STAGEPROF_PRELOAD_HOST_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "preload/sys.h"

/* Copies what can be read of n pieces, in order. Returns bytes up to the first that cannot, or -errno; -EFAULT: none can. */
static inline long sp_host_memory_read(void *to, const struct iovec *pieces, size_t n)
{
	struct iovec whole = {to, 0};

	for (size_t i = 0; i < n; i++)
		whole.iov_len += pieces[i].iov_len;
	return SP_SYS6(SYS_process_vm_readv, SP_SYS1(SYS_getpid, 0), &whole, 1, pieces, n, 0);
}

/* From `at`, `most` bytes or to the end of its page: all can be read where the first can. */
static inline struct iovec sp_host_memory_piece(const void *at, size_t most)
{
	size_t rest = 4096 - ((uintptr_t)at & 4095);

	return (struct iovec){(void *)(uintptr_t)at, rest < most ? rest : most};
}

#endif
