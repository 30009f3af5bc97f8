/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cold_reads FILE: makes a file, has the page cache let go of it, reads every page twice in a
 * stride, and prints how many reads found their page absent, as mincore(2) reported before each,
 * how many found it present, how many took SLOW_NS, and how many of the absent ones took SURE_NS.
 * Exit 77 where the file system keeps its pages in spite of the advice.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096u
#define PAGES 512u
#define SLOW_NS 21500 /* for the reader, where a read of a page is slow in the report */
#define SURE_NS 43000

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void require(int holds, const char *what)
{
	if (!holds) {
		perror(what);
		exit(2);
	}
}

static int file_make(const char *path)
{
	static uint8_t page[PAGE];
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	require(fd >= 0, path);
	for (unsigned i = 0; i < PAGES; i++) {
		memset(page, (int)i, PAGE);
		require(write(fd, page, PAGE) == PAGE, "write");
	}
	require(fsync(fd) == 0, "fsync");
	require(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0, "posix_fadvise");
	require(posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM) == 0, "posix_fadvise");
	return fd;
}

int main(int argc, char **argv)
{
	static uint8_t page[PAGE];
	unsigned absent = 0, present = 0, slow = 0, sure = 0;
	uint8_t *map;
	int fd;

	require(argc == 2, "cold_reads FILE");
	fd = file_make(argv[1]);
	map = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	require(map != MAP_FAILED, "mmap");
	for (unsigned i = 0; i < 2 * PAGES; i++) {
		unsigned at = i * 37 % PAGES;
		uint8_t resident;
		int64_t begin_ns, took_ns;

		require(mincore(map + at * PAGE, PAGE, &resident) == 0, "mincore");
		*(resident & 1 ? &present : &absent) += 1;
		begin_ns = now_ns();
		require(pread(fd, page, PAGE, (off_t)at * PAGE) == PAGE, "pread");
		took_ns = now_ns() - begin_ns;
		slow += took_ns >= SLOW_NS;
		sure += !(resident & 1) && took_ns >= SURE_NS;
	}
	printf("%u %u %u %u\n", absent, present, slow, sure);
	return absent < PAGES / 2 ? 77 : 0;
}
