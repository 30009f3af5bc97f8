/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open, close and calls on a descriptor. The 64-bit names are the same functions on LP64 (off_t
 * is off64_t, O_LARGEFILE is 0). Fortified programs call the _chk and _2 forms, which keep their
 * checks.
 *
 * All threads share the table of descriptors (preload/recorder/fd_table.h), so calls that are not
 * recorded update it, too. A vfork child does not: its descriptors are its own while the table is
 * its parent's.
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <stdarg.h>
#include <unistd.h>

#include "preload/recorder/fd_table.h"
#include "preload/hooks/hook.h"
#include "preload/recorder/mark_path.h"
#include "preload/recorder/process.h"
#include "preload/hooks/wake.h"
#include "preload/stacks/stacks.h"

_Static_assert(sizeof(off_t) == sizeof(off64_t), "the aliases below need LP64");

static int table_is_ours(void)
{
	return sp_process && !sp_is_suppressed();
}

static void descriptor_gone(int fd)
{
	if (fd >= 0 && table_is_ours())
		sp_fd_unregister(fd);
}

/* Ends an opening call. The file registered under this number was closed unseen. The registration
 * makes system calls, which are not in the event's time. */
static int descriptor_opened(struct sp_open_span *span, int fd, const char *path)
{
	uint64_t end = sp_clock_ticks();
	int64_t value = SP_RESULT(fd);

	if (sp_unlikely(value == -EINTR)) /* it may have been a hang */
		sp_span_set_arg(span, sp_fd_path_define(span->thread, path));
	if (fd >= 0) {
		sp_fd_unregister(fd);
		sp_span_set_arg(span, sp_fd_register(span->thread, fd));
	}
	sp_span_close_at(span, end, value);
	sp_wake();
	return fd;
}

static int descriptor_opened_unseen(int fd)
{
	descriptor_gone(fd);
	sp_wake();
	return fd;
}

/* open(2): only these flags have a mode. O_TMPFILE includes the bit of O_DIRECTORY. */
static mode_t mode_argument(int flags, va_list arguments)
{
	return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t)
								     : 0;
}

/* A file that is opened for writing alone is no input. Flags are in no event, so the event's kind
 * is that of creat. In flight the call keeps its name. */
static void note_direction(struct sp_open_span *span, int flags)
{
	if ((flags & O_ACCMODE) == O_WRONLY)
		span->what = sp_what_make(SP_EV_creat, sp_commit_arg(span->what));
}

SP_HOOK(int, open, const char *path, int flags, ...)
{
	struct sp_thread *t = sp_enter();
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = mode_argument(flags, arguments);
	va_end(arguments);
	if (!t)
		return descriptor_opened_unseen(SP_REAL(open)(path, flags, mode));
	SP_SPAN_OPEN(span, t, SP_EV_open, path);
	note_direction(&span, flags);
	return descriptor_opened(&span, SP_REAL(open)(path, flags, mode), path);
}
SP_ALIAS(open64, open);

SP_HOOK(int, openat, int folder, const char *path, int flags, ...)
{
	struct sp_thread *t = sp_enter();
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = mode_argument(flags, arguments);
	va_end(arguments);
	if (!t)
		return descriptor_opened_unseen(SP_REAL(openat)(folder, path, flags, mode));
	SP_SPAN_OPEN(span, t, SP_EV_openat, path);
	note_direction(&span, flags);
	return descriptor_opened(&span, SP_REAL(openat)(folder, path, flags, mode), path);
}
SP_ALIAS(openat64, openat);

#define HOOK_OPEN(name, event, parameters, arguments)                                              \
	SP_HOOK(int, name, SP_UNPACK parameters)                                                   \
	{                                                                                          \
		struct sp_thread *t = sp_enter();                                                  \
                                                                                                   \
		if (!t)                                                                            \
			return descriptor_opened_unseen(SP_REAL(name) arguments);                  \
		SP_SPAN_OPEN(span, t, event, path);                                                \
		return descriptor_opened(&span, SP_REAL(name) arguments, path);                    \
	}

HOOK_OPEN(creat, SP_EV_creat, (const char *path, mode_t mode), (path, mode))
SP_ALIAS(creat64, creat);
HOOK_OPEN(__open_2, SP_EV_open, (const char *path, int flags), (path, flags))
SP_ALIAS(__open64_2, __open_2);
HOOK_OPEN(__openat_2, SP_EV_openat, (int folder, const char *path, int flags),
	  (folder, path, flags))
SP_ALIAS(__openat64_2, __openat_2);

SP_HOOK_FILE(ssize_t, read, SP_EV_read, (int fd, void *buf, size_t n), (fd, buf, n))

SP_HOOK_FILE(ssize_t, __read_chk, SP_EV_read, (int fd, void *buf, size_t n, size_t room),
	     (fd, buf, n, room))

SP_HOOK_FILE(ssize_t, pread, SP_EV_pread, (int fd, void *buf, size_t n, off_t offset),
	     (fd, buf, n, offset))
