/* SPDX-License-Identifier: Apache-2.0 */
/* Every name under which libc exports the same call, called as such, three times each. */
#define _GNU_SOURCE
#define _LARGEFILE64_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

/* Names that -D_FORTIFY_SOURCE makes of read(2) and similar calls; no header declares them
 * otherwise. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);
ssize_t __read_chk(int fd, void *to, size_t n, size_t room);
ssize_t __pread_chk(int fd, void *to, size_t n, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *to, size_t n, off64_t at, size_t room);
size_t __fread_chk(void *to, size_t room, size_t size, size_t n, FILE *from);

static struct tally_row *opens, *closes;

static void check_open(int fd)
{
	EXPECT(fd >= 0);
	EXPECT(TALLY(closes, close(fd)) == 0);
}

static void opening(void)
{
	mode_t mode = 0644;

	check_open(TALLY(opens, open("in.dat", O_RDONLY)));
	check_open(TALLY(opens, open64("in.dat", O_RDONLY)));
	check_open(TALLY(opens, openat(AT_FDCWD, "in.dat", O_RDONLY)));
	check_open(TALLY(opens, openat64(AT_FDCWD, "in.dat", O_RDONLY)));
	check_open(TALLY(opens, creat("made.dat", mode)));
	check_open(TALLY(opens, creat64("made64.dat", mode)));
	check_open(TALLY(opens, __open_2("in.dat", O_RDONLY)));
	check_open(TALLY(opens, __open64_2("in.dat", O_RDONLY)));
	check_open(TALLY(opens, __openat_2(AT_FDCWD, "in.dat", O_RDONLY)));
	check_open(TALLY(opens, __openat64_2(AT_FDCWD, "in.dat", O_RDONLY)));
	check_open(TALLY(opens, open("made.dat", O_CREAT | O_WRONLY, mode)));
	check_open(TALLY(opens, open64("made.dat", O_CREAT | O_WRONLY, mode)));
}

static void reading(int fd)
{
	struct tally_row *row = tally_row("file_read", "in.dat");
	unsigned char block[64];
	size_t n = sizeof(block);

	EXPECT(TALLY_BYTES(row, read(fd, block, 50)) == 50);
	EXPECT(TALLY_BYTES(row, __read_chk(fd, block, 50, n)) == 50);
	EXPECT(TALLY_BYTES(row, pread(fd, block, 51, 0)) == 51);
	EXPECT(TALLY_BYTES(row, pread64(fd, block, 51, 0)) == 51);
	EXPECT(TALLY_BYTES(row, __pread_chk(fd, block, 52, 0, n)) == 52);
	EXPECT(TALLY_BYTES(row, __pread64_chk(fd, block, 52, 0, n)) == 52);
}

static void writing(int fd)
{
	struct tally_row *row = tally_row("file_write", "out.dat");

	EXPECT(TALLY_BYTES(row, write(fd, "0123456789", 10)) == 10);
	EXPECT(TALLY_BYTES(row, pwrite(fd, "abcdef", 6, 3)) == 6);
	EXPECT(TALLY_BYTES(row, pwrite64(fd, "xyz", 3, 4)) == 3);
}

/* libc's own reads and writes below a stream are no calls of the program. */
static void streaming(void)
{
	struct tally_row *reads = tally_row("file_read", "in.dat");
	struct tally_row *writes = tally_row("file_write", "stream.dat");
	unsigned char block[512] = "";
	FILE *in = TALLY(opens, fopen("in.dat", "r")), *in64 = TALLY(opens, fopen64("in.dat", "r"));
	FILE *out = TALLY(opens, fopen("stream.dat", "w"));

	EXPECT(in && in64 && out);
	EXPECT(TALLY_BYTES(reads, fread(block, 1, 300, in)) == 300);
	EXPECT(TALLY_BYTES(reads, __fread_chk(block, sizeof(block), 1, 301, in64)) == 301);
	EXPECT(TALLY_BYTES(reads, fread_unlocked(block, 1, 302, in64)) == 302);
	EXPECT(TALLY_BYTES(writes, fwrite(block, 1, 303, out)) == 303);
	EXPECT(TALLY(closes, fclose(in)) == 0 && TALLY(closes, fclose(in64)) == 0);
	EXPECT(TALLY(closes, fclose(out)) == 0);
}

static void mapping(int fd)
{
	struct tally_row *maps = tally_row("mmap", "in.dat"), *unmaps = tally_row("munmap", "");
	const unsigned char *a, *b;

	tally_begin(maps);
	a = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, fd, 0);
	tally_end(maps, 8192);
	tally_begin(maps);
	b = mmap64(NULL, 4096, PROT_READ, MAP_SHARED, fd, 4096);
	tally_end(maps, 4096);
	EXPECT(a != MAP_FAILED && b != MAP_FAILED && a[5000] == b[5000 - 4096]);
	tally_begin(unmaps);
	EXPECT(munmap((void *)a, 8192) == 0);
	tally_end(unmaps, 8192);
	tally_begin(unmaps);
	EXPECT(munmap((void *)b, 4096) == 0);
	tally_end(unmaps, 4096);
}

int main(void)
{
	int in, out;

	tally_make_file("in.dat", 64 * 1024);
	opens = tally_row("file_open", "");
	closes = tally_row("file_close", "");
	for (int i = 0; i < 3; i++) {
		opening();
		in = TALLY(opens, open("in.dat", O_RDONLY));
		out = TALLY(opens, open("out.dat", O_WRONLY | O_CREAT, 0644));
		EXPECT(in >= 0 && out >= 0);
		reading(in);
		writing(out);
		mapping(in);
		check_open(in);
		check_open(out);
		streaming();
	}
	puts("done");
	return 0;
}
