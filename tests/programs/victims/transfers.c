/* SPDX-License-Identifier: Apache-2.0 */
/* Calls other than read and write that move or request a file's bytes, each a known number of
 * times. */
#define _GNU_SOURCE
#include <aio.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

#define TIMES 5

static char block[300];
static const struct iovec vectors[] = {{block, 100}, {block + 100, 200}};

static int opened(const char *path, int flags)
{
	int fd = TALLY(tally_row("file_open", ""), open(path, flags, 0600));

	EXPECT(fd >= 0);
	return fd;
}

static void closed(int fd)
{
	EXPECT(TALLY(tally_row("file_close", ""), close(fd)) == 0);
}

static void vectors_move(int in, int out)
{
	struct tally_row *reads = tally_row("file_read", "in.dat");
	struct tally_row *writes = tally_row("file_write", "out.dat");

	for (int i = 0; i < TIMES; i++) {
		EXPECT(TALLY_BYTES(reads, readv(in, vectors, 2)) == 300);
		EXPECT(TALLY_BYTES(reads, preadv(in, vectors, 2, 0)) == 300);
		EXPECT(TALLY_BYTES(reads, preadv64(in, vectors, 2, 0)) == 300);
		EXPECT(TALLY_BYTES(reads, preadv2(in, vectors, 1, 0, 0)) == 100);
		EXPECT(TALLY_BYTES(reads, preadv64v2(in, vectors, 1, 0, 0)) == 100);
		EXPECT(TALLY_BYTES(writes, writev(out, vectors, 2)) == 300);
		EXPECT(TALLY_BYTES(writes, pwritev(out, vectors, 2, 0)) == 300);
		EXPECT(TALLY_BYTES(writes, pwritev64(out, vectors, 2, 0)) == 300);
		EXPECT(TALLY_BYTES(writes, pwritev2(out, vectors, 1, 0, 0)) == 100);
		EXPECT(TALLY_BYTES(writes, pwritev64v2(out, vectors, 1, 0, 0)) == 100);
	}
}

static void kernel_copies(int in, int out)
{
	struct tally_row *copies = tally_row("file_copy", "");
	off_t from = 0;
	off64_t at = 0;
	int ends[2];

	EXPECT(pipe(ends) == 0);
	for (int i = 0; i < TIMES; i++) {
		EXPECT(TALLY_BYTES(copies, sendfile(out, in, &from, 50)) == 50);
		EXPECT(TALLY_BYTES(copies, sendfile64(out, in, &from, 51)) == 51);
		EXPECT(TALLY_BYTES(copies, copy_file_range(in, &at, out, NULL, 52, 0)) == 52);
		EXPECT(TALLY_BYTES(copies, splice(in, &at, ends[1], NULL, 53, 0)) == 53);
		EXPECT(TALLY_BYTES(tally_row("ipc_read", ""), read(ends[0], block, 53)) == 53);
	}
	closed(ends[0]);
	closed(ends[1]);
}

static void *mapped(int fd, const char *path, int protection)
{
	struct tally_row *row = tally_row("mmap", path);
	void *map;

	tally_begin(row);
	map = mmap(NULL, 4096, protection, MAP_SHARED, fd, 0);
	EXPECT(map != MAP_FAILED);
	tally_end(row, 4096);
	return map;
}

static void unmapped(void *map)
{
	struct tally_row *row = tally_row("munmap", "");

	tally_begin(row);
	EXPECT(munmap(map, 4096) == 0);
	tally_end(row, 4096);
}

static void disk_waits(int out)
{
	struct tally_row *syncs = tally_row("file_sync", "");
	void *map = mapped(out, "out.dat", PROT_READ | PROT_WRITE);

	for (int i = 0; i < TIMES; i++) {
		EXPECT(TALLY(syncs, fsync(out)) == 0);
		EXPECT(TALLY(syncs, fdatasync(out)) == 0);
		EXPECT(TALLY(syncs, sync_file_range(out, 0, 0, SYNC_FILE_RANGE_WRITE)) == 0);
		EXPECT(TALLY(syncs, msync(map, 4096, MS_SYNC)) == 0);
	}
	unmapped(map);
}

static void advices(int in)
{
	struct tally_row *row = tally_row("file_advice", "");
	void *map = mapped(in, "in.dat", PROT_READ);

	for (int i = 0; i < TIMES; i++) {
		EXPECT(TALLY(row, posix_fadvise(in, 0, 0, POSIX_FADV_SEQUENTIAL)) == 0);
		EXPECT(TALLY(row, posix_fadvise64(in, 0, 0, POSIX_FADV_WILLNEED)) == 0);
		EXPECT(TALLY(row, readahead(in, 0, 4096)) == 0);
		EXPECT(TALLY(row, madvise(map, 4096, MADV_WILLNEED)) == 0);
		EXPECT(madvise(map, 4096, MADV_DONTNEED) == 0); /* what allocators do: no event */
	}
	unmapped(map);
}