SP_ALIAS(pread64, pread);

SP_HOOK_FILE(ssize_t, __pread_chk, SP_EV_pread,
	     (int fd, void *buf, size_t n, off_t offset, size_t room), (fd, buf, n, offset, room))
SP_ALIAS(__pread64_chk, __pread_chk);

SP_HOOK_FILE(ssize_t, write, SP_EV_write, (int fd, const void *buf, size_t n), (fd, buf, n))

SP_HOOK_FILE(ssize_t, pwrite, SP_EV_pwrite, (int fd, const void *buf, size_t n, off_t offset),
	     (fd, buf, n, offset))
SP_ALIAS(pwrite64, pwrite);

/* Unregistered before the close: an open in another thread may get the number at once. */
SP_HOOK(int, close, int fd)
{
	struct sp_thread *t = sp_enter();
	int ret;

	if (!t) {
		descriptor_gone(fd);
		return SP_REAL(close)(fd);
	}
	SP_SPAN(span, t, SP_EV_close, sp_fd_file_known(fd));
	sp_fd_unregister(fd);
	ret = SP_REAL(close)(fd);
	sp_span_close(&span, SP_RESULT(ret));
	return ret;
}

/* No event. fdopendir may have taken over a registered descriptor, which libc closes unseen. */
SP_HOOK(int, closedir, DIR *folder)
{
	if (folder)
		descriptor_gone(dirfd(folder));
	return SP_REAL(closedir)(folder);
}

static void range_gone(unsigned first, unsigned last)
{
	if (table_is_ours())
		sp_fd_unregister_range(first, last);
}

SP_HOOK(int, close_range, unsigned first, unsigned last, int flags)
{
	struct sp_thread *t = sp_enter();
	int ret;

	if (!(flags & CLOSE_RANGE_CLOEXEC))
		range_gone(first, last);
	if (!t)
		return SP_REAL(close_range)(first, last, flags);
	SP_SPAN(span, t, SP_EV_close_range, 0);
	ret = SP_REAL(close_range)(first, last, flags);
	sp_span_close(&span, SP_RESULT(ret));
	return ret;
}

SP_HOOK(void, closefrom, int first)
{
	struct sp_thread *t = sp_enter();

	range_gone(first > 0 ? (unsigned)first : 0, ~0u);
	if (!t) {
		SP_REAL(closefrom)(first);
		return;
	}
	SP_SPAN(span, t, SP_EV_close_range, 0);
	SP_REAL(closefrom)(first);
	sp_span_close(&span, 0);
}

/* Ends a copying call. dup2 closes the file under the new number. */
static int descriptor_copied(struct sp_open_span *span, int from, int to)
{
	uint64_t end = sp_clock_ticks();

	if (to >= 0 && to != from)
		sp_fd_copy(from, to);
	sp_span_close_at(span, end, SP_RESULT(to));
	return to;
}

static int descriptor_copied_unseen(int from, int to)
{
	if (to != from)
		descriptor_gone(to);
	return to;
}

SP_HOOK(int, dup, int fd)
{
	struct sp_thread *t = sp_enter();

	if (!t)
		return descriptor_copied_unseen(fd, SP_REAL(dup)(fd));
	SP_SPAN(span, t, SP_EV_dup, sp_fd_file(t, fd));
	return descriptor_copied(&span, fd, SP_REAL(dup)(fd));
}

SP_HOOK(int, dup2, int fd, int to)
{
	struct sp_thread *t = sp_enter();

	if (!t)
		return descriptor_copied_unseen(fd, SP_REAL(dup2)(fd, to));
	SP_SPAN(span, t, SP_EV_dup, sp_fd_file(t, fd));
	return descriptor_copied(&span, fd, SP_REAL(dup2)(fd, to));
}

SP_HOOK(int, dup3, int fd, int to, int flags)
{
	struct sp_thread *t = sp_enter();

	if (!t)
		return descriptor_copied_unseen(fd, SP_REAL(dup3)(fd, to, flags));
	SP_SPAN(span, t, SP_EV_dup, sp_fd_file(t, fd));
	return descriptor_copied(&span, fd, SP_REAL(dup3)(fd, to, flags));
}

static int fcntl_copying(int fd, int command, void *argument)
{
	struct sp_thread *t = sp_enter();

	if (!t)
		return descriptor_copied_unseen(fd, SP_REAL(fcntl)(fd, command, argument));
	SP_SPAN(span, t, SP_EV_dup, sp_fd_file(t, fd));
	return descriptor_copied(&span, fd, SP_REAL(fcntl)(fd, command, argument));
}

/* The third argument is none, an int or a pointer, depending on the command: one word carries each
 * of them on both processors. */
SP_HOOK(int, fcntl, int fd, int command, ...)
{
	va_list arguments;
	void *argument;

	va_start(arguments, command);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
		return fcntl_copying(fd, command, argument);
	return SP_REAL(fcntl)(fd, command, argument);
}
SP_ALIAS(fcntl64, fcntl);
