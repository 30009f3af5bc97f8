/* SPDX-License-Identifier: Apache-2.0 */
/* async_cancel THREADS: each reads with asynchronous cancellation on, and is cancelled at some
 * instant: in a call, in the recorder, between them. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

static int in, cleaned;

static void clean(void *unused)
{
	(void)unused;
	__atomic_add_fetch(&cleaned, 1, __ATOMIC_SEQ_CST);
}

static void *read_for_ever(void *arg)
{
	struct tally_row *reads = arg;
	char block[100];

	pthread_cleanup_push(clean, NULL);
	EXPECT(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL) == 0);
	for (off_t i = 0;; i = (i + 1) % 4000)
		TALLY_BYTES(reads, pread(in, block, sizeof(block), i));
	pthread_cleanup_pop(0);
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 100;
	struct tally_row *opens = tally_row("file_open", "");

	tally_make_file("in.dat", 8192);
	in = TALLY(opens, open("in.dat", O_RDONLY));
	for (int i = 0; i < threads; i++) {
		/* the row is taken here: its lock is not for threads
		 * that can be cut off anywhere */
		struct tally_row *reads = tally_row("file_read", "in.dat");
		struct timespec pause = {0, (i * 7919L % 1000) * 3000};
		void *result = NULL;
		pthread_t id;

		EXPECT(pthread_create(&id, NULL, read_for_ever, reads) == 0);
		nanosleep(&pause, NULL);
		EXPECT(pthread_cancel(id) == 0 && pthread_join(id, &result) == 0);
		EXPECT(result == PTHREAD_CANCELED);
	}
	printf("cleaned %d\n", cleaned);
	return 0;
}
