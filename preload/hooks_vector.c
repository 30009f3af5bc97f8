/*
 * Scattered and gathered reads and writes. The 64-bit names are the same functions on LP64.
 */
#include <sys/uio.h>

#include "preload/files.h"
#include "preload/hook.h"
#include "preload/stacks.h"

_Static_assert(sizeof(off_t) == sizeof(__off64_t), "the twins below need LP64");

SP_HOOK(ssize_t, readv, int fd, const struct iovec *parts, int n)
{
	struct sp_thread *t = sp_enter();
	ssize_t ret;

	if (!t)
		return SP_REAL(readv)(fd, parts, n);
	SP_SPAN(span, t, SP_EV_readv, sp_file_of(t, fd));
	ret = SP_REAL(readv)(fd, parts, n);
	sp_span_close(&span, SP_RESULT(ret));
	return ret;
}

SP_HOOK(ssize_t, preadv, int fd, const struct iovec *parts, int n, off_t offset)
{
	struct sp_thread *t = sp_enter();
	ssize_t ret;

	if (!t)
		return SP_REAL(preadv)(fd, parts, n, offset);
	SP_SPAN(span, t, SP_EV_preadv, sp_file_of(t, fd));
	ret = SP_REAL(preadv)(fd, parts, n, offset);
	sp_span_close(&span, SP_RESULT(ret));
	return ret;
}
SP_TWIN(preadv64, preadv);

SP_HOOK(ssize_t, preadv2, int fd, const struct iovec *parts, int n, off_t offset, int flags)
{
	struct sp_thread *t = sp_enter();
	ssize_t ret;

	if (!t)
		return SP_REAL(preadv2)(fd, parts, n, offset, flags);
	SP_SPAN(span, t, SP_EV_preadv2, sp_file_of(t, fd));
	ret = SP_REAL(preadv2)(fd, parts, n, offset, flags);
	sp_span_close(&span, SP_RESULT(ret));
	return ret;
}
SP_TWIN(preadv64v2, preadv2);

SP_HOOK(ssize_t, writev, int fd, const struct iovec *parts, int n)
{
	struct sp_thread *t = sp_enter();
	ssize_t ret;

	if (!t)
		return SP_REAL(writev)(fd, parts, n);
	SP_SPAN(span, t, SP_EV_writev, sp_file_of(t, fd));
	ret = SP_REAL(writev)(fd, parts, n);
	sp_span_close(&span, SP_RESULT(ret));
	return ret;
}

SP_HOOK(ssize_t, pwritev, int fd, const struct iovec *parts, int n, off_t offset)
{
	struct sp_thread *t = sp_enter();
	ssize_t ret;

	if (!t)
		return SP_REAL(pwritev)(fd, parts, n, offset);
	SP_SPAN(span, t, SP_EV_pwritev, sp_file_of(t, fd));
	ret = SP_REAL(pwritev)(fd, parts, n, offset);
	sp_span_close(&span, SP_RESULT(ret));
	return ret;
}
SP_TWIN(pwritev64, pwritev);

SP_HOOK(ssize_t, pwritev2, int fd, const struct iovec *parts, int n, off_t offset, int flags)
{
	struct sp_thread *t = sp_enter();
	ssize_t ret;

	if (!t)
		return SP_REAL(pwritev2)(fd, parts, n, offset, flags);
	SP_SPAN(span, t, SP_EV_pwritev2, sp_file_of(t, fd));
	ret = SP_REAL(pwritev2)(fd, parts, n, offset, flags);
	sp_span_close(&span, SP_RESULT(ret));
	return ret;
}
SP_TWIN(pwritev64v2, pwritev2);
