/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/files/run_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#include "preload/sys/sys.h"
#include "trace/filesystems.h"
#include "trace/format.h"

#define PAGES_AT_ONCE 64u

struct sp_inode sp_inode_of(long fd)
{
	struct stat st;

	if (SP_SYS2(SYS_fstat, fd, &st) < 0)
		return (struct sp_inode){0, 0};
	return (struct sp_inode){st.st_dev, st.st_ino};
}

struct sp_inode sp_run_file_made(long fd)
{
	struct stat st;

	if (SP_SYS2(SYS_fstat, fd, &st) < 0)
		return (struct sp_inode){0, 0};
	if ((st.st_mode & 0600) != 0600)
		SP_SYS2(SYS_fchmod, fd, 0600);
	return (struct sp_inode){st.st_dev, st.st_ino};
}

static long fd_checked(long fd, const struct sp_inode *wanted)
{
	struct sp_inode found;

	if (fd < 0 || !wanted->number)
		return fd;
	found = sp_inode_of(fd);
	if (found.device == wanted->device && found.number == wanted->number)
		return fd;
	SP_SYS1(SYS_close, fd);
	return found.number ? -ESTALE : -EIO;
}

long sp_run_directory_open(const struct sp_run_directory *directory)
{
	long fd = SP_SYS4(SYS_openat, AT_FDCWD, directory->path,
			  O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);

	return fd_checked(fd, &directory->inode);
}

/*
 * A name has no slash, so O_NOFOLLOW is enough: it cannot leave the directory. openat2() would say
 * no more, and hosts see it: valgrind warns of it, and a seccomp filter may kill for it.
 */
static long open_beneath(long directory_fd, const char *name, int flags, unsigned mode)
{
	return SP_SYS4(SYS_openat, directory_fd, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);
}

long sp_run_file_open(long directory_fd, const char *name, int flags, const struct sp_inode *inode)
{
	/* O_NONBLOCK: a FIFO that stands there now must not stop the host. */
	return fd_checked(open_beneath(directory_fd, name, flags | O_NONBLOCK, 0), inode);
}

long sp_run_file_make(long directory_fd, const char *name, struct sp_inode *ret_inode)
{
	long fd = open_beneath(directory_fd, name, O_CREAT | O_EXCL | O_RDWR, 0600);

	if (fd >= 0)
		*ret_inode = sp_run_file_made(fd);
	return fd;
}

int sp_run_file_fits(uint64_t bytes)
{
	struct rlimit limit;

	return SP_SYS4(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, &limit) < 0 || limit.rlim_cur >= bytes;
}

int sp_run_file_may_be_mapped(long fd)
{
	struct statfs fs;
	uint32_t row;

	if (SP_SYS2(SYS_fstatfs, fd, &fs) < 0)
		return 0;
	row = sp_file_system_row((uint64_t)fs.f_type);
	return row < sp_file_systems() && sp_file_system(row)->space == SP_FS_KEPT;
}

long sp_run_file_rename(long directory_fd, const char *from, const char *to)
{
	long error = SP_SYS5(SYS_renameat2, directory_fd, from, directory_fd, to, RENAME_NOREPLACE);

	if (error == -EINVAL || error == -ENOSYS) /* e.g. NFS */
		error = SP_SYS4(SYS_renameat, directory_fd, from, directory_fd, to);
	return error;
}

/* A writer that is killed leaves whole pages. */
static int is_as_left(const struct stat *st, uint64_t end)
{
	uint64_t bytes = (uint64_t)st->st_size;

	return S_ISREG(st->st_mode) && st->st_nlink == 1 &&
	       st->st_uid == (uint32_t)SP_SYS1(SYS_geteuid, 0) && st->st_size > 0 && end <= bytes &&
	       bytes % (end ? sizeof(struct sp_frame) : SP_RUN_FILE_PAGE_BYTES) == 0;
}

static int is_free_at(long fd, uint64_t end, uint64_t bytes)
{
	struct sp_frame frame;

	if (end == bytes)
		return 1;
	return SP_SYS4(SYS_pread64, fd, &frame, sizeof(frame), end) == sizeof(frame) &&
	       frame.magic == SP_FRAME_FREE && frame.size + sizeof(frame) == bytes - end;
}

long sp_run_file_left(long fd, uint64_t *end, uint64_t *ret_bytes)
{
	struct stat st;
	long error = SP_SYS2(SYS_fstat, fd, &st);

	if (error)
		return error;
	if (!is_as_left(&st, *end))
		return -ESTALE;
	*ret_bytes = (uint64_t)st.st_size;
	*end = *end ? *end : *ret_bytes;
	return is_free_at(fd, *end, *ret_bytes) ? 0 : -ESTALE;
}

long sp_run_file_write(long fd, const void *bytes, uint64_t count, uint64_t offset)
{
	struct iovec part = {(void *)(uintptr_t)bytes, count};

	return sp_run_file_write_parts(fd, &part, 1, offset);
}

long sp_run_file_write_parts(long fd, struct iovec *parts, unsigned count, uint64_t offset)
{
	for (;;) {
		long n;

		while (count && !parts->iov_len) {
			parts++;
			count--;
		}
		if (!count)
			return 0;
		n = count == 1 ? SP_SYS4(SYS_pwrite64, fd, parts->iov_base, parts->iov_len, offset)
			       : SP_SYS5(SYS_pwritev, fd, parts, count, offset, 0);
		if (n <= 0)
			return n ? n : -EIO;
		offset += (uint64_t)n;
		for (unsigned i = 0; n; i++) {
			uint64_t taken =
				(uint64_t)n < parts[i].iov_len ? (uint64_t)n : parts[i].iov_len;

			parts[i].iov_base = (uint8_t *)parts[i].iov_base + taken;
			parts[i].iov_len -= taken;
			n -= (long)taken;
		}
	}
}

static const struct free_page {
	struct sp_frame frame;
	uint8_t zeros[SP_RUN_FILE_PAGE_BYTES - sizeof(struct sp_frame)];
} free_page = {.frame = {SP_FRAME_FREE, SP_RUN_FILE_PAGE_BYTES - sizeof(struct sp_frame)}};

/* The first frame ends with its page; eight bytes are a frame of nothing. */
static unsigned first_frame(struct iovec *parts, struct sp_frame *frame, uint64_t bytes)
{
	*frame = (struct sp_frame){SP_FRAME_FREE, (uint32_t)(bytes - sizeof(*frame))};
	parts[0] = (struct iovec){frame, sizeof(*frame)};
	parts[1] = (struct iovec){(void *)(uintptr_t)free_page.zeros, bytes - sizeof(*frame)};
	return 2;
}

long sp_run_file_append_free(long fd, uint64_t from, uint64_t to)
{
	uint64_t left = sizeof(free_page) - from % sizeof(free_page);
	struct iovec parts[PAGES_AT_ONCE + 2];
	struct sp_frame frame;

	while (from < to) {
		unsigned count = left < sizeof(free_page) ? first_frame(parts, &frame, left) : 0;
		uint64_t end = from + (count ? left : 0);
		long n;

		for (unsigned i = 0; i < PAGES_AT_ONCE && end < to; i++) {
			parts[count++] =
				(struct iovec){(void *)(uintptr_t)&free_page, sizeof(free_page)};
			end += sizeof(free_page);
		}
		n = SP_SYS5(SYS_pwritev, fd, parts, count, from, 0);
		from += n > 0 ? (uint64_t)n : 0;
		if (n <= 0 || from % sizeof(free_page))
			return n < 0 ? n : -ENOSPC;
		left = sizeof(free_page);
	}
	return 0;
}
