/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries about files: their number and their time. Paths are not kept; known descriptors are.
 *
 * Programs built with glibc 2.33 and later call stat and its kin. Programs built earlier, such as
 * the manylinux wheels, call __xstat and its kin.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/recorder/fd_table.h"
#include "preload/hooks/hook.h"

_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "the aliases below need LP64");
_Static_assert(sizeof(struct dirent) == sizeof(struct dirent64), "the aliases below need LP64");

SP_HOOK_CALL(int, stat, SP_EV_stat, 0, SP_RESULT(ret), (const char *path, struct stat *st),
	     (path, st))
SP_ALIAS_STRUCT(stat64, stat);

SP_HOOK_CALL(int, __xstat, SP_EV_stat, 0, SP_RESULT(ret),
	     (int version, const char *path, struct stat *st), (version, path, st))
SP_ALIAS_STRUCT(__xstat64, __xstat);

SP_HOOK_CALL(int, lstat, SP_EV_stat, 0, SP_RESULT(ret), (const char *path, struct stat *st),
	     (path, st))
SP_ALIAS_STRUCT(lstat64, lstat);

SP_HOOK_CALL(int, __lxstat, SP_EV_stat, 0, SP_RESULT(ret),
	     (int version, const char *path, struct stat *st), (version, path, st))
SP_ALIAS_STRUCT(__lxstat64, __lxstat);

SP_HOOK_CALL(int, fstatat, SP_EV_stat, 0, SP_RESULT(ret),
	     (int folder, const char *path, struct stat *st, int flags), (folder, path, st, flags))
SP_ALIAS_STRUCT(fstatat64, fstatat);

SP_HOOK_CALL(int, __fxstatat, SP_EV_stat, 0, SP_RESULT(ret),
	     (int version, int folder, const char *path, struct stat *st, int flags),
	     (version, folder, path, st, flags))
SP_ALIAS_STRUCT(__fxstatat64, __fxstatat);

SP_HOOK_CALL(int, statx, SP_EV_stat, 0, SP_RESULT(ret),
	     (int folder, const char *path, int flags, unsigned mask, struct statx *st),
	     (folder, path, flags, mask, st))

/* No registration here: asking about a file is no use of it. */
SP_HOOK_CALL(int, fstat, SP_EV_fstat, sp_fd_file_known(fd), SP_RESULT(ret),
	     (int fd, struct stat *st), (fd, st))
SP_ALIAS_STRUCT(fstat64, fstat);

SP_HOOK_CALL(int, __fxstat, SP_EV_fstat, sp_fd_file_known(fd), SP_RESULT(ret),
	     (int version, int fd, struct stat *st), (version, fd, st))
SP_ALIAS_STRUCT(__fxstat64, __fxstat);

SP_HOOK_CALL(int, access, SP_EV_access, 0, SP_RESULT(ret), (const char *path, int mode),
	     (path, mode))

SP_HOOK_CALL(int, euidaccess, SP_EV_access, 0, SP_RESULT(ret), (const char *path, int mode),
	     (path, mode))
SP_ALIAS(eaccess, euidaccess);

SP_HOOK_CALL(int, faccessat, SP_EV_access, 0, SP_RESULT(ret),
	     (int folder, const char *path, int mode, int flags), (folder, path, mode, flags))
