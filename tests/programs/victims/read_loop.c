/* SPDX-License-Identifier: Apache-2.0 */
/* read_loop THREADS CALLS [until-stopped]: reads, preads, writes and pwrites of regular files. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

enum { FILE_BYTES = 64 * 1024, BLOCK_BYTES = 512 };

static long calls;
static int until_stopped;

static unsigned long sum(const unsigned char *block, ssize_t n)
{
	unsigned long total = 0;

	for (ssize_t i = 0; i < n; i++)
		total += block[i];
	return total;
}

/* A round is a read, a pread and, every eighth time, a write or pwrite. */
static unsigned long work(int in, int out, struct tally_row *reads, struct tally_row *writes)
{
	unsigned char block[BLOCK_BYTES];
	unsigned long total = 0;

	for (long i = 0; i < calls || until_stopped; i += 2) {
		ssize_t n = TALLY_BYTES(reads, read(in, block, 1 + (size_t)i % sizeof(block)));

		EXPECT(n >= 0);
		if (n == 0)
			lseek(in, 0, SEEK_SET);
		total += sum(block, n);
		n = TALLY_BYTES(reads, pread(in, block, 100, i * 7 % FILE_BYTES));
		EXPECT(n > 0);
		total += sum(block, n);
		if (i % 16 == 0)
			EXPECT(TALLY_BYTES(writes, write(out, block, 17)) == 17);
		else if (i % 16 == 8)
			EXPECT(TALLY_BYTES(writes, pwrite(out, block, 33, i % FILE_BYTES)) == 33);
	}
	return total;
}

static void *thread(void *number)
{
	struct tally_row *opens = tally_row("file_open", ""), *closes = tally_row("file_close", "");
	struct tally_row *reads = tally_row("file_read", "in.dat");
	char name[32];
	int in, out;
	unsigned long total;

	snprintf(name, sizeof(name), "out-%d.dat", (int)(intptr_t)number);
	in = TALLY(opens, open("in.dat", O_RDONLY));
	out = TALLY(opens, open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644));
	EXPECT(in >= 0 && out >= 0);
	total = work(in, out, reads, tally_row("file_write", name));
	EXPECT(TALLY(closes, close(in)) == 0 && TALLY(closes, close(out)) == 0);
	return (void *)total;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t ids[64];
	unsigned long total = 0;

	calls = argc > 2 ? atol(argv[2]) : 1000;
	until_stopped = argc > 3;
	EXPECT(threads >= 1 && threads <= 64);
	tally_make_file("in.dat", FILE_BYTES);
	for (int i = 1; i < threads; i++)
		EXPECT(pthread_create(&ids[i], NULL, thread, (void *)(intptr_t)i) == 0);
	total = (unsigned long)thread(NULL);
	for (int i = 1; i < threads; i++) {
		void *part;

		EXPECT(pthread_join(ids[i], &part) == 0);
		total += (unsigned long)part;
	}
	printf("sum %lu\n", total);
	return 0;
}