static void questions(int in)
{
	struct tally_row *row = tally_row("file_stat", "");
	struct stat st;
	struct stat64 st64;
	struct statx stx;

	for (int i = 0; i < TIMES; i++) {
		EXPECT(TALLY(row, stat("in.dat", &st)) == 0);
		EXPECT(TALLY(row, stat64("in.dat", &st64)) == 0);
		EXPECT(TALLY(row, lstat("in.dat", &st)) == 0);
		EXPECT(TALLY(row, fstat(in, &st)) == 0);
		EXPECT(TALLY(row, fstat64(in, &st64)) == 0);
		EXPECT(TALLY(row, fstatat(AT_FDCWD, "in.dat", &st, 0)) == 0);
		EXPECT(TALLY(row, statx(AT_FDCWD, "in.dat", 0, STATX_SIZE, &stx)) == 0);
		EXPECT(TALLY(row, access("in.dat", R_OK)) == 0);
		EXPECT(TALLY(row, faccessat(AT_FDCWD, "in.dat", R_OK, 0)) == 0);
		EXPECT(TALLY(row, access("not there", R_OK)) == -1 && errno == ENOENT);
	}
}

static void changes(int out)
{
	struct tally_row *row = tally_row("file_change", "");

	for (int i = 0; i < TIMES; i++) {
		EXPECT(TALLY(row, mkdir("folder", 0700)) == 0);
		EXPECT(TALLY(row, mkdirat(AT_FDCWD, "folder", 0700)) == -1 && errno == EEXIST);
		EXPECT(TALLY(row, link("in.dat", "folder/a")) == 0);
		EXPECT(TALLY(row, linkat(AT_FDCWD, "in.dat", AT_FDCWD, "folder/b", 0)) == 0);
		EXPECT(TALLY(row, symlink("a", "folder/c")) == 0);
		EXPECT(TALLY(row, symlinkat("a", AT_FDCWD, "folder/d")) == 0);
		EXPECT(TALLY(row, rename("folder/a", "folder/c")) == 0);
		EXPECT(TALLY(row, renameat(AT_FDCWD, "folder/c", AT_FDCWD, "folder/a")) == 0);
		EXPECT(TALLY(row, renameat2(AT_FDCWD, "folder/a", AT_FDCWD, "folder/e", 0)) == 0);
		EXPECT(TALLY(row, unlink("folder/b")) == 0);
		EXPECT(TALLY(row, unlinkat(AT_FDCWD, "folder/d", 0)) == 0);
		EXPECT(TALLY(row, remove("folder/e")) == 0);
		EXPECT(TALLY(row, unlink("folder/e")) == -1 && errno == ENOENT);
		EXPECT(TALLY(row, rmdir("folder")) == 0);
		EXPECT(TALLY(row, truncate("out.dat", 5000)) == 0);
		EXPECT(TALLY(row, truncate64("out.dat", 5000)) == 0);
		EXPECT(TALLY(row, ftruncate(out, 6000)) == 0);
		EXPECT(TALLY(row, ftruncate64(out, 6000)) == 0);
		EXPECT(TALLY(row, posix_fallocate(out, 0, 7000)) == 0);
		EXPECT(TALLY(row, posix_fallocate64(out, 0, 7000)) == 0);
		TALLY(row, fallocate(out, 0, 0, 8000)); /* some file systems cannot */
		TALLY(row, fallocate64(out, 0, 0, 8000));
	}
}

static void listing(void)
{
	struct tally_row *row = tally_row("file_list", "");
	DIR *folder = TALLY(row, opendir("."));

	EXPECT(folder);
	while (TALLY(row, readdir(folder)))
		;
	EXPECT(closedir(folder) == 0);
}

static ssize_t result_of(struct aiocb *request, struct tally_row *row)
{
	const struct aiocb *const list[] = {request};

	while (aio_error(request) == EINPROGRESS)
		aio_suspend(list, 1, NULL);
	return TALLY_BYTES(row, aio_return(request));
}

static void asynchronous(int in, int out)
{
	struct tally_row *reads = tally_row("file_read", "in.dat");
	struct tally_row *writes = tally_row("file_write", "out.dat");

	for (int i = 0; i < TIMES; i++) {
		struct aiocb request = {.aio_fildes = in, .aio_buf = block, .aio_nbytes = 120};

		EXPECT(aio_read(&request) == 0);
		EXPECT(result_of(&request, reads) == 120);
		request = (struct aiocb){.aio_fildes = out, .aio_buf = block, .aio_nbytes = 130};
		EXPECT(aio_write(&request) == 0);
		EXPECT(result_of(&request, writes) == 130);
	}
}

int main(void)
{
	int in, out;

	tally_make_file("in.dat", 100000);
	in = opened("in.dat", O_RDONLY);
	out = opened("out.dat", O_CREAT | O_TRUNC | O_RDWR);
	vectors_move(in, out);
	kernel_copies(in, out);
	disk_waits(out);
	advices(in);
	questions(in);
	changes(out);
	listing();
	asynchronous(in, out);
	closed(in);
	closed(out);
	return 0;
}
