/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POSIX asynchronous I/O. libc's own threads do the transfers, unseen by hooks. The event is
 * written when the program takes the result (aio_return), with the bytes and the time of that
 * call alone; the wait is in aio_suspend and lio_listio. The 64-bit names are the same functions
 * on LP64.
 */
#include <aio.h>

#include "preload/recorder/fd_table.h"
#include "preload/hooks/hook.h"
#include "preload/stacks/stacks.h"

/* aio_lio_opcode holds the operation; libc's own 64-bit marks lie in higher bits. */
#define OPERATION_MASK 0x7F

static void result_taken(struct sp_thread *t, const struct aiocb *block, uint64_t start,
			 int64_t value)
{
	uint64_t ticks = sp_clock_ticks() - start;
	int operation = block->aio_lio_opcode & OPERATION_MASK;

	if (operation == LIO_READ)
		sp_emit(t, SP_EV_aio_read, sp_fd_file(t, block->aio_fildes), start, ticks, value);
	else if (operation == LIO_WRITE)
		sp_emit(t, SP_EV_aio_write, sp_fd_file(t, block->aio_fildes), start, ticks, value);
}

/* Registers the file while its descriptor is certainly open. */
static void submitted(const struct aiocb *block)
{
	struct sp_thread *t = sp_enter();

	if (t)
		sp_fd_file(t, block->aio_fildes);
}

SP_HOOK(int, aio_read, struct aiocb *block)
{
	int ret = SP_REAL(aio_read)(block), error = errno;

	if (ret == 0)
		submitted(block);
	errno = error;
	return ret;
}
SP_ALIAS_STRUCT(aio_read64, aio_read);

SP_HOOK(int, aio_write, struct aiocb *block)
{
	int ret = SP_REAL(aio_write)(block), error = errno;

	if (ret == 0)
		submitted(block);
	errno = error;
	return ret;
}
SP_ALIAS_STRUCT(aio_write64, aio_write);

SP_HOOK(ssize_t, aio_return, struct aiocb *block)
{
	struct sp_thread *t = sp_enter();
	uint64_t start = t ? sp_clock_ticks() : 0;
	ssize_t ret = SP_REAL(aio_return)(block);
	int error = errno;

	if (t)
		result_taken(t, block, start, ret < 0 ? -(int64_t)error : ret);
	errno = error;
	return ret;
}
SP_ALIAS_STRUCT(aio_return64, aio_return);

SP_HOOK_WAIT(int, aio_suspend, SP_EV_aio_suspend, 0, SP_RESULT(ret),
	     (const struct aiocb *const blocks[], int n, const struct timespec *timeout),
	     (blocks, n, timeout))
SP_ALIAS_STRUCT(aio_suspend64, aio_suspend);

SP_HOOK_WAIT(int, lio_listio, SP_EV_lio_listio, 0, SP_RESULT(ret),
	     (int mode, struct aiocb *const blocks[], int n, struct sigevent *event),
	     (mode, blocks, n, event))
SP_ALIAS_STRUCT(lio_listio64, lio_listio);
