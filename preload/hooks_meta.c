/*
 * Asking about files: how often and how long. Paths are not kept, descriptors are where they are
 * known.
 *
 * Programs built with glibc 2.33 and later call stat and its like; those built before, as wheels
 * are, call
 * __xstat and its like.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/files.h"
#include "preload/hook.h"
#include "preload/stacks.h"

_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "the twins below need LP64");
_Static_assert(sizeof(struct dirent) == sizeof(struct dirent64), "the twins below need LP64");

SP_HOOK(int, stat, const char *path, struct stat *st)
{
	struct sp_thread *t = sp_enter();
	int ret;

	if (!t)
		return SP_REAL(stat)(path, st);
	SP_SPAN(span, t, SP_EV_stat, 0);
	ret = SP_REAL(stat)(path, st);
	sp_span_close(&span, SP_RESULT(ret));
	return ret;
}
SP_TWIN_STRUCT(stat64, stat);

SP_HOOK(int, __xstat, int version, const char *path, struct stat *st)
{
	struct sp_thread *t = sp_enter();
	int ret;

	if (!t)
		return SP_REAL(__xstat)(version, path, st);
	SP_SPAN(span, t, SP_EV_stat, 0);
	ret = SP_REAL(__xstat)(version, path, st);
	sp_span_close(&span, SP_RESULT(ret));
	return ret;
}
SP_TWIN_STRUCT(__xstat64, __xstat);

SP_HOOK(int, lstat, const char *path, struct stat *st)
{
	struct sp_thread *t = sp_enter();
	int ret;

	if (!t)
		return SP_REAL(lstat)(path, st);
	SP_SPAN(span, t, SP_EV_stat, 0);
	ret = SP_REAL(lstat)(path, st);
	sp_span_close(&span, SP_RESULT(ret));
	return ret;
}
SP_TWIN_STRUCT(lstat64, lstat);

SP_HOOK(int, __lxstat, int version, const char *path, struct stat *st)
{
	struct sp_thread *t = sp_enter();
	int ret;

	if (!t)
		return SP_REAL(__lxstat)(version, path, st);
	SP_SPAN(span, t, SP_EV_stat, 0);
	ret = SP_REAL(__lxstat)(version, path, st);
	sp_span_close(&span, SP_RESULT(ret));
	return ret;
}
SP_TWIN_STRUCT(__lxstat64, __lxstat);

SP_HOOK(int, fstatat, int folder, const char *path, struct stat *st, int flags)
{
	struct sp_thread *t = sp_enter();
	int ret;

	if (!t)
		return SP_REAL(fstatat)(folder, path, st, flags);
	SP_SPAN(span, t, SP_EV_stat, 0);
	ret = SP_REAL(fstatat)(folder, path, st, flags);
	sp_span_close(&span, SP_RESULT(ret));
	return ret;
}
SP_TWIN_STRUCT(fstatat64, fstatat);

SP_HOOK(int, __fxstatat, int version, int folder, const char *path, struct stat *st, int flags)
{
	struct sp_thread *t = sp_enter();
	int ret;

	if (!t)
		return SP_REAL(__fxstatat)(version, folder, path, st, flags);
	SP_SPAN(span, t, SP_EV_stat, 0);
	ret = SP_REAL(__fxstatat)(version, folder, path, st, flags);
	sp_span_close(&span, SP_RESULT(ret));
	return ret;
}
SP_TWIN_STRUCT(__fxstatat64, __fxstatat);

SP_HOOK(int, statx, int folder, const char *path, int flags, unsigned mask, struct statx *st)
{
	struct sp_thread *t = sp_enter();
	int ret;

	if (!t)
		return SP_REAL(statx)(folder, path, flags, mask, st);
	SP_SPAN(span, t, SP_EV_stat, 0);
	ret = SP_REAL(statx)(folder, path, flags, mask, st);
	sp_span_close(&span, SP_RESULT(ret));
	return ret;
}

/* A file is not met for this: asking about one is no use of it. */
SP_HOOK(int, fstat, int fd, struct stat *st)
{
	struct sp_thread *t = sp_enter();
	int ret;

	if (!t)
		return SP_REAL(fstat)(fd, st);
	SP_SPAN(span, t, SP_EV_fstat, sp_file_known(fd));
	ret = SP_REAL(fstat)(fd, st);
	sp_span_close(&span, SP_RESULT(ret));
	return ret;
}
SP_TWIN_STRUCT(fstat64, fstat);

SP_HOOK(int, __fxstat, int version, int fd, struct stat *st)
{
	struct sp_thread *t = sp_enter();
	int ret;

	if (!t)
		return SP_REAL(__fxstat)(version, fd, st);
	SP_SPAN(span, t, SP_EV_fstat, sp_file_known(fd));
	ret = SP_REAL(__fxstat)(version, fd, st);
	sp_span_close(&span, SP_RESULT(ret));
	return ret;
}
SP_TWIN_STRUCT(__fxstat64, __fxstat);

SP_HOOK(int, access, const char *path, int mode)
{
	struct sp_thread *t = sp_enter();
	int ret;

	if (!t)
		return SP_REAL(access)(path, mode);
	SP_SPAN(span, t, SP_EV_access, 0);
	ret = SP_REAL(access)(path, mode);
	sp_span_close(&span, SP_RESULT(ret));
	return ret;
}

SP_HOOK(int, euidaccess, const char *path, int mode)
{
	struct sp_thread *t = sp_enter();
	int ret;

	if (!t)
		return SP_REAL(euidaccess)(path, mode);
	SP_SPAN(span, t, SP_EV_access, 0);
	ret = SP_REAL(euidaccess)(path, mode);
	sp_span_close(&span, SP_RESULT(ret));
	return ret;
}
SP_TWIN(eaccess, euidaccess);

SP_HOOK(int, faccessat, int folder, const char *path, int mode, int flags)
{
	struct sp_thread *t = sp_enter();
	int ret;

	if (!t)
		return SP_REAL(faccessat)(folder, path, mode, flags);
	SP_SPAN(span, t, SP_EV_access, 0);
	ret = SP_REAL(faccessat)(folder, path, mode, flags);
	sp_span_close(&span, SP_RESULT(ret));
	return ret;
}
