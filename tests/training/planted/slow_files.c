/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_files SOURCE MOUNTPOINT LATENCY_US MB_PER_S: a read-only view of a folder in which each
 * request for data takes LATENCY_US and its bytes at MB_PER_S, as on a store across a network.
 * Several are served at once. The kernel forgets a file's pages when it is opened again. Runs until
 * unmounted.
 */
#define FUSE_USE_VERSION 31
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse3/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int source; /* the folder */
static long latency_ns, ns_per_kib;

static const char *inside(const char *path)
{
	return path[1] ? path + 1 : ".";
}

static void take_time(size_t bytes)
{
	long ns = latency_ns + (long)(bytes / 1024) * ns_per_kib;
	struct timespec rest = {ns / 1000000000, ns % 1000000000};

	while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
		;
}

static int slow_getattr(const char *path, struct stat *ret, struct fuse_file_info *file)
{
	(void)file;
	return fstatat(source, inside(path), ret, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

static int slow_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
			struct fuse_file_info *file, enum fuse_readdir_flags flags)
{
	int fd = openat(source, inside(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);

	(void)offset;
	(void)file;
	(void)flags;
	if (!folder)
		return -errno;
	for (struct dirent *entry; (entry = readdir(folder));)
		fill(buffer, entry->d_name, NULL, 0, 0);
	closedir(folder);
	return 0;
}

static int slow_open(const char *path, struct fuse_file_info *file)
{
	int fd;

	if ((file->flags & O_ACCMODE) != O_RDONLY)
		return -EROFS;
	fd = openat(source, inside(path), O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	file->fh = (uint64_t)fd;
	return 0;
}

static int slow_read(const char *path, char *buffer, size_t bytes, off_t offset,
		     struct fuse_file_info *file)
{
	ssize_t n = pread((int)file->fh, buffer, bytes, offset);

	(void)path;
	if (n < 0)
		return -errno;
	take_time((size_t)n);
	return (int)n;
}

static int slow_release(const char *path, struct fuse_file_info *file)
{
	(void)path;
	close((int)file->fh);
	return 0;
}

static const struct fuse_operations operations = {
	.getattr = slow_getattr,
	.readdir = slow_readdir,
	.open = slow_open,
	.read = slow_read,
	.release = slow_release,
};

int main(int argc, char **argv)
{
	char foreground[] = "-f",
	     *arguments[] = {argv[0], foreground, argc == 5 ? argv[2] : NULL, NULL};
	double mb_per_s = argc == 5 ? atof(argv[4]) : 0;

	if (mb_per_s <= 0) {
		fprintf(stderr, "usage: slow_files SOURCE MOUNTPOINT LATENCY_US MB_PER_S\n");
		return 2;
	}
	source = open(argv[1], O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (source < 0) {
		fprintf(stderr, "slow_files: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	latency_ns = atol(argv[3]) * 1000;
	ns_per_kib = (long)(1024e3 / mb_per_s);
	return fuse_main(3, arguments, &operations, NULL);
}
