/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal_reader READS [BYTES]: a handler reads every 200 µs while main reads, on an alternate
 * stack of BYTES more than the kernel itself needs. The bytes below the stack must stay as they
 * are. With READS 0 only the handler reads, so that the recorder does all its work there.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/programs/victims/old_libc.h"
#include "tests/programs/victims/tally.h"

enum { RED_BYTES = 4096, ALONE = 1500 };

static int in, in_handler;
static struct tally_row *handled;

static void handler(int signal)
{
	char block[16];

	(void)signal;
	TALLY_BYTES(handled, pread(in_handler, block, sizeof(block), 0));
}

int main(int argc, char **argv)
{
	long reads = argc > 1 ? atol(argv[1]) : 100000;
	struct itimerval every = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_ONSTACK};
	size_t more = argc > 2 ? strtoul(argv[2], NULL, 10) : 16384;
	size_t bytes = least_signal_stack() + more;
	unsigned char *red = malloc(RED_BYTES + bytes);
	stack_t alternate = {.ss_sp = red + RED_BYTES, .ss_size = bytes};
	struct tally_row *row, *opens = tally_row("file_open", "");
	unsigned long sum = 0;
	char block[16];

	EXPECT(red);
	memset(red, 0xA5, RED_BYTES);
	tally_make_file("in.dat", 4096);
	tally_make_file("handler.dat", 4096);
	in = TALLY(opens, open("in.dat", O_RDONLY));
	in_handler = TALLY(opens, open("handler.dat", O_RDONLY));
	handled = tally_row("file_read", "handler.dat");
	row = tally_row("file_read", "in.dat");
	EXPECT(sigaltstack(&alternate, NULL) == 0 && sigaction(SIGALRM, &action, NULL) == 0);
	EXPECT(setitimer(ITIMER_REAL, &every, NULL) == 0);
	for (long i = 0; i < reads; i++) {
		EXPECT(TALLY_BYTES(row, pread(in, block, 16, i % 4000)) == 16);
		sum += (unsigned char)block[0];
	}
	while (!reads && __atomic_load_n(&handled->calls, __ATOMIC_RELAXED) < ALONE)
		syscall(SYS_sched_yield);
	EXPECT(setitimer(ITIMER_REAL, &never, NULL) == 0);
	EXPECT(handled->calls > 0);
	for (int i = 0; i < RED_BYTES; i++)
		EXPECT(red[i] == 0xA5);
	printf("sum %lu\n", sum);
	return 0;
}
