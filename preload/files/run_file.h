/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of the run, reached only through the directory that the run made, because its path may now
 * name a link or another directory. Call these functions only inside sp_fd_private_task(), because
 * they open descriptors. Functions return a descriptor or -errno.
 */
#ifndef STAGEPROF_PRELOAD_RUN_FILE_H
#define STAGEPROF_PRELOAD_RUN_FILE_H

#include <stdint.h>

#include "preload/settings/run_identity.h"

#define SP_RUN_FILE_PAGE_BYTES 4096u

struct sp_run_directory {
	const char *path; /* absolute; outlives all that uses it */
	struct sp_inode inode;
};

/* -ESTALE where the path names another directory now. */
long sp_run_directory_open(const struct sp_run_directory *directory);

/* A regular file in that directory. -ESTALE where the name is
 * another file's now than `inode` says. */
long sp_run_file_open(long directory_fd, const char *name, int flags, const struct sp_inode *inode);

/* A new one, 0600 whatever the umask is, never one that is there. */
long sp_run_file_make(long directory_fd, const char *name, struct sp_inode *ret_inode);

/* 1 where a store to a page that was written once needs no new space (trace/filesystems.def). */
int sp_run_file_may_be_mapped(long fd);

/* 1 where a file may have so many bytes; 0: writing the last one would raise SIGXFSZ. One system
 * call. */
int sp_run_file_fits(uint64_t bytes);

/* From one name to another that is free: -EEXIST. */
long sp_run_file_rename(long directory_fd, const char *from, const char *to);

/* 0, 0: not known. */
struct sp_inode sp_inode_of(long fd);

/* The inode of a file that was made just now; 0, 0: not known. Gives the owner the rights to read
 * and to write, which the program's umask may have taken. */
struct sp_inode sp_run_file_made(long fd);

/* A file that its writer left: 0 where it is as it was then. `*end` is the end of its last block,
 * which one FREE frame follows up to the file's end; 0: not known, and on return the file's end.
 * -ESTALE where it is not: another user's, one that has another name, too, or one that was changed.
 */
long sp_run_file_left(long fd, uint64_t *end, uint64_t *ret_bytes);

/* All bytes, or -errno. The caller's signals are blocked: there is no EINTR to retry. */
long sp_run_file_write(long fd, const void *bytes, uint64_t count, uint64_t offset);

/* The same for `count` parts, one after the other, which it changes. */
struct iovec;
long sp_run_file_write_parts(long fd, struct iovec *parts, unsigned count, uint64_t offset);

/* The file grows from a multiple of 8 to one of SP_RUN_FILE_PAGE_BYTES by FREE frames of one page
 * each, the first of them up to the end of its page, so that a write that SIGKILL cuts short ends
 * at a frame. Returns 0 or -errno. */
long sp_run_file_append_free(long fd, uint64_t from, uint64_t to);

#endif
