/*
 * Bytes that go from one descriptor to another inside the kernel: one event, of the file that is
 * read.
 */
#include <fcntl.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "preload/files.h"
#include "preload/hook.h"
#include "preload/stacks.h"

_Static_assert(sizeof(off_t) == sizeof(off64_t), "the twin below needs LP64");

SP_HOOK_CALL(ssize_t, sendfile, SP_EV_sendfile, sp_file_of(t, from), SP_RESULT(ret),
	(int to, int from, off_t *offset, size_t n), (to, from, offset, n))
SP_TWIN(sendfile64, sendfile);

SP_HOOK_CALL(ssize_t, copy_file_range, SP_EV_copy_file_range, sp_file_of(t, from), SP_RESULT(ret),
	(int from, off64_t *from_offset, int to, off64_t *to_offset, size_t n, unsigned flags),
	(from, from_offset, to, to_offset, n, flags))

SP_HOOK_CALL(ssize_t, splice, SP_EV_splice, sp_file_of(t, from), SP_RESULT(ret),
	(int from, off64_t *from_offset, int to, off64_t *to_offset, size_t n, unsigned flags),
	(from, from_offset, to, to_offset, n, flags))
