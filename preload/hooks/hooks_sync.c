/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits for the disk, and advice about coming reads. Allocators give memory back by madvise, in
 * places where no lookup or allocation is allowed: only advice about reads makes events.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/recorder/fd_table.h"
#include "preload/hooks/hook.h"
#include "preload/stacks/stacks.h"
#include "preload/sys/sys.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

SP_HOOK_FILE(int, fsync, SP_EV_fsync, (int fd), (fd))

SP_HOOK_FILE(int, fdatasync, SP_EV_fdatasync, (int fd), (fd))

SP_HOOK_FILE(int, syncfs, SP_EV_syncfs, (int fd), (fd))

SP_HOOK_FILE(int, sync_file_range, SP_EV_sync_file_range,
	     (int fd, off64_t offset, off64_t n, unsigned flags), (fd, offset, n, flags))

SP_HOOK_CALL(int, msync, SP_EV_msync, 0, SP_RESULT(ret), (void *at, size_t length, int flags),
	     (at, length, flags))

static int advise(void *at, size_t length, int advice)
{
	void *found = sp_originals[SP_ORIGINAL_madvise];
	long ret;

	if (sp_likely(found != NULL))
		return ((__typeof__(&madvise))found)(at, length, advice);
	ret = sp_sys6(SYS_madvise, (long)at, (long)length, advice, 0, 0, 0);
	if (!sp_sys_failed(ret))
		return (int)ret;
	errno = (int)-ret;
	return -1;
}

static int is_about_reading(int advice)
{
	return advice == MADV_NORMAL || advice == MADV_RANDOM || advice == MADV_SEQUENTIAL ||
	       advice == MADV_WILLNEED || advice == MADV_POPULATE_READ;
}

SP_HOOK(int, madvise, void *at, size_t length, int advice)
{
	struct sp_thread *t;
	int ret;

	if (!is_about_reading(advice))
		return advise(at, length, advice);
	t = sp_enter();
	if (!t)
		return advise(at, length, advice);
	SP_SPAN(span, t, SP_EV_madvise, 0);
	ret = advise(at, length, advice);
	sp_span_close(&span, SP_RESULT(ret));
	return ret;
}

/* These return an error number and leave errno alone. */
SP_HOOK_CALL(int, posix_madvise, SP_EV_madvise, 0, -(int64_t)ret,
	     (void *at, size_t length, int advice), (at, length, advice))

SP_HOOK_CALL(int, posix_fadvise, SP_EV_posix_fadvise, sp_fd_file(t, fd), -(int64_t)ret,
	     (int fd, off_t offset, off_t length, int advice), (fd, offset, length, advice))
SP_ALIAS(posix_fadvise64, posix_fadvise);

SP_HOOK_FILE(ssize_t, readahead, SP_EV_readahead, (int fd, off64_t offset, size_t n),
	     (fd, offset, n))
