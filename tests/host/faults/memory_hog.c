/* SPDX-License-Identifier: Apache-2.0 */
/* memory_hog THREADS: threads that read, and memory that is touched until the kernel ends the
 * process. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

enum { FILE_BYTES = 64 * 1024, TOUCHED_BYTES = 256 * 1024 };

static void *read_for_ever(void *unused)
{
	struct tally_row *reads = tally_row("file_read", "in.dat");
	int in = TALLY(tally_row("file_open", ""), open("in.dat", O_RDONLY));
	unsigned char block[512];

	(void)unused;
	EXPECT(in >= 0);
	for (off_t i = 0;; i++)
		EXPECT(TALLY_BYTES(reads, pread(in, block, 100, i * 7 % FILE_BYTES)) > 0);
	return NULL;
}

int main(int argc, char **argv)
{
	int in, threads = argc > 1 ? atoi(argv[1]) : 1;
	struct tally_row *reads;
	pthread_t id;

	tally_make_file("in.dat", FILE_BYTES);
	for (int i = 0; i < threads; i++)
		EXPECT(pthread_create(&id, NULL, read_for_ever, NULL) == 0);
	reads = tally_row("file_read", "in.dat");
	in = TALLY(tally_row("file_open", ""), open("in.dat", O_RDONLY));
	for (;;) {
		char *memory = malloc(TOUCHED_BYTES);

		if (!memory)
			return 1;
		EXPECT(TALLY_BYTES(reads, pread(in, memory, 4096, 0)) == 4096);
		memset(memory, 1, TOUCHED_BYTES);
	}
}
