/*
 * NCCL: every collective, and the kernel that each of them launches through the driver. Two communicators:
 * one has every call, the other a send in the same group and two smaller sums.
 *	collectives ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>

#include "fake_cuda.h"
#include "tests/victims/tally.h"

enum { FLOAT16 = 6, FLOAT32 = 7, COUNT = 1000 };

/* One call, and the launch inside it. */
static void count(struct tally_row *nccl, struct tally_row *launch, int ret, int64_t bytes)
{
	EXPECT(ret == 0);
	tally_end(nccl, bytes);
	tally_begin(launch);
	tally_end(launch, 0);
}

/* As large as they are far apart. */
static char communicators[2][4096];

static void round_of(struct tally_row *nccl, struct tally_row *launch, void *comm, void *second)
{
	static char buffer[8 * COUNT];

	tally_begin(nccl);
	count(nccl, launch, ncclAllReduce(buffer, buffer, COUNT, FLOAT32, 0, comm, NULL), 4 * COUNT);
	tally_begin(nccl);
	count(nccl, launch, ncclBroadcast(buffer, buffer, COUNT, FLOAT16, 0, comm, NULL), 2 * COUNT);
	tally_begin(nccl);
	count(nccl, launch, ncclAllGather(buffer, buffer, COUNT, FLOAT32, comm, NULL), 4 * COUNT);
	tally_begin(nccl);
	count(nccl, launch, ncclReduceScatter(buffer, buffer, COUNT, FLOAT16, 0, comm, NULL), 2 * COUNT);
	EXPECT(ncclGroupStart() == 0);
	tally_begin(nccl);
	count(nccl, launch, ncclSend(buffer, COUNT, FLOAT32, 0, comm, NULL), 4 * COUNT);
	tally_begin(nccl);
	count(nccl, launch, ncclRecv(buffer, COUNT, FLOAT32, 0, comm, NULL), 4 * COUNT);
	tally_begin(nccl);
	count(nccl, launch, ncclSend(buffer, COUNT, FLOAT32, 0, second, NULL), 4 * COUNT);
	EXPECT(TALLY(nccl, ncclGroupEnd()) == 0);
	for (int i = 0; i < 2; i++) {
		tally_begin(nccl);
		count(nccl, launch, ncclAllReduce(buffer, buffer, COUNT / 2, FLOAT16, 0, second, NULL), COUNT);
	}
	EXPECT(TALLY(nccl, ncclSend(buffer, COUNT, FLOAT32, 0, NULL, NULL)) == 4);
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 10;
	struct tally_row *nccl = tally_row("nccl", ""), *launch = tally_row("cuda_launch", "");

	for (long i = 0; i < rounds; i++)
		round_of(nccl, launch, communicators[0], communicators[1]);
	puts("done");
	return 0;
}
