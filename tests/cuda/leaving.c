/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaves launches by longjmp and by the end of the thread, then goes on: no state may stay that
 * hides or doubles the next calls. leaving ROUNDS
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include "fake_cuda.h"
#include "tests/programs/victims/tally.h"

static __thread jmp_buf back;
static __thread int how; /* 0: return, 1: longjmp, 2: end the thread */

static void on_launch(void)
{
	if (how == 1)
		longjmp(back, 1);
	if (how == 2)
		pthread_exit(NULL);
}

static int launch(void)
{
	static const struct fake_dim3 one = {1, 1, 1};

	return cudaLaunchKernel((const void *)launch, one, one, NULL, 0, NULL);
}

/* From deeper and from shallower stacks than the launch that was left. */
static __attribute__((noinline)) int deeper(struct tally_row *row, int depth)
{
	volatile char room[256];

	room[0] = (char)depth;
	if (depth > 0)
		return deeper(row, depth - 1) + room[0] - (char)depth;
	return TALLY(row, launch());
}

static void *work(void *rounds)
{
	struct tally_row *row = tally_row("cuda_launch", ""), *sync = tally_row("cuda_sync", "");

	for (long i = 0; i < (long)rounds; i++) {
		how = 1;
		tally_begin(row);
		if (!setjmp(back))
			launch();
		how = 0;
		EXPECT(deeper(row, (int)(i % 8)) == FAKE_OK);
		EXPECT(TALLY(sync, cudaStreamSynchronize(NULL)) == FAKE_OK);
	}
	how = 2;
	tally_begin(row);
	launch();
	EXPECT(!"reached");
	return NULL;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 100;
	pthread_t thread;

	cudaFakeOnLaunch(on_launch);
	for (int i = 0; i < 4; i++) {
		EXPECT(pthread_create(&thread, NULL, work, (void *)rounds) == 0);
		pthread_join(thread, NULL);
	}
	puts("done");
	return 0;
}
