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

SP_HOOK(ssize_t, sendfile, int to, int from, off_t *offset, size_t n)
{
	struct sp_thread *t = sp_enter();
	ssize_t ret;

	if (!t)
		return SP_REAL(sendfile)(to, from, offset, n);
	SP_SPAN(span, t, SP_EV_sendfile, sp_file_of(t, from));
	ret = SP_REAL(sendfile)(to, from, offset, n);
	sp_span_close(&span, SP_RESULT(ret));
	return ret;
}
SP_TWIN(sendfile64, sendfile);

SP_HOOK(ssize_t, copy_file_range, int from, off64_t *from_offset, int to, off64_t *to_offset,
	size_t n, unsigned flags)
{
	struct sp_thread *t = sp_enter();
	ssize_t ret;

	if (!t)
		return SP_REAL(copy_file_range)(from, from_offset, to, to_offset, n, flags);
	SP_SPAN(span, t, SP_EV_copy_file_range, sp_file_of(t, from));
	ret = SP_REAL(copy_file_range)(from, from_offset, to, to_offset, n, flags);
	sp_span_close(&span, SP_RESULT(ret));
	return ret;
}

SP_HOOK(ssize_t, splice, int from, off64_t *from_offset, int to, off64_t *to_offset, size_t n,
	unsigned flags)
{
	struct sp_thread *t = sp_enter();
	ssize_t ret;

	if (!t)
		return SP_REAL(splice)(from, from_offset, to, to_offset, n, flags);
	SP_SPAN(span, t, SP_EV_splice, sp_file_of(t, from));
	ret = SP_REAL(splice)(from, from_offset, to, to_offset, n, flags);
	sp_span_close(&span, SP_RESULT(ret));
	return ret;
}
