/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listings of folders, one event for each entry: most calls only return an entry that an earlier
 * call fetched. closedir is in hooks_file.c.
 */
#include <dirent.h>
#include <fcntl.h>

#include "preload/recorder/fd_table.h"
#include "preload/hooks/hook.h"
#include "preload/recorder/mark_path.h"
#include "preload/recorder/process.h"
#include "preload/stacks/stacks.h"

_Static_assert(sizeof(struct dirent) == sizeof(struct dirent64), "the aliases below need LP64");

/* The same number may have been another file's, closed unseen. */
static DIR *folder_opened(DIR *folder)
{
	int kept = errno;

	if (folder && sp_process && !sp_tls.suppress_depth)
		sp_fd_unregister(dirfd(folder));
	errno = kept;
	return folder;
}

SP_HOOK(DIR *, opendir, const char *path)
{
	struct sp_thread *t = sp_enter();
	DIR *ret;

	if (!t)
		return folder_opened(SP_REAL(opendir)(path));
	SP_SPAN_OPEN(span, t, SP_EV_opendir, path);
	ret = SP_REAL(opendir)(path);
	sp_span_close(&span, ret ? 0 : -(int64_t)errno);
	return folder_opened(ret);
}

SP_HOOK_CALL(DIR *, fdopendir, SP_EV_opendir, 0, ret ? 0 : -(int64_t)errno, (int fd), (fd))

/* NULL means the end of a folder or a failure; errno says which, if the caller had cleared it. */
static int64_t entry_result(const struct dirent *entry, int before)
{
	return entry ? 1 : errno == before ? 0 : -(int64_t)errno;
}

SP_HOOK(struct dirent *, readdir, DIR *folder)
{
	struct sp_thread *t = sp_enter();
	struct dirent *ret;
	int before;

	if (!t)
		return SP_REAL(readdir)(folder);
	before = errno;
	SP_SPAN(span, t, SP_EV_readdir, 0);
	ret = SP_REAL(readdir)(folder);
	sp_span_close(&span, entry_result(ret, before));
	return ret;
}
SP_ALIAS_STRUCT(readdir64, readdir);

/* The reads of scandir are not seen separately. */
SP_HOOK_CALL(int, scandir, SP_EV_scandir, 0, SP_RESULT(ret),
	     (const char *path, struct dirent ***ret_entries, int (*choose)(const struct dirent *),
	      int (*compare)(const struct dirent **, const struct dirent **)),
	     (path, ret_entries, choose, compare))
SP_ALIAS_STRUCT(scandir64, scandir);

SP_HOOK_CALL(int, scandirat, SP_EV_scandir, 0, SP_RESULT(ret),
	     (int folder, const char *path, struct dirent ***ret_entries,
	      int (*choose)(const struct dirent *),
	      int (*compare)(const struct dirent **, const struct dirent **)),
	     (folder, path, ret_entries, choose, compare))
SP_ALIAS_STRUCT(scandirat64, scandirat);
