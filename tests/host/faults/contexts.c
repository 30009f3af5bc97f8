/* SPDX-License-Identifier: Apache-2.0 */
/* Coroutines: a call is begun on one stack while others are under way on theirs, and a timer's
 * handler reads on whatever stack there is. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

enum { CONTEXTS = 16, ROUNDS = 20000, STACK_BYTES = 24 * 1024 };

static ucontext_t back, contexts[CONTEXTS];
static struct tally_row *row, *handled;
static int in, in_handler, ended;

static void handler(int signal)
{
	char block[16];

	(void)signal;
	TALLY_BYTES(handled, pread(in_handler, block, sizeof(block), 0));
}

static void work(int number)
{
	char block[64];

	for (int i = 0; i < ROUNDS; i++) {
		EXPECT(TALLY_BYTES(row, pread(in, block, sizeof(block), number)) == 64);
		if (i % 3 == number % 3)
			swapcontext(&contexts[number], &back);
	}
	ended++;
	for (;;)
		swapcontext(&contexts[number], &back);
}

int main(void)
{
	struct itimerval every = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

	tally_make_file("in.dat", 4096);
	tally_make_file("handler.dat", 4096);
	row = tally_row("file_open", "");
	in = TALLY(row, open("in.dat", O_RDONLY));
	in_handler = TALLY(row, open("handler.dat", O_RDONLY));
	row = tally_row("file_read", "in.dat");
	handled = tally_row("file_read", "handler.dat");
	for (int i = 0; i < CONTEXTS; i++) {
		EXPECT(getcontext(&contexts[i]) == 0);
		contexts[i].uc_stack.ss_sp = malloc(STACK_BYTES);
		contexts[i].uc_stack.ss_size = STACK_BYTES;
		makecontext(&contexts[i], (void (*)(void))work, 1, i);
	}
	EXPECT(sigaction(SIGALRM, &action, NULL) == 0);
	EXPECT(setitimer(ITIMER_REAL, &every, NULL) == 0);
	for (int i = 0; ended < CONTEXTS; i++)
		swapcontext(&back, &contexts[i % CONTEXTS]);
	EXPECT(setitimer(ITIMER_REAL, &never, NULL) == 0);
	puts("done");
	return 0;
}
