/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transfers from one descriptor to another inside the kernel. A transfer is one event of the file
 * that is read.
 */
#include <fcntl.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "preload/recorder/fd_table.h"
#include "preload/hooks/hook.h"
#include "preload/stacks/stacks.h"

_Static_assert(sizeof(off_t) == sizeof(off64_t), "the aliases below need LP64");

SP_HOOK_CALL(ssize_t, sendfile, SP_EV_sendfile, sp_fd_file(t, from), SP_RESULT(ret),
	     (int to, int from, off_t *offset, size_t n), (to, from, offset, n))
SP_ALIAS(sendfile64, sendfile);

SP_HOOK_CALL(ssize_t, copy_file_range, SP_EV_copy_file_range, sp_fd_file(t, from), SP_RESULT(ret),
	     (int from, off64_t *from_offset, int to, off64_t *to_offset, size_t n, unsigned flags),
	     (from, from_offset, to, to_offset, n, flags))

SP_HOOK_CALL(ssize_t, splice, SP_EV_splice, sp_fd_file(t, from), SP_RESULT(ret),
	     (int from, off64_t *from_offset, int to, off64_t *to_offset, size_t n, unsigned flags),
	     (from, from_offset, to, to_offset, n, flags))
