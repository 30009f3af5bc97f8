/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preempted TICKS: a timer's handler switches among 16 coroutines by swapcontext, as green threads
 * do that are preempted. Each has a small stack beside a page that nobody may touch. After TICKS
 * each coroutine ends the call that it is in, so that every call that began has ended.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/programs/victims/tally.h"

enum { COROUTINES = 16, STACK_BYTES = 64 * 1024, GUARD_BYTES = 4096 };

static ucontext_t home, contexts[COROUTINES];
static struct tally_row *rows[COROUTINES];
static int in, current;
static volatile long ticks;
static int ended[COROUTINES];
static sigset_t alarm_set;

static void handler(int signal)
{
	int from = current;

	(void)signal;
	if (--ticks <= 0)
		return;
	current = (current + 1) % COROUTINES;
	swapcontext(&contexts[from], &contexts[current]);
}

static void coroutine(void)
{
	int self = current;
	char block[16];

	EXPECT(sigprocmask(SIG_UNBLOCK, &alarm_set, NULL) == 0);
	for (long i = 0; ticks > 0; i++)
		EXPECT(TALLY_BYTES(rows[self], pread(in, block, sizeof(block), i % 4000)) == 16);
	ended[self] = 1;
	for (current = 0; current < COROUTINES; current++)
		if (!ended[current])
			setcontext(&contexts[current]);
	setcontext(&home);
}

int main(int argc, char **argv)
{
	struct itimerval every = {{0, 150}, {0, 150}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	struct tally_row *opens = tally_row("file_open", "");

	ticks = argc > 1 ? atol(argv[1]) : 10000;
	tally_make_file("in.dat", 4096);
	in = TALLY(opens, open("in.dat", O_RDONLY));
	/* in the contexts too: no signal comes before a coroutine has its own stack */
	sigemptyset(&alarm_set);
	sigaddset(&alarm_set, SIGALRM);
	EXPECT(sigprocmask(SIG_BLOCK, &alarm_set, NULL) == 0);
	for (int i = 0; i < COROUTINES; i++) {
		char *stack = mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		EXPECT(stack != MAP_FAILED && mprotect(stack, GUARD_BYTES, PROT_NONE) == 0);
		rows[i] = tally_row("file_read", "in.dat");
		EXPECT(getcontext(&contexts[i]) == 0);
		contexts[i].uc_stack.ss_sp = stack + GUARD_BYTES;
		contexts[i].uc_stack.ss_size = STACK_BYTES;
		makecontext(&contexts[i], coroutine, 0);
	}
	EXPECT(sigaction(SIGALRM, &action, NULL) == 0);
	EXPECT(setitimer(ITIMER_REAL, &every, NULL) == 0);
	swapcontext(&home, &contexts[0]);
	EXPECT(setitimer(ITIMER_REAL, &never, NULL) == 0);
	printf("done\n");
	return 0;
}
