/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the numbers that the system hands out, between work that makes a tracer grow its files. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

static int lowest(void)
{
	int fd = TALLY(tally_row("file_open", ""), open("in.dat", O_RDONLY));

	TALLY(tally_row("file_close", ""), close(fd));
	return fd;
}

static void *work(void *unused)
{
	struct tally_row *row = tally_row("file_read", "in.dat");
	int fd = TALLY(tally_row("file_open", ""), open("in.dat", O_RDONLY));
	char block[16];

	for (int i = 0; i < 30000; i++)
		EXPECT(TALLY_BYTES(row, pread(fd, block, 16, i % 4000)) == 16);
	TALLY(tally_row("file_close", ""), close(fd));
	return unused;
}

int main(void)
{
	pthread_t ids[4];

	tally_make_file("in.dat", 8192);
	printf("at start %d\n", lowest());
	work(NULL);
	printf("after work %d\n", lowest());
	for (int i = 0; i < 4; i++)
		EXPECT(pthread_create(&ids[i], NULL, work, NULL) == 0);
	for (int i = 0; i < 4; i++)
		pthread_join(ids[i], NULL);
	printf("after threads %d\n", lowest());
	fflush(stdout);
	if (fork() == 0) {
		work(NULL);
		printf("in a child %d\n", lowest());
		exit(0);
	}
	wait(NULL);
	printf("at the end %d\n", lowest());
	return 0;
}
