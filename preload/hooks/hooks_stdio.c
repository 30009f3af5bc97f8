/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams. libc's own reads and writes inside these calls bypass our read and write hooks, so
 * nothing is counted twice. fgets, fprintf and similar functions are not hooked. A value counts
 * whole items, as the caller sees them.
 */
#include <stdio.h>
#include <string.h>

#include "preload/recorder/fd_table.h"
#include "preload/hooks/hook.h"
#include "preload/recorder/mark_path.h"
#include "preload/recorder/process.h"
#include "preload/stacks/stacks.h"

/* -1 if the stream has no descriptor (memory, cookies). fileno sets errno then. */
static int stream_fd(FILE *stream)
{
	int kept = errno, fd = fileno_unlocked(stream);

	errno = kept;
	return fd;
}

static uint32_t stream_file(struct sp_thread *t, FILE *stream)
{
	int fd = stream_fd(stream);

	return fd < 0 ? 0 : sp_fd_file(t, fd);
}

static void stream_gone(FILE *stream)
{
	int fd = stream_fd(stream);

	if (fd >= 0 && sp_process && !sp_tls.suppress_depth)
		sp_fd_unregister(fd);
}

/* The error flag of a stream stays set: it concerns this call only if nothing was transferred. */
static int64_t moved(FILE *stream, size_t size, size_t wanted, size_t done)
{
	if (done == 0 && wanted && size && ferror_unlocked(stream))
		return -(int64_t)errno;
	return (int64_t)(done * size);
}

/* Ends an opening call; the file registered under the number was closed unseen. */
static FILE *stream_opened(struct sp_open_span *span, FILE *stream)
{
	uint64_t end = sp_clock_ticks();
	int64_t value = stream ? stream_fd(stream) : -(int64_t)errno;

	if (stream) {
		stream_gone(stream);
		sp_span_set_arg(span, stream_file(span->thread, stream));
	}
	sp_span_close_at(span, end, value);
	return stream;
}

/* A stream that only writes is no input. In flight the call keeps its name. */
static void note_mode(struct sp_open_span *span, const FILE *stream, const char *mode)
{
	if (stream && *mode != 'r' && !strchr(mode, '+'))
		span->what = sp_what_make(SP_EV_fopen_write, sp_commit_arg(span->what));
}

SP_HOOK(FILE *, fopen, const char *path, const char *mode)
{
	struct sp_thread *t = sp_enter();
	FILE *ret;

	if (t) {
		SP_SPAN_OPEN(span, t, SP_EV_fopen, path);
		ret = SP_REAL(fopen)(path, mode);
		note_mode(&span, ret, mode);
		return stream_opened(&span, ret);
	}
	ret = SP_REAL(fopen)(path, mode);
	if (ret)
		stream_gone(ret);
	return ret;
}
SP_ALIAS(fopen64, fopen);

/* No event: only the file of the stream changes. */
SP_HOOK(FILE *, freopen, const char *path, const char *mode, FILE *stream)
{
	FILE *ret;

	stream_gone(stream);
	ret = SP_REAL(freopen)(path, mode, stream);
	if (ret)
		stream_gone(ret);
	return ret;
}
SP_ALIAS(freopen64, freopen);

/* Unregistered before the close, as in close. */
SP_HOOK(int, fclose, FILE *stream)
{
	struct sp_thread *t = sp_enter();
	int fd = stream_fd(stream), ret;

	if (!t) {
		stream_gone(stream);
		return SP_REAL(fclose)(stream);
	}
	SP_SPAN(span, t, SP_EV_fclose, fd < 0 ? 0 : sp_fd_file_known(fd));
	stream_gone(stream);
	ret = SP_REAL(fclose)(stream);
	sp_span_close(&span, SP_RESULT(ret));
	return ret;
}

/* No event. */
SP_HOOK(int, pclose, FILE *stream)
{
	stream_gone(stream);
	return SP_REAL(pclose)(stream);
}

SP_HOOK_CALL(size_t, fread, SP_EV_fread, stream_file(t, stream), moved(stream, size, n, ret),
	     (void *buf, size_t size, size_t n, FILE *stream), (buf, size, n, stream))

SP_HOOK_CALL(size_t, fread_unlocked, SP_EV_fread, stream_file(t, stream),
	     moved(stream, size, n, ret), (void *buf, size_t size, size_t n, FILE *stream),
	     (buf, size, n, stream))

SP_HOOK_CALL(size_t, __fread_chk, SP_EV_fread, stream_file(t, stream), moved(stream, size, n, ret),
	     (void *buf, size_t room, size_t size, size_t n, FILE *stream),
	     (buf, room, size, n, stream))

SP_HOOK_CALL(size_t, __fread_unlocked_chk, SP_EV_fread, stream_file(t, stream),
	     moved(stream, size, n, ret),
	     (void *buf, size_t room, size_t size, size_t n, FILE *stream),
	     (buf, room, size, n, stream))

SP_HOOK_CALL(size_t, fwrite, SP_EV_fwrite, stream_file(t, stream), moved(stream, size, n, ret),
	     (const void *buf, size_t size, size_t n, FILE *stream), (buf, size, n, stream))

SP_HOOK_CALL(size_t, fwrite_unlocked, SP_EV_fwrite, stream_file(t, stream),
	     moved(stream, size, n, ret), (const void *buf, size_t size, size_t n, FILE *stream),
	     (buf, size, n, stream))
