/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes of the file system: names, folders, and the size of a file. Paths are not kept; known
 * descriptors are. A rename over a file frees its blocks, and may wait until the new one is on the
 * disk.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/recorder/fd_table.h"
#include "preload/hooks/hook.h"
#include "preload/stacks/stacks.h"

_Static_assert(sizeof(off_t) == sizeof(off64_t), "the aliases below need LP64");

#define HOOK_CHANGE(name, event, parameters, arguments)                                            \
	SP_HOOK_CALL(int, name, event, 0, SP_RESULT(ret), parameters, arguments)

HOOK_CHANGE(rename, SP_EV_rename, (const char *from, const char *to), (from, to))
HOOK_CHANGE(renameat, SP_EV_rename, (int folder, const char *from, int other, const char *to),
	    (folder, from, other, to))
HOOK_CHANGE(renameat2, SP_EV_rename,
	    (int folder, const char *from, int other, const char *to, unsigned flags),
	    (folder, from, other, to, flags))

HOOK_CHANGE(link, SP_EV_link, (const char *from, const char *to), (from, to))
HOOK_CHANGE(linkat, SP_EV_link,
	    (int folder, const char *from, int other, const char *to, int flags),
	    (folder, from, other, to, flags))
HOOK_CHANGE(symlink, SP_EV_link, (const char *text, const char *path), (text, path))
HOOK_CHANGE(symlinkat, SP_EV_link, (const char *text, int folder, const char *path),
	    (text, folder, path))

HOOK_CHANGE(unlink, SP_EV_unlink, (const char *path), (path))
HOOK_CHANGE(unlinkat, SP_EV_unlink, (int folder, const char *path, int flags),
	    (folder, path, flags))
HOOK_CHANGE(rmdir, SP_EV_unlink, (const char *path), (path))
HOOK_CHANGE(remove, SP_EV_unlink, (const char *path), (path))

HOOK_CHANGE(mkdir, SP_EV_mkdir, (const char *path, mode_t mode), (path, mode))
HOOK_CHANGE(mkdirat, SP_EV_mkdir, (int folder, const char *path, mode_t mode), (folder, path, mode))

HOOK_CHANGE(truncate, SP_EV_truncate, (const char *path, off_t bytes), (path, bytes))
SP_ALIAS(truncate64, truncate);

SP_HOOK_FILE(int, ftruncate, SP_EV_ftruncate, (int fd, off_t bytes), (fd, bytes))
SP_ALIAS(ftruncate64, ftruncate);

SP_HOOK_FILE(int, fallocate, SP_EV_fallocate, (int fd, int mode, off_t at, off_t bytes),
	     (fd, mode, at, bytes))
SP_ALIAS(fallocate64, fallocate);

/* Returns an error number, and leaves errno alone. */
SP_HOOK_FILE_VALUE(int, posix_fallocate, SP_EV_fallocate, -(int64_t)ret,
		   (int fd, off_t at, off_t bytes), (fd, at, bytes))
SP_ALIAS(posix_fallocate64, posix_fallocate);
