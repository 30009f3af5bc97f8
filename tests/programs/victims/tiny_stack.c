/* SPDX-License-Identifier: Apache-2.0 */
/* Threads on the smallest stack that the system allows, their red zone checked for an overflow. */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

enum { READS = 20000, RED_BYTES = 4096 };

static int in;

static void *thread(void *unused)
{
	struct tally_row *row = tally_row("file_read", "in.dat");
	char block[16];

	for (int i = 0; i < READS; i++)
		EXPECT(TALLY_BYTES(row, pread(in, block, 16, i % 4000)) == 16);
	return unused;
}

int main(void)
{
	size_t bytes = (size_t)PTHREAD_STACK_MIN, apart = bytes + RED_BYTES;
	unsigned char *stacks;
	pthread_attr_t attr;
	pthread_t ids[4];

	tally_make_file("in.dat", 8192);
	in = TALLY(tally_row("file_open", ""), open("in.dat", O_RDONLY));
	/* each stack lies above a page that must stay as it is */
	stacks = (void *)syscall(SYS_mmap, NULL, 4 * apart, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(stacks, 0xA5, 4 * apart);
	for (int i = 0; i < 4; i++) {
		unsigned char *stack = stacks + (size_t)i * apart + RED_BYTES;

		pthread_attr_init(&attr);
		EXPECT(pthread_attr_setstack(&attr, stack, bytes) == 0);
		EXPECT(pthread_create(&ids[i], &attr, thread, NULL) == 0);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(ids[i], NULL);
	for (int i = 0; i < 4; i++)
		for (int at = 0; at < RED_BYTES; at++)
			EXPECT(stacks[(size_t)i * apart + (size_t)at] == 0xA5);
	puts("done");
	return 0;
}
