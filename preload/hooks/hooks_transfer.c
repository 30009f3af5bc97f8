/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transfers from one descriptor to another inside the kernel. A transfer is one event of the file
 * that is read, or of the socket of the internet that it goes to.
 */
#include <fcntl.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "preload/recorder/fd_table.h"
#include "preload/hooks/hook.h"
#include "preload/stacks/stacks.h"

_Static_assert(sizeof(off_t) == sizeof(off64_t), "the aliases below need LP64");

static int is_net(uint32_t file)
{
	return file >> SP_FILE_TYPE_SHIFT == SP_FILE_NET;
}

SP_HOOK(ssize_t, sendfile, int to, int from, off_t *offset, size_t n)
{
	struct sp_thread *t = sp_enter();
	uint32_t target;
	ssize_t ret;

	if (!t)
		return SP_REAL(sendfile)(to, from, offset, n);
	target = sp_fd_file(t, to);
	SP_SPAN(span, t, is_net(target) ? SP_EV_send_copy : SP_EV_sendfile,
		is_net(target) ? target : sp_fd_file(t, from));
	ret = SP_REAL(sendfile)(to, from, offset, n);
	sp_span_close(&span, SP_RESULT(ret));
	return ret;
}
SP_ALIAS(sendfile64, sendfile);

SP_HOOK_CALL(ssize_t, copy_file_range, SP_EV_copy_file_range, sp_fd_file(t, from), SP_RESULT(ret),
	     (int from, off64_t *from_offset, int to, off64_t *to_offset, size_t n, unsigned flags),
	     (from, from_offset, to, to_offset, n, flags))

SP_HOOK(ssize_t, splice, int from, off64_t *from_offset, int to, off64_t *to_offset, size_t n,
	unsigned flags)
{
	struct sp_thread *t = sp_enter();
	uint32_t source, target;
	ssize_t ret;

	if (!t)
		return SP_REAL(splice)(from, from_offset, to, to_offset, n, flags);
	source = sp_fd_file(t, from);
	target = sp_fd_file(t, to);
	SP_SPAN(span, t,
		is_net(target)	 ? SP_EV_send_copy
		: is_net(source) ? SP_EV_recv_copy
				 : SP_EV_splice,
		is_net(target) ? target : source);
	ret = SP_REAL(splice)(from, from_offset, to, to_offset, n, flags);
	sp_span_close(&span, SP_RESULT(ret));
	return ret;
}
