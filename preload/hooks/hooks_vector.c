/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scattered and gathered reads and writes. The 64-bit names are the same functions on LP64.
 */
#include <sys/uio.h>

#include "preload/recorder/fd_table.h"
#include "preload/hooks/hook.h"
#include "preload/stacks/stacks.h"

_Static_assert(sizeof(off_t) == sizeof(__off64_t), "the aliases below need LP64");

SP_HOOK_FILE(ssize_t, readv, SP_EV_readv, (int fd, const struct iovec *parts, int n),
	     (fd, parts, n))

SP_HOOK_FILE(ssize_t, preadv, SP_EV_preadv,
	     (int fd, const struct iovec *parts, int n, off_t offset), (fd, parts, n, offset))
SP_ALIAS(preadv64, preadv);

SP_HOOK_FILE(ssize_t, preadv2, SP_EV_preadv2,
	     (int fd, const struct iovec *parts, int n, off_t offset, int flags),
	     (fd, parts, n, offset, flags))
SP_ALIAS(preadv64v2, preadv2);

SP_HOOK_FILE(ssize_t, writev, SP_EV_writev, (int fd, const struct iovec *parts, int n),
	     (fd, parts, n))

SP_HOOK_FILE(ssize_t, pwritev, SP_EV_pwritev,
	     (int fd, const struct iovec *parts, int n, off_t offset), (fd, parts, n, offset))
SP_ALIAS(pwritev64, pwritev);

SP_HOOK_FILE(ssize_t, pwritev2, SP_EV_pwritev2,
	     (int fd, const struct iovec *parts, int n, off_t offset, int flags),
	     (fd, parts, n, offset, flags))
SP_ALIAS(pwritev64v2, pwritev2);
